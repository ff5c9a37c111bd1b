"""The functions of a trial: drawn from their laws, and drawn block by block where they drift."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws.changes import change_points_of
from bandit_envs.laws.derived import Feasibility
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.drift import Drift
from bandit_envs.laws.functions import FunctionLaw, are_same
from bandit_envs.laws.outcomes import OfOutcome
from bandit_envs.problem.composition import Composition
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.truth import MARGIN, SAFEST, Extremes, Truth, check_feasible, largest_costs, of_box

BLOCK = 32  # rounds drawn at once: one matrix product, 0.25 MB for a function on 1000 points
TRIES = 1000  # draws of the costs until an arm is safe in all segments and contexts
UNUSED = cast(np.random.Generator, None)  # in the place of a generator from which nothing is drawn
OF_COSTS, OF_SAFE_SEED = 10**6, 10**6 + 1  # spawn keys of the functions' seed, used for nothing else
MOST_FOUND = 1024  # trials on a box whose extremes are cached


@dataclass(frozen=True, eq=False)
class Course:
    """Define the functions of each round of a trial, fixed by their seed and independent of the plays.

    Args:
        laws: of the reward and of each cost, each with its drift.
        feasibility: shifts the costs of a round.
        anew: the rounds that begin a segment, (T,).
        seed: law j draws block i from its own stream, with spawn key (j, i).
    """

    laws: Sequence[tuple[FunctionLaw, Drift]]
    feasibility: Feasibility
    gram: Gram
    decisions: Decisions
    anew: Bools
    seed: np.random.SeedSequence

    def blocks(self) -> Iterator[Floats]:
        """Yield mean rewards and costs of the rounds in order, (n, 1 + C, N) with n <= BLOCK."""
        last = np.zeros((len(self.laws), self.gram.size))
        for i, first in enumerate(range(0, len(self.anew), BLOCK)):
            drawn, anew = [], self.anew[first : first + BLOCK]
            for j, (law, drift) in enumerate(self.laws):
                rng = _beside(self.seed, j, i)
                drawn.append(drift.follow(law, self.gram, rng, last[j], first, anew))
            values = np.stack(drawn, axis=1)
            last = values[-1]
            yield self._shifted(values)

    def _shifted(self, values: Floats) -> Floats:
        """Return the rounds with their costs shifted; a copy, for the drift continues the unshifted ones."""
        shifted = values.copy()
        for row in shifted:
            costs = self.feasibility.shift([Drawn(cost) for cost in row[1:]], self.decisions.num_contexts)
            for j, cost in enumerate(costs):
                row[1 + j] = cost.values
        return shifted

    def truth(self) -> Truth:
        """Return the optima of each round, found in one pass; playing draws the functions again."""
        # Without the blocks, whose tables need not be kept.
        of_blocks = [Truth.of_table(block, self.decisions).extremes for block in self.blocks()]
        best, worst, low, high = map(np.concatenate, zip(*of_blocks, strict=True))
        found = Truth(self, best, worst, low, high)
        check_feasible(found.optimum, "round")
        return found


class Playback:
    """Look up the functions of a course by round; going back starts again from the first round.

    One block is in memory. A play asks for the rounds in order; each trial has a playback of its own.
    """

    def __init__(self, course: Course):
        self.course = course
        self._index, self._block = -1, np.empty(0)
        self._blocks = course.blocks()

    def __getitem__(self, round_: int) -> Floats:
        """Return mean reward and costs of a round, (1 + C, N)."""
        wanted = int(round_) // BLOCK
        if wanted < self._index:
            self._index, self._blocks = -1, self.course.blocks()
        while self._index < wanted:
            self._block, self._index = next(self._blocks), self._index + 1
        return self._block[round_ % BLOCK]

    def __getstate__(self) -> tuple[Course, int]:
        return self.course, self._index  # a generator cannot be pickled; the block can be drawn again

    def __setstate__(self, state: tuple[Course, int]) -> None:
        self.__init__(state[0])
        if state[1] >= 0:
            self[state[1] * BLOCK]


class DrawnFunctions:
    """Cache the functions that a problem has drawn."""

    def __init__(self) -> None:
        self._kept: dict[Any, Truth] = {}  # the last reusable functions, with their extremes
        self._found: dict[Any, Extremes] = {}  # on a box, by seed: every agent meets the same trials
        self._costs: Drawn | None = None  # of plays, if they are the same in all trials

    def truth(
        self, problem: Composition, segment: Ints, seed: np.random.SeedSequence, frozen: int | None
    ) -> Truth:
        """Return the functions and their extremes; fixed or frozen ones are computed once for all resets.

        The segment of each round, (T,), is the first one with the same functions where they recur; `frozen`
        is the integer behind the seed if it is not the trial's own, else None.
        """
        if frozen is None and not problem.is_fixed:
            return self._drawn(problem, segment, seed)
        begins = tuple(change_points_of(segment)) if problem.drifts else segment.max()
        key = begins, None if problem.is_fixed else frozen
        if key not in self._kept:
            self._kept = {key: self._drawn(problem, segment, seed)}
        return self._kept[key]

    def _drawn(self, problem: Composition, segment: Ints, seed: np.random.SeedSequence) -> Truth:
        if problem.drifts:
            of_costs, anew = problem.drift.of_costs, np.diff(segment, prepend=-1) > 0
            laws = [(problem.reward, problem.drift), *((law, of_costs) for law in problem.constraints)]
            truth = Course(laws, problem.feasibility, problem.gram, problem.decisions, anew, seed).truth()
        else:
            drawn = _by_segment(problem, segment.item(segment.argmax()) + 1, seed)
            extremes = self._extremes_of_box(problem, drawn, seed) if problem.decisions.continuous else None
            truth = Truth.of(drawn, problem.decisions, extremes)
            _check_changes(truth.means, segment)
        if isinstance(problem.noise, OfOutcome):
            low, high = truth.extent(0)  # at the points; on a box the extremes may lie between them
            extremes = [min(low, float(truth.worst.min())), max(high, float(truth.optimum.max()))]
            problem.noise.outcome.require_possible("reward", extremes)  # both say how far it is off
        return truth

    def _extremes_of_box(
        self, problem: Composition, drawn: list[list[Drawn]], seed: np.random.SeedSequence
    ) -> Extremes:
        """Return the extremes of functions on a box, computed once, because the search is slow."""
        key = (seed.pool.tobytes(), len(drawn))
        if key not in self._found:
            if len(self._found) == MOST_FOUND:
                self._found.pop(next(iter(self._found)))  # the oldest
            self._found[key] = of_box(drawn, problem.decisions)
        return self._found[key]

    def play_costs(self, problem: Composition, seed: np.random.SeedSequence) -> Drawn:
        """Draw the costs of plays in a trial, from a stream beside that of the functions."""
        law = problem.play_costs
        if not law.is_fixed:
            return law.draw(problem.gram, _beside(seed, OF_COSTS))
        if self._costs is None:
            self._costs = law.draw(problem.gram, UNUSED)
        return self._costs


def safe_seed(problem: Composition, truth: Truth, seed: np.random.SeedSequence) -> int | None:
    """Draw the safe seed of a trial among all arms that are safe by the margin; None where none is published.

    It is frozen with the functions. Only `safe_seed="safest"` chooses the arm by its slack.
    """
    if not problem.safe_seed:
        return None
    costs = largest_costs(truth.means[:, 1:], problem.decisions, problem.constraint_prior_std)
    if problem.safe_seed == SAFEST:
        return int(costs.argmin())
    return int(_beside(seed, OF_SAFE_SEED).choice(np.flatnonzero(costs <= -MARGIN)))


def _beside(seed: np.random.SeedSequence, *key: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *key)))


def _check_changes(means: Floats, function: Ints) -> None:
    """Raise unless some mean changes at each change-point, (V, 1 + C, N), given each round's function, (T,).

    Laws see to it, but stated means may repeat, and a shift of costs may make two of them equal.
    """
    for at in change_points_of(function):
        before, after = means[function[at - 1]], means[function[at]]
        if all(map(are_same, before, after)):
            complaint = "must change a mean reward or cost, got the same ones before and from round"
            raise ArgumentError("changes", f"{complaint} {at} on")


def _by_segment(problem: Composition, segments: int, seed: np.random.SeedSequence) -> list[list[Drawn]]:
    """Draw the reward and the costs of each segment, every law from its own stream."""
    of_reward = np.random.default_rng(seed)
    rewards = problem.reward.in_segments(problem.gram, of_reward, segments, problem.changes.different)
    if not problem.constraints:
        return [[reward] for reward in rewards]
    of_costs = list(map(np.random.default_rng, seed.spawn(len(problem.constraints))))
    costs = _costs(problem, segments, of_costs)
    return [[reward, *others] for reward, others in zip(rewards, costs, strict=True)]


def _costs(problem: Composition, segments: int, rngs: list[np.random.Generator]) -> list[list[Drawn]]:
    """Draw the costs of all segments, with a safe seed until some arm satisfies them everywhere."""
    shift, contexts = problem.feasibility.shift, problem.decisions.num_contexts
    tries = 1 if all(law.is_fixed for law in problem.constraints) else TRIES
    for _ in range(tries):
        laws = zip(problem.constraints, rngs, strict=True)
        each = [law.in_segments(problem.gram, rng, segments, problem.changes.different) for law, rng in laws]
        drawn = [shift(list(costs), contexts) for costs in zip(*each, strict=True)]
        if not problem.safe_seed:
            return drawn
        costs = np.array([[cost.values for cost in row] for row in drawn])
        if largest_costs(costs, problem.decisions, problem.constraint_prior_std).min() <= -MARGIN:
            return drawn
    raise ArgumentError(
        "safe_seed",
        f"must be False here: in {tries} draws of the costs no arm had costs of at most {-MARGIN} prior stds "
        "in all contexts and segments, got True; raise the feasible share, or lower the number of segments",
    )
