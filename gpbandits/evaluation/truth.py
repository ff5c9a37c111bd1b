"""Simple regret and the arms that can be reached safely follow from the truth of a trial.

Simple regret is that of the best feasible, delivered play of the round's context and segment.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from agents.model.rounds import Clock, in_time
from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.kernels.definite import BLOCK_BYTES
from bandit_envs.kernels.validity import steepest
from bandit_envs.problem.problem import Problem
from bandit_envs.problem.setting import Setting
from bandit_envs.problem.trial import Trial

CAUTION = 1.1  # factor of the steepest slope between two points in the definition of reachable arms


class BestPlay:
    """The best play has the least regret of the plays that count in B trials, see `Curves.simple_regret`."""

    def __init__(self) -> None:
        # Of each remembered play: trial, context, segment, and the round from which it counts, where rounds
        # of the next block count from 1, and 0 is before.
        self._where, self._regret = np.empty((4, 0), dtype=np.int64), np.empty(0)

    def follow(self, regret: Floats, delay: Ints, feasible: Bools, context: Ints, segment: Ints) -> Floats:
        """Return the curve of the next rounds, (B, n); infinite where no play counts.

        Args:
            regret, context, segment: of each round's play, (B, n).
            delay: delay of its feedback, -1 for never, (B, n).
            feasible: True if it violates no cost, (B, n).
        """
        trial, now = np.indices(regret.shape)
        asked = np.array([trial, context, segment, now + 1]).reshape(4, -1)
        counted = (feasible & (delay >= 0)).ravel()
        played = asked[:, counted]
        played[3] += delay.ravel()[counted]
        where = np.concatenate([self._where, played], axis=1)
        values = np.concatenate([self._regret, regret.ravel()[counted]])
        least, ends, missed = _least_so_far(asked, where, values)
        self._where = np.concatenate([asked[:, ends], where[:, missed]], axis=1)
        self._where[3] = np.maximum(self._where[3] - regret.shape[1], 0)
        self._regret = np.concatenate([least[ends], values[missed]])
        return least.reshape(regret.shape)

    def stop(self) -> None:
        """Drop pending plays, whose feedback will not be delivered."""
        known = self._where[3] == 0
        self._where, self._regret = self._where[:, known], self._regret[known]


def _least_so_far(asked: Ints, where: Ints, values: Floats) -> tuple[Floats, Ints, Bools]:
    """Return the least value known in each round, (n,), the last rounds of places, and unused values, (m,).

    Rounds, (4, n), and values, (m,), are of a trial, context, segment and time, (4, m). A place is one trial,
    context and segment. A value is unused if none of the rounds is of its place and not before its time.
    """
    shape = tuple(np.maximum(asked.max(axis=1), where.max(axis=1, initial=0)) + 1)
    key = np.asarray(np.ravel_multi_index(tuple(asked), shape))
    order = key.argsort()
    key = key[order]
    mine = np.asarray(np.ravel_multi_index(tuple(where), shape))
    first = np.searchsorted(key, mine)  # round of its place that knows each value
    place = key // shape[3]
    used = np.append(place, -1)[first] == mine // shape[3]
    least = np.full(len(key), np.inf)
    np.minimum.at(least, first[used], values[used])
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    ends = np.append(starts[1:], len(key))
    longer = ends > starts + 1
    for start, end in zip(starts[longer].tolist(), ends[longer].tolist(), strict=True):
        np.minimum.accumulate(least[start:end], out=least[start:end])
    found = np.empty_like(least)
    found[order] = least
    return found, order[ends - 1], ~used


def learnable(delay: Ints, window: float | None, setting: Setting, start: int = 0) -> Ints:
    """Return the delays of plays in rounds from `start` on, (B, T), -1 where they exceed an agent's window.

    Such an agent learns only from plays *converted within the window* (Verma et al. 2022), in the unit of the
    setting; None uses all.
    """
    if window is None:
        return delay
    played = start + np.arange(delay.shape[1])
    taken = Clock(setting.query_times).delay(played, played + delay)
    return np.where(in_time(taken, window), delay, -1)


def reach_of(problem: Problem, trials: Sequence[Trial | None]) -> Bools | None:
    """Return Rbar_0(S0) of each trial, (B, A); None without a seed, on a box, in contexts or with changes."""
    if not problem.safe_seed or problem.setting().may_change:
        return None
    if problem.decisions.num_contexts > 1:
        return None
    return np.array([_reach(problem, trial) for trial in trials if trial is not None])


def _reach(problem: Problem, trial: Trial) -> Bools:
    costs, points = np.asarray(trial.means)[:, 1:], problem.decisions.points
    seed = np.zeros(costs.shape[2], dtype=bool)
    seed[trial.setting.safe_seed] = True
    slopes = CAUTION * np.array([steepest(cost, points) for cost in np.swapaxes(costs, 0, 1)])
    return reachable(costs[0], seed, points, slopes)


class Covering:
    """A covering counts the reachable arms, (B, A), that B trials have certified or played."""

    def __init__(self, reach: Bools):
        self._reach, self._known = reach, np.zeros_like(reach)

    def play(self, action: Any) -> None:
        """Mark the arms of n rounds as played, (B, n)."""
        self._known[np.arange(len(action))[:, None], np.asarray(action, dtype=np.int64)] = True

    def certify(self, certified: Any) -> None:
        """Mark the arms that the agent certifies as safe in the end, (B, A) or (A,) of one trial, or None."""
        if certified is not None:
            given = np.asarray(certified)
            fits = given.dtype == bool and given.size == self._reach.size
            shape = self._reach.shape
            require(fits, "certified of an agent", f"None or booleans of shape {shape}", certified)
            self._known |= given.reshape(shape)

    @property
    def share(self) -> Floats:
        """Return |known and reachable| / |reachable|, (B,); the seed is always reachable."""
        return (self._known & self._reach).sum(axis=1) / self._reach.sum(axis=1)


def reachable(costs: Floats, seed: Bools, points: Floats, lipschitz: Floats) -> Bools:
    """Return Rbar_0(S0), the points certified from a safe seed by exact costs, (N,).

    R_0(S) = S and all x' such that for every j some x in S has g_j(x) + L_j |x - x'| <= 0, iterated to its
    fixed point (Sui et al. 2015, in our sign). O(C N^2).

    Args:
        costs: g at all points, (C, N).
        seed: S0, (N,).
        points: features, (N, d).
        lipschitz: L of each cost, (C,).
    """
    slopes, reached, certified = np.asarray(lipschitz)[:, None, None], seed.copy(), np.zeros_like(costs, bool)
    fresh, rows = seed.nonzero()[0], max(1, BLOCK_BYTES // (8 * costs.size))
    while len(fresh):  # each point certifies others once
        for begin in range(0, len(fresh), rows):
            here = fresh[begin : begin + rows]
            distance = cdist(points[here], points)
            certified |= (costs[:, here, None] + slopes * distance <= 0.0).any(axis=1)
        more: Bools = np.asarray(reached | certified.all(axis=0))
        fresh, reached = (more & ~reached).nonzero()[0], more
    return reached
