"""A measure is a quantity followed round by round, with its unit and its combination between checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints

NEVER = np.iinfo(np.int64).max  # stands for a round of an event that did not occur
_COMBINED = {"sum": np.add, "count": np.add, "first": np.minimum}


class Rounds(NamedTuple):
    """Rounds hold the quantities of n successive rounds of B trials."""

    regret: Floats  # (B, n)
    cost: Floats  # (B, n, C)
    violation: Floats  # (B, n)
    observed_cost: Floats  # (B, n, C)
    spent: Floats | None = None  # (B, n) where plays cost
    shortfall: Floats | None = None  # (B, n)
    start: int = 0  # the first of the rounds, counted from 0


class Measure(NamedTuple):
    """A measure is a quantity that is followed round by round.

    Between checkpoints a "sum" adds values, a "count" adds rounds, a "first" keeps the earliest round: these
    are running totals, exact for any recorded rounds. A "last" is a state, which the record itself holds.
    """

    name: str
    unit: str
    combine: Literal["sum", "count", "first", "last"]
    of: Callable[[Rounds], Any] | None = None  # value of each round, (B, n) or (B, n, C); None for a state
    linear: bool = False  # sums between checkpoints suffice to compute it
    paid: bool = False  # it exists only where plays cost

    def accumulate(self, values: Any) -> Any:
        """Return running totals over the rounds, (B, n, ...)."""
        return _COMBINED[self.combine].accumulate(values, axis=1)


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("regret", "reward", "sum", lambda rounds: rounds.regret, linear=True),
        Measure("lost", "reward", "sum", lambda rounds: np.maximum(_charged(rounds), 0.0)),
        Measure("summed_costs", "cost", "sum", lambda rounds: rounds.cost, linear=True),
        Measure("summed_observed_costs", "cost", "sum", lambda rounds: rounds.observed_cost, linear=True),
        Measure("hard_violation", "cost", "sum", lambda rounds: rounds.violation, linear=True),
        Measure("unsafe_plays", "plays", "count", lambda rounds: (rounds.violation > 0).astype(np.int64)),
        Measure("first_unsafe", "round", "first", lambda rounds: _unsafe_rounds(rounds)),
        Measure("spent", "play cost", "sum", lambda rounds: rounds.spent, linear=True, paid=True),
        Measure("budget_regret", "reward", "sum", lambda rounds: rounds.shortfall, linear=True, paid=True),
        Measure("simple_regret", "reward", "last"),
        Measure("action", "arm or point", "last"),
    )
}


def followed(paid: bool) -> list[Measure]:
    """Return the measures that are running totals, including those of play costs if `paid`."""
    return [each for each in MEASURES.values() if each.of is not None and (paid or not each.paid)]


class Running:
    """Running totals of a measure at the recorded rounds are computed block by block.

    Rounds are added in order, so that a run in blocks equals a whole one bit for bit.
    """

    def __init__(self, measure: Measure):
        self._measure = measure
        self._total: Any = None  # (B, ...) of all rounds so far

    def take(self, values: Any, recorded: Ints) -> Any:
        """Return the totals at the recorded rounds of a block, (B, n, ...) -> (B, r, ...)."""
        if self._total is None:
            totals = self._measure.accumulate(values)
        else:
            totals = self._measure.accumulate(np.concatenate([self._total[:, None], values], axis=1))[:, 1:]
        self._total = totals[:, -1].copy()
        return totals[:, recorded]


def _charged(rounds: Rounds) -> Floats:
    """Return regret, or budget regret where plays cost, so that making fewer plays lowers no loss."""
    return rounds.regret if rounds.shortfall is None else rounds.shortfall


def _unsafe_rounds(rounds: Rounds) -> Ints:
    counted = rounds.start + np.arange(rounds.violation.shape[1], dtype=np.int64)
    return np.where(rounds.violation > 0, counted, NEVER)
