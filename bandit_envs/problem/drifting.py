"""Draw drifting functions block by block from a counter, so that T of them are never in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from bandit_envs.basics.types import Bools, Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.drift import Drift
from bandit_envs.laws.feasibility import Feasibility
from bandit_envs.laws.functions import FunctionLaw
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.truth import Truth, check_feasible, of_table

BLOCK = 32  # rounds drawn at once: one matrix product, 0.25 MB for a function on 1000 points


@dataclass(frozen=True, eq=False)
class Course:
    """Define the functions of each round of a trial, fixed by their seed and independent of the plays.

    Args:
        laws: of the reward and of each cost, each with its drift.
        feasibility: shifts the costs of a round.
        gram, decisions: of the problem.
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
        for i in count():
            anew = self.anew[i * BLOCK : (i + 1) * BLOCK]
            if not len(anew):
                return
            values = np.stack([self._block(j, i, last[j], anew) for j in range(len(self.laws))], axis=1)
            last = values[-1]
            yield self._shifted(values)

    def _block(self, j: int, i: int, last: Floats, anew: Bools) -> Floats:
        law, drift = self.laws[j]
        seed = np.random.SeedSequence(self.seed.entropy, spawn_key=(*self.seed.spawn_key, j, i))
        return drift.follow(law, self.gram, np.random.default_rng(seed), last, i * BLOCK, anew)

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
        extremes, extents = [], []
        for block in self.blocks():
            extremes.append(of_table(block, self.decisions))
            extents.append([block.min(axis=(0, 2)), block.max(axis=(0, 2))])
        best, worst = (np.concatenate(part) for part in zip(*extremes, strict=True))
        check_feasible(best, "round")
        lows, highs = np.swapaxes(extents, 0, 1)
        return Truth(self, best, worst, np.array([lows.min(axis=0), highs.max(axis=0)]))


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
