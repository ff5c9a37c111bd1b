"""A measure is a quantity followed round by round, with its unit and its combination between checkpoints."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats, Ints
from gpbandits.evaluation.statistics import Interval, bootstrap_interval, wilson_interval

NEVER = np.iinfo(np.int64).max  # of a round that did not come
SHARE = "share of runs"  # a unit
Need = Literal["costs", "budget", "movement", "duels", "constancy"]
_COMBINED = {"sum": np.add, "count": np.add, "first": np.minimum}


class RoundBlock(NamedTuple):
    """Rounds hold the quantities of n successive rounds of B trials."""

    regret: Floats  # (B, n)
    cost: Floats  # (B, n, C)
    violation: Floats  # (B, n)
    observed_cost: Floats  # (B, n, C)
    spent: Floats | None = None  # (B, n) where plays cost
    shortfall: Floats | None = None  # (B, n)
    simple: Floats | None = None  # (B, n) least regret of the plays that count, see `simple_regret`
    strong: Floats | None = None  # (B, n) regret of the worse arm of a duel
    weak: Floats | None = None  # (B, n) of the better one
    start: int = 0  # the first of the rounds, counted from 0
    moved: Floats | None = None  # (B, n) costs of moves, where they cost


class Measure(NamedTuple):
    """A measure is a quantity that is followed round by round.

    Between checkpoints a "sum" adds values, a "count" adds rounds, a "first" keeps the earliest round: these
    are running totals, exact whatever rounds are kept. A "last" is a state. A measure with a heading has a
    column in tables and reports, its mean over trials, and a curve in figures, reports and on the board.

    Example:
        >>> def found(rounds):
        ...     return (rounds.simple <= 0.0).astype(np.int64)
        >>> measure = Measure("correct", SHARE, "last", found, heading="best arm found")
        >>> register(measure)  # doctest: +SKIP
    """

    name: str
    unit: str
    combine: Literal["sum", "count", "first", "last"]
    of: Callable[[RoundBlock], Any] | None = None  # of each round, (B, n, ...); None is a field of the record
    linear: bool = False  # whether sums between checkpoints are enough to compute it
    needs: Need | None = None  # without which it says nothing
    loss: bool = False  # whether standings of several environments charge it
    heading: str = ""  # of its column and curve; none where tables show it in their own way

    def values(self, rounds: RoundBlock) -> Any:
        """Return `of` these rounds, (B, n, ...); raise where it reads what the environment does not have."""
        assert self.of is not None
        try:
            return self.of(rounds)
        except TypeError as error:
            lacking = [name for name, each in rounds._asdict().items() if each is None]
            if not lacking:
                raise
            words = (
                f"measure {self.name!r} cannot be computed of rounds without {', '.join(lacking)}: {error}"
            )
            raise ValueError(f'{words}; state what it needs, such as Measure(..., needs="duels")') from error

    def accumulate(self, values: Any) -> Any:
        """Running totals over the rounds, or the states themselves, (B, n, ...)."""
        return values if self.combine == "last" else _COMBINED[self.combine].accumulate(values, axis=1)

    def estimate(self, values: Any) -> Interval:
        """The mean over trials with its 95 % interval, (B,): Wilson's of a share of runs."""
        if self.unit == SHARE:
            return wilson_interval(np.asarray(np.mean(values)), len(values))
        return bootstrap_interval(np.asarray(values, dtype=np.float64))


def _linear(
    name: str, unit: str, of: Callable[[Any], Any], needs: Need | None = None, heading: str = ""
) -> Measure:
    return Measure(name, unit, "sum", of, linear=True, needs=needs, heading=heading)


MEASURES = {
    measure.name: measure
    for measure in (
        _linear("regret", "reward", lambda rounds: rounds.regret),
        Measure("lost", "reward", "sum", lambda rounds: np.maximum(_charged(rounds), 0.0), loss=True),
        _linear("summed_costs", "cost", lambda rounds: rounds.cost),
        _linear("summed_observed_costs", "cost", lambda rounds: rounds.observed_cost),
        Measure("hard_violation", "cost", "sum", lambda rounds: rounds.violation, True, "costs", loss=True),
        Measure("unsafe_plays", "plays", "count", lambda rounds: (rounds.violation > 0).astype(np.int64)),
        Measure("first_unsafe", "round", "first", lambda rounds: _unsafe_rounds(rounds)),
        _linear("spent", "play cost", lambda rounds: rounds.spent, "budget"),
        _linear("budget_regret", "reward", lambda rounds: rounds.shortfall, "budget"),
        _linear("moved", "reward", lambda rounds: rounds.moved, "movement", "moves"),
        _linear("total_loss", "reward", lambda x: x.regret + x.moved, "movement", "regret and moves"),
        Measure("strong_regret", "reward", "sum", lambda x: x.strong, needs="duels", heading="strong regret"),
        Measure("weak_regret", "reward", "sum", lambda x: x.weak, needs="duels", heading="weak regret"),
        Measure("simple_regret", "reward", "last"),
        Measure("action", "arm or point", "last"),
    )
}

OURS = tuple(MEASURES)  # without those that are registered


def followed(budget: bool, movement: bool = False, duel: bool = False) -> list[Measure]:
    """Return the measures that follow from rounds, where plays or moves cost or plays are duels."""
    there = {"budget": budget, "movement": movement, "duels": duel}
    lacking = [need for need, given in there.items() if not given]
    return [each for each in MEASURES.values() if each.of is not None and each.needs not in lacking]


def register(measure: Measure) -> None:
    """Follow a further measure from now on, under a name of its own.

    Measures are those of a process: workers of a run import the module that registers theirs, such as that of
    an agent which the study names.
    """
    free = measure.name.isidentifier() and measure.name not in MEASURES
    require(free, "name", "an identifier that no measure has yet", measure.name)
    require(measure.of is not None, "of", "what the measure is of rounds", measure.of)
    MEASURES[measure.name] = measure


class Running:
    """Running totals of a measure at the recorded rounds are added round by round, the same in any blocks."""

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


def _charged(rounds: RoundBlock) -> Floats:
    """Return regret, or budget regret where plays cost, so that making fewer plays lowers no loss."""
    return rounds.regret if rounds.shortfall is None else rounds.shortfall


def _unsafe_rounds(rounds: RoundBlock) -> Ints:
    counted = rounds.start + np.arange(rounds.violation.shape[1], dtype=np.int64)
    return np.where(rounds.violation > 0, counted, NEVER)
