r"""Rules that choose the pair of a duel, from d = f_map,i - f_map,j and half-widths h of all pairs.

M is the set of arms that may be the best: d_ij + h_ij >= 0 for all j. Ties are drawn at random.
Readable forms: tests/references/duels.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

TIE = 1e-9  # in log odds
REDRAWS = 20  # of the second sample of double Thompson sampling, while its best arm is the first's


@dataclass(frozen=True)
class Contest:
    """The belief about all pairs of arms in a round, as rules of duels see it."""

    mean: Floats  # (A,) mode of the utilities
    lower: Floats  # (A, A) d - h
    upper: Floats  # (A, A) d + h
    rng: np.random.Generator  # the rule's in this round
    draw: Callable[[], Floats]  # utilities from the posterior, (A,)
    last: tuple[int, int] | None = None  # the duel of the round before; None in the first
    largest: Callable[[int], Floats] | None = None  # how far others may be ahead of it, (A,); None: d + h

    @cached_property
    def contenders(self) -> Ints:
        """Return M, ascending; the arm of the largest mode is always in it."""
        possible: Bools = np.asarray((self.upper >= -TIE).all(axis=1))
        return possible.nonzero()[0]

    def argmax(self, scores: Floats) -> int:
        """Return the index of the largest score, one of those tied at random."""
        tied = (scores >= scores.max() - TIE).nonzero()[0]
        return int(tied[0]) if len(tied) == 1 else int(self.rng.choice(tied))

    def challenger(self, arm: int) -> int:
        """Return the arm that may beat this one by most: argmax_j (d + h)_j,arm."""
        return self.argmax(self.upper[:, arm] if self.largest is None else self.largest(arm))


# From the belief about pairs to the two arms of a duel, first and second.
DuelRule = Callable[[Contest], tuple[int, int]]


@dataclass(frozen=True)
class MaxMinLCB:
    """x = argmax_M min_{M - x} (d - h), and the minimiser (Pasztor et al. 2024); (x, x) where M = {x}."""

    def __call__(self, contest: Contest) -> tuple[int, int]:
        among = contest.contenders
        if len(among) == 1:
            return int(among[0]), int(among[0])
        lower = contest.lower[np.ix_(among, among)].copy()
        np.fill_diagonal(lower, np.inf)
        leader = contest.argmax(lower.min(axis=1))
        return int(among[leader]), int(among[contest.argmax(-lower[leader])])


@dataclass(frozen=True)
class RelativeUCB:
    """x is uniform in M, x' = argmax_j (d + h)_jx: the rule of RUCB (Zoghi et al. 2014) on utilities."""

    def __call__(self, contest: Contest) -> tuple[int, int]:
        arm = int(contest.rng.choice(contest.contenders))
        return arm, contest.challenger(arm)


@dataclass(frozen=True)
class DoubleThompson:
    """Play the best arms of two posterior samples; the second is drawn again up to 20 times if they agree."""

    def __call__(self, contest: Contest) -> tuple[int, int]:
        first = second = contest.argmax(contest.draw())
        for _ in range(1 + REDRAWS):
            second = contest.argmax(contest.draw())
            if second != first:
                break
        return first, second


@dataclass(frozen=True)
class MaxInfo:
    """Play the pair in M x M of the largest h, (x, x) where M = {x}."""

    def __call__(self, contest: Contest) -> tuple[int, int]:
        among = contest.contenders
        half = (contest.upper - contest.lower)[np.ix_(among, among)] / 2.0
        pair = contest.argmax(np.triu(half).ravel())
        return int(among[pair // len(among)]), int(among[pair % len(among)])


@dataclass(frozen=True)
class ModeAndChallenger:
    """Play x = argmax f_map and x' = argmax_j (d + h)_jx."""

    def __call__(self, contest: Contest) -> tuple[int, int]:
        arm = contest.argmax(contest.mean)
        return arm, contest.challenger(arm)


@dataclass(frozen=True)
class MultiSBM:
    """Play the last challenger, x, and its own, argmax_j (d + h)_jx (Ailon et al. 2014)."""

    place: int = 1  # of the challenger in the pair; 0 as in POP-BO

    def __call__(self, contest: Contest) -> tuple[int, int]:
        if contest.last is None:
            arm = int(contest.rng.integers(len(contest.mean)))
        else:
            arm = contest.last[self.place]
        challenger = contest.challenger(arm)
        return (arm, challenger) if self.place else (challenger, arm)
