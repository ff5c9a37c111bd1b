"""Draw the functions of a trial from their laws, and cache those that several trials share."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.basics.types import Ints
from bandit_envs.laws.changes import change_points_of
from bandit_envs.laws.drawn import Drawn
from bandit_envs.problem.composition import Composition
from bandit_envs.problem.drifting import Course
from bandit_envs.problem.safety import MARGIN, SAFEST, TRIES, safe_arms, safest_arm
from bandit_envs.problem.truth import Extremes, Truth, of_box

OF_COSTS, OF_SAFE_SEED = 10**6, 10**6 + 1  # spawn keys of the functions' seed, used for nothing else
MOST_FOUND = 1024  # trials on a box whose extremes are cached


class DrawnFunctions:
    """Cache the functions that a problem has drawn."""

    def __init__(self) -> None:
        self._kept: dict[Any, Truth] = {}  # the last reusable functions, with their extremes
        self._found: dict[Any, Extremes] = {}  # on a box, by seed: every agent meets the same trials

    def truth(
        self, problem: Composition, segment: Ints, seed: np.random.SeedSequence, frozen: int | None
    ) -> Truth:
        """Return the functions and their extremes; fixed or frozen ones are computed once for all resets.

        Args:
            problem: always the same.
            segment: of each round, (T,), or the first one with the same functions where they recur.
            seed: of the functions.
            frozen: the integer behind the seed if it is not the trial's own, else None.
        """
        fixed = not problem.drifts and all(law.is_fixed for law in (problem.reward, *problem.constraints))
        key = (
            tuple(change_points_of(segment)) if problem.drifts else segment.max(),
            None if fixed else frozen,
        )
        if key not in self._kept:
            self._kept.clear()
            truth = self._drawn(problem, segment, seed)
            if not fixed and frozen is None:
                return truth
            self._kept[key] = truth
        return self._kept[key]

    def _drawn(self, problem: Composition, segment: Ints, seed: np.random.SeedSequence) -> Truth:
        if problem.drifts:
            return _course(problem, segment, seed).truth()
        drawn = _by_segment(problem, int(segment.max()) + 1, seed)
        extremes = self._on_box(problem, drawn, seed) if problem.decisions.continuous else None
        return Truth.of(drawn, problem.decisions, extremes)

    def _on_box(
        self, problem: Composition, drawn: list[list[Drawn]], seed: np.random.SeedSequence
    ) -> Extremes:
        """Return the extremes of functions on a box, computed once, because the search is slow."""
        key = (seed.entropy, seed.spawn_key, len(drawn))
        if key not in self._found:
            if len(self._found) == MOST_FOUND:
                self._found.pop(next(iter(self._found)))  # the oldest
            self._found[key] = of_box(drawn, problem.decisions)
        return self._found[key]


def play_costs(problem: Composition, seed: np.random.SeedSequence) -> Drawn:
    """Draw the costs of plays in a trial, from a stream beside that of the functions."""
    return problem.play_costs.draw(problem.gram, _beside(seed, OF_COSTS))


def safe_seed(problem: Composition, truth: Truth, seed: np.random.SeedSequence) -> int | None:
    """Draw the safe seed of a trial among all arms that are safe by the margin; None where none is published.

    It is frozen with the functions. Only `safe_seed="safest"` chooses the arm by its slack.
    """
    if not problem.safe_seed:
        return None
    costs = truth.means[:, 1:]
    if problem.safe_seed == SAFEST:
        return safest_arm(costs, problem.decisions, problem.constraint_prior_std)
    safe = safe_arms(costs, problem.decisions, problem.constraint_prior_std)
    return int(_beside(seed, OF_SAFE_SEED).choice(safe))


def _beside(seed: np.random.SeedSequence, key: int) -> np.random.Generator:
    """Return a separate stream derived from the functions' seed."""
    return np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, key)))


def _course(problem: Composition, segment: Ints, seed: np.random.SeedSequence) -> Course:
    of_costs = problem.drift.of_costs
    laws = [(problem.reward, problem.drift), *((law, of_costs) for law in problem.constraints)]
    anew = np.diff(segment, prepend=-1) > 0
    return Course(laws, problem.feasibility, problem.gram, problem.decisions, anew, seed)


def _by_segment(problem: Composition, segments: int, seed: np.random.SeedSequence) -> list[list[Drawn]]:
    """Draw the reward and the costs of each segment, every law from its own stream."""
    of_costs = list(map(np.random.default_rng, seed.spawn(len(problem.constraints))))
    of_reward = np.random.default_rng(seed)
    rewards = [problem.reward.draw(problem.gram, of_reward) for _ in range(segments)]
    draw = _safe_costs if problem.safe_seed else _all_costs
    return [
        [reward, *costs] for reward, costs in zip(rewards, draw(problem, segments, of_costs), strict=True)
    ]


def _all_costs(problem: Composition, segments: int, rngs: list[np.random.Generator]) -> list[list[Drawn]]:
    return [_costs(problem, rngs) for _ in range(segments)]


def _safe_costs(problem: Composition, segments: int, rngs: list[np.random.Generator]) -> list[list[Drawn]]:
    """Draw the costs of all segments until some arm satisfies them everywhere."""
    stds = problem.constraint_prior_std
    tries = 1 if all(law.is_fixed for law in problem.constraints) else TRIES
    for _ in range(tries):
        drawn = _all_costs(problem, segments, rngs)
        costs = np.array([[cost.values for cost in row] for row in drawn])
        if len(safe_arms(costs, problem.decisions, stds)):
            return drawn
    raise ArgumentError(
        "safe_seed",
        f"must be False here: in {tries} draws of the costs no arm had costs of at most {-MARGIN} prior stds "
        "in all contexts and segments, got True; raise the feasible share, or lower the number of segments",
    )


def _costs(problem: Composition, rngs: list[np.random.Generator]) -> list[Drawn]:
    """Draw the costs of one segment."""
    drawn = [law.draw(problem.gram, rng) for law, rng in zip(problem.constraints, rngs, strict=True)]
    return problem.feasibility.shift(drawn, problem.decisions.num_contexts)
