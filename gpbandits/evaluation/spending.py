"""Spending records the cost of plays under a budget, and draws curves over it instead of rounds."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from gpbandits.evaluation.thinning import sums_between

POINTS = 200  # points of a curve over the spent budget


class Spending(NamedTuple):
    """A spending holds the costs of the plays of B trials at the T recorded rounds of a `Record`."""

    spent: Floats  # (B, T) true costs since the previous recorded round
    shortfall: Floats  # (B, T) sums of rho* k(x) - f(x), rho* the best reward a unit of cost of the round
    played: Ints  # (B,) rounds in which a play was made

    def at(self, rounds: Ints) -> "Spending":
        """Thin to these rounds, (R,)."""
        spent, shortfall = (sums_between(values, rounds) for values in (self.spent, self.shortfall))
        return Spending(spent, shortfall, self.played)


def join(blocks: Sequence[Spending | None]) -> Spending | None:
    """Join blocks of trials in their order; None where plays are free."""
    known = [block for block in blocks if block is not None]
    return Spending(*map(np.concatenate, zip(*known, strict=True))) if known else None


def budget_grid(spent: Sequence[Floats]) -> Floats:
    """Return budgets from where all agents have played in all trials to the largest of the `spent`, (n,)."""
    first, last = (max(float(each[:, i].max()) for each in spent) for i in (0, -1))
    return np.linspace(first, last, POINTS)


def over_budget(values: Floats, spent: Floats, grid: Floats) -> Floats:
    """Return the values after the last play that each budget of a grid pays for, (B, T) -> (B, n)."""
    last = np.array([np.searchsorted(row, grid, side="right") - 1 for row in spent])
    return np.take_along_axis(values, np.maximum(last, 0), axis=1)
