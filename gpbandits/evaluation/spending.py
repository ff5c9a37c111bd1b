"""What plays have cost, where an environment has a budget, and curves over it in place of rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from gpbandits.evaluation.thinning import sums_between

POINTS = 200  # of a curve over what is spent


class Spending(NamedTuple):
    """What the plays of B trials have cost, beside a `Record` of T recorded rounds."""

    spent: Floats  # (B, T) true costs since the previous recorded round
    shortfall: Floats  # (B, T) sums of rho* k(x) - f(x), rho* the best reward a unit of cost of the round
    played: Ints  # (B,) rounds in which a play was made

    def at(self, rounds: Ints) -> Spending:
        """Keep these rounds alone, (R,)."""
        spent, shortfall = (sums_between(values, rounds) for values in (self.spent, self.shortfall))
        return Spending(spent, shortfall, self.played)


def join(blocks: Sequence[Spending | None]) -> Spending | None:
    """Blocks of trials in their order; None of agents whose plays cost nothing."""
    known = [block for block in blocks if block is not None]
    return Spending(*map(np.concatenate, zip(*known, strict=True))) if known else None


def budget_grid(spent: Sequence[Floats]) -> Floats:
    """Budgets at which all agents have played in all trials, up to the most that is spent, (n,).

    Args:
        spent: running sums of each agent, (B, T).
    """
    first, last = (max(float(each[:, i].max()) for each in spent) for i in (0, -1))
    return np.linspace(first, last, POINTS)


def over_budget(values: Floats, spent: Floats, grid: Floats) -> Floats:
    """Values after the last play that each budget pays for, (B, T) -> (B, n).

    Args:
        values: of each round; after the last play they stay.
        spent: running sums, (B, T).
        grid: budgets, of which each trial has played with the least.
    """
    last = np.array([np.searchsorted(row, grid, side="right") - 1 for row in spent])
    return np.take_along_axis(values, np.maximum(last, 0), axis=1)
