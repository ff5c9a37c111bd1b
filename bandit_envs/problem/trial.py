"""A trial is one draw of everything random; here too: which arms may be played in each round."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.laws.drawn import Drawn
from bandit_envs.problem.composition import Composition
from bandit_envs.problem.drawn_functions import Playback
from bandit_envs.problem.setting import Setting
from bandit_envs.problem.truth import Truth, best_rates

ENTRIES = 2**17  # (round, arm) pairs drawn at once: 1 MB of uniforms
Bits = np.ndarray  # uint8: eight arms a byte


class Roster(NamedTuple):
    """Hold the available arms of T + 1 rounds, the last of which is not played."""

    bits: Bits  # (T + 1, ceil(A / 8)), see `mask_of`
    optimum: Floats  # (T,) largest mean reward of an available feasible arm
    worst: Floats  # (T,) smallest mean reward of an available arm
    rate: Floats  # (T,) largest mean reward a unit of cost of an available feasible arm, at least 0


def roster_of(
    problem: Composition,
    truth: Truth,
    costs: Drawn,
    kept: int | None,
    version: Ints,
    context: Ints,
    rng: np.random.Generator,
) -> Roster:
    """Return the available arms in each round of a trial, and the optima over them.

    A feasible one is available in each round, and all in the first, so that an earlier choice holds. The safe
    seed is `kept` available, if there is one; versions are of each round, (T,), contexts (T + 1,).
    """
    priced = not problem.play_costs.is_free
    truth = truth._replace(means=Playback(truth.means)) if problem.drifts else truth
    if not problem.volatile:
        at, every_arm = (version, context[:-1]), np.empty((len(context), 0), np.uint8)
        rate = best_rates(truth, costs, problem.decisions)[at] if priced else np.zeros(problem.horizon)
        return Roster(every_arm, truth.optimum[at], truth.worst[at], rate)
    versions = np.append(version, version[-1]).tolist()
    arms = problem.decisions.num_arms
    size = max(1, ENTRIES // arms)
    parts = []
    for start in range(0, len(context), size):
        rounds = slice(start, start + size)
        pairs = zip(versions[rounds], (context[rounds] * arms).tolist(), strict=True)
        values = np.stack([truth.means[v][:, first : first + arms] for v, first in pairs])  # (n, 1 + C, A)
        paid = costs.values.reshape(-1, arms)[context[rounds]] if priced else None
        wanted = _feasible(values)
        if kept is not None:
            wanted[:] = np.arange(arms) == kept
        available = problem.availability.draw(wanted, rng)
        if start == 0:
            available[0] = True
        parts.append(_best(available, values, paid))
    bits, optimum, worst, rate = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Roster(bits, optimum[:-1], worst[:-1], rate[:-1])


def mask_of(bits: Bits, num_arms: int) -> np.ndarray:
    """Return arms as Gymnasium's action mask, (..., bytes) -> int8 (..., A), 1 for available."""
    return np.unpackbits(bits, axis=-1, count=num_arms).view(np.int8)


def is_in(byte: Any, arm: Any) -> Any:
    """Return whether arms are available, from their bytes, (...) each; byte arm // 8 holds an arm."""
    return (byte >> (7 - (arm & 7))) & 1 == 1


def _feasible(values: Floats) -> Bools:
    return np.asarray((values[:, 1:] <= 0).all(axis=1))


def _best(available: Bools, values: Floats, price: Floats | None) -> Roster:
    """Return available arms, (n, A), and the optima over them, given (n, 1 + C, A) and prices, (n, A)."""
    reward, wanted = values[:, 0], np.asarray(available & _feasible(values))
    # Several times as fast as the `where` argument of max and min.
    best = np.where(wanted, reward, -np.inf).max(axis=1)
    worst = np.where(available, reward, np.inf).min(axis=1)
    rate = np.zeros(len(best)) if price is None else np.where(wanted, reward / price, 0.0).max(axis=1)
    return Roster(np.packbits(available, axis=-1), best, worst, np.maximum(rate, 0.0))


@dataclass(frozen=True, eq=False)
class Trial:
    """Hold everything random about one run, drawn before it starts; playing only looks it up."""

    means: Any  # (V, 1 + C, N) reward, then costs (feasible when <= 0), of each version, by its index
    between: list[list[Callable[[Floats], Floats]]]  # the same functions on a box; empty on a finite set
    optimum: Floats  # (T,) largest mean reward of an available feasible arm in the round
    worst: Floats  # (T,) smallest mean reward of an available arm
    ceiling: Floats  # (T,) largest mean reward of a feasible arm, whether or not it is available
    segment: Ints  # (T,) number of changes so far
    version: Ints  # (T,) index of the functions: of the segment or, with drift, of the round
    context: Ints  # (T + 1,)
    noise: Floats  # (T, 1 + C)
    attack: Floats  # (T,) intended change of each reward, within the budget and if the play is attacked
    bits: Bits  # (T + 1, ...) arms that may be played, see `mask_of`; (T + 1, 0) for all
    wait: Floats  # (T,) for feedback, infinite if never delivered, before the arm's slowdown
    play_costs: Drawn  # of each point, the same in all rounds
    cost_noise: Floats  # (T,) standard normals
    rate: Floats  # (T,) largest mean reward a unit of cost of the same, 0 if that is negative
    publish: Callable[[], Setting]

    @cached_property
    def setting(self) -> Setting:
        """Return what is published; it is made when it is asked for, since it takes as long as a draw."""
        return self.publish()
