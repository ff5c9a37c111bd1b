"""Measures are followed round by round; metrics are curves of figures, and overlays stand beside them."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Literal, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import require, require_known
from bandit_envs.basics.types import Floats, Ints
from gpbandits.evaluation.statistics import Interval, bootstrap_interval, wilson_interval

NEVER = np.iinfo(np.int64).max  # of a round that did not come
SHARE = "share of runs"  # a unit
Need = Literal["costs", "budget", "movement", "duels", "constancy"]
_COMBINED = {"sum": np.add, "count": np.add, "first": np.minimum}


def share_of(values: Any) -> Interval:
    """Return the share of trials in which something is true, (B,), with Wilson's 95 % interval."""
    return wilson_interval(np.asarray(np.mean(values)), len(values))


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
        return share_of(values) if self.unit == SHARE else bootstrap_interval(values)


def _unsafe_rounds(rounds: RoundBlock) -> Ints:
    counted = rounds.start + np.arange(rounds.violation.shape[1], dtype=np.int64)
    return np.where(rounds.violation > 0, counted, NEVER)


def _linear(
    name: str, unit: str, of: Callable[[Any], Any], needs: Need | None = None, heading: str = ""
) -> Measure:
    return Measure(name, unit, "sum", of, linear=True, needs=needs, heading=heading)


MEASURES = {
    measure.name: measure
    for measure in (
        _linear("regret", "reward", lambda rounds: rounds.regret),
        # Budget regret where plays cost, so that making fewer plays lowers no loss.
        Measure(
            "lost",
            "reward",
            "sum",
            lambda x: np.maximum(x.regret if x.shortfall is None else x.shortfall, 0.0),
            loss=True,
        ),
        _linear("summed_costs", "cost", lambda rounds: rounds.cost),
        _linear("summed_observed_costs", "cost", lambda rounds: rounds.observed_cost),
        Measure("hard_violation", "cost", "sum", lambda rounds: rounds.violation, True, "costs", loss=True),
        Measure("unsafe_plays", "plays", "count", lambda rounds: (rounds.violation > 0).astype(np.int64)),
        Measure("first_unsafe", "round", "first", _unsafe_rounds),
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


def followed(has: Callable[[Need | None], bool]) -> list[Measure]:
    """Return the measures that follow from rounds, which have what these need."""
    return [each for each in MEASURES.values() if each.of is not None and has(each.needs)]


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


Metric = str  # a name in `METRICS`, or of a measure with a heading
Scale = Literal["linear", "log-log"]  # of the axes on which they are drawn
Side = Literal["upper", "lower", "slope"]


class NamedCurve(NamedTuple):
    """A curve of every agent, and its texts."""

    text: str  # in tables and reports
    label: str  # of an axis
    of: Callable[[Any], dict[str, Floats]]  # of `Curves`, (B, T) each
    needs: Need | None = None  # without which it is not shown


def _violation(text: str, symbol: str, attribute: str) -> NamedCurve:
    def of(result: Any) -> dict[str, Floats]:
        values = getattr(result, attribute)
        return result.averaged(values) if text.startswith("average") else values

    return NamedCurve(text, f"{text} {symbol}", of, "costs")


METRICS = {
    "budget_regret": NamedCurve(
        "budget regret", "budget regret (reward units)", attrgetter("budget_regret"), "budget"
    ),
    "regret": NamedCurve("regret", "cumulative regret $R_t$ (reward units)", attrgetter("regret")),
    "average_regret": NamedCurve(
        "average regret", "average regret $R_t/t$ (reward units)", attrgetter("average_regret")
    ),
    "simple_regret": NamedCurve(
        "simple regret", "simple regret (reward units)", attrgetter("simple_regret"), "constancy"
    ),
    "average_violation": _violation("average violation", r"$\|[\Sigma_t\, g(x_t)]^+\|/t$", "violation"),
    "average_hard_violation": _violation(
        "average hard violation", r"$\Sigma_t\, \|[g(x_t)]^+\|/t$", "hard_violation"
    ),
    "violation": _violation("violation", r"$\|[\Sigma_t\, g(x_t)]^+\|$", "violation"),
    "hard_violation": _violation("hard violation", r"$\Sigma_t\, \|[g(x_t)]^+\|$", "hard_violation"),
    "noisy_violation": _violation(
        "noisy violation", r"$\|[\Sigma_t\, (g(x_t) + \eta_t)]^+\|$", "noisy_violation"
    ),
}


REFUSED = {"budget": "an environment with a budget", "constancy": "functions that do not drift"}


def metrics_of(result: Any) -> dict[str, NamedCurve]:
    """Return the metrics that a result has, what agents are ranked by first, measures with a heading last."""
    shown = METRICS | {each.name: _of_measure(each) for each in headed(result)}
    return {name: each for name, each in shown.items() if applies(each.needs, result)}


def metric_named(name: str) -> NamedCurve:
    """Return a metric, or raise the ValueError that names those there are."""
    if name in METRICS:
        return METRICS[name]
    further = {each.name: each for each in MEASURES.values() if each.heading}
    require_known("metric", name, [*METRICS, *further])
    return _of_measure(further[name])


def headed(result: Any) -> list[Measure]:
    """Return the measures that have a column of their own and that an agent of the result has."""
    measures = [each for each in MEASURES.values() if each.heading and applies(each.needs, result)]
    return [each for each in measures if result.held(each.name)]


def _of_measure(measure: Measure) -> NamedCurve:
    text = f"{measure.heading} ({measure.unit})"
    return NamedCurve(measure.heading, text, lambda result: result.held(measure.name), measure.needs)


def applies(needs: Need | None, result: Any) -> bool:
    """Return whether a result has what a metric needs."""
    held = {"costs": result.num_constraints > 0, "budget": bool(result.spent), "movement": bool(result.moved)}
    held |= {"duels": bool(result.held("strong_regret")), "constancy": result.has_simple_regret}
    return needs is None or held[needs]


class Overlay(NamedTuple):
    """An overlay is a bound of a theorem, or a rate; `gpbandits.theory.overlays.bound` makes it by name.

    Args:
        label: text of the legend: the agents concerned, and the sense in which the bound holds.
        side: "upper" or "lower" bound with its constants, or "slope": the values up to an unknown factor.
        rounds: rounds of the values, ending with the horizon, (n,).
        values: bound on the metric, (n,).
    """

    label: str
    side: Side
    rounds: Ints
    values: Floats
    metric: Metric = "regret"


def check_overlays(bounds: Sequence[Overlay], horizon: int, scale: Scale, metrics: Sequence[Metric]) -> None:
    """Raise unless all bounds fit a figure of this horizon, scale and these metrics."""
    made = "overlays made by gpbandits.theory.overlays.bound(name, problem, agent)"
    for each in bounds:
        require(isinstance(each, Overlay), "bounds", made, each)
        fits, whole = each.rounds[-1] == horizon, f"of the result's {horizon} rounds"
        require(fits, "bounds", whole, f"{each.label} of {each.rounds[-1]}")
        drawn = f"on the {' or '.join(metrics)} drawn"
        require(each.metric in metrics, "bounds", drawn, f"{each.label} on {each.metric}")
        level = f'"log-log" for {each.label!r}, a rate without a level'
        require(each.side != "slope" or scale == "log-log", "scale", level, scale)
