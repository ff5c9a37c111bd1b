r"""Rules that choose the pair of a duel, from d = f_map,i - f_map,j and half-widths h of all pairs.

M is the set of arms that may be the best: d_ij + h_ij >= 0 for all j. Ties are drawn at random.
Readable forms: tests/references/duels.py.
"""

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


def max_min_lcb(contest: Contest) -> tuple[int, int]:
    """x = argmax_M min_{M - x} (d - h), and the minimiser (Pasztor et al. 2024); (x, x) where M = {x}."""
    among = contest.contenders
    if len(among) == 1:
        return int(among[0]), int(among[0])
    lower = contest.lower[np.ix_(among, among)].copy()
    np.fill_diagonal(lower, np.inf)
    leader = contest.argmax(lower.min(axis=1))
    return int(among[leader]), int(among[contest.argmax(-lower[leader])])


def relative_ucb(contest: Contest) -> tuple[int, int]:
    """x is uniform in M, x' = argmax_j (d + h)_jx: the rule of RUCB (Zoghi et al. 2014) on utilities."""
    arm = int(contest.rng.choice(contest.contenders))
    return arm, contest.challenger(arm)


def double_thompson(contest: Contest) -> tuple[int, int]:
    """Play the best arms of two posterior samples; the second is drawn again up to 20 times if they agree."""
    first = second = contest.argmax(contest.draw())
    for _ in range(1 + REDRAWS):
        second = contest.argmax(contest.draw())
        if second != first:
            break
    return first, second


def max_info(contest: Contest) -> tuple[int, int]:
    """Play the pair in M x M of the largest h, (x, x) where M = {x}."""
    among = contest.contenders
    half = (contest.upper - contest.lower)[np.ix_(among, among)] / 2.0
    pair = contest.argmax(np.triu(half).ravel())
    return int(among[pair // len(among)]), int(among[pair % len(among)])


def mode_and_challenger(contest: Contest) -> tuple[int, int]:
    """Play x = argmax f_map and x' = argmax_j (d + h)_jx."""
    arm = contest.argmax(contest.mean)
    return arm, contest.challenger(arm)


def multi_sbm(contest: Contest, place: int = 1) -> tuple[int, int]:
    """Play the last challenger, x, and its own, argmax_j (d + h)_jx (Ailon et al. 2014).

    `place` is that of the challenger in the pair; 0 as in POP-BO.
    """
    arm = int(contest.rng.integers(len(contest.mean))) if contest.last is None else contest.last[place]
    challenger = contest.challenger(arm)
    return (arm, challenger) if place else (challenger, arm)
