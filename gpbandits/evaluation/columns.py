"""Columns of tables by name: the last values of every metric, and what follows from them and from plays."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import require, require_choice, require_known
from bandit_envs.basics.types import Floats, Ints
from gpbandits.evaluation import statistics
from gpbandits.evaluation.curves import Curves
from gpbandits.evaluation.formats import Cell, Style, drawn_from, footnotes
from gpbandits.evaluation.measures import (
    MEASURES,
    METRICS,
    Metric,
    headed,
    metric_named,
    metrics_of,
    share_of,
)
from gpbandits.evaluation.table import Table

COVERAGE = (
    "Coverage: of the arms that can be certified from the safe seed by exact costs and their slopes, the "
    "share that the agent certified in the end or has played."
)
SAFETY = (
    "A play is unsafe if its noiseless mean violates a cost. The share of runs has Wilson's 95 % interval; "
    "the first round is the median of runs with an unsafe play, counted from 1."
)
SIMPLE = (
    "Simple regret is that of the best feasible, delivered play of the round's context and segment, within "
    "the agent's window if it has one, to the best arm of all; the largest possible without such a play."
)
SPENDING = (
    "Budget regret: rho* times the spent budget minus rewards, rho* the best reward a unit of cost; agents "
    "are in the order of it a unit of what they spent."
)
VIOLATION = (
    "Hard violation: the sum over rounds of the norms of the positive parts of the costs; violation: the "
    "norm of the positive part of their sums, in which costs of different signs cancel; average: a round. "
    "Regret may be negative while a constraint is violated."
)
SPARED = ("median", "microseconds", "average_violation", "spent", "played", "simple_regret")
BASELINE = "{baseline}"  # in a heading
GIVEN = "given"  # the order in which agents were passed
DECADE = 10  # the exponent of growth is of the last rounds, from this part of the horizon on

CellOf = Callable[[str], Cell]  # of an agent's label


class Asked(NamedTuple):
    """A table is asked of a result, by a metric, with differences to a baseline."""

    result: Curves
    metric: Metric
    baseline: str
    final: dict[str, Floats]  # last values of the metric, (B,) each

    def difference(self, label: str) -> Cell:
        """Return the paired difference to the baseline, None of itself."""
        final, baseline = self.final, self.baseline
        return None if label == baseline else statistics.paired_difference(final[label], final[baseline])

    def slope(self, label: str) -> Cell:
        """Return the exponent of growth; None if a resampled mean is not positive, or of one round."""
        result = self.result
        try:
            return statistics.log_log_slope(result.regret[label], result.rounds, growth_window(result))
        except ValueError:
            return None


class Column(NamedTuple):
    """A column has a heading, a cell an agent, and a condition on results that have it."""

    heading: str
    of: Callable[[Asked], CellOf]
    has: Callable[[Curves], bool] = lambda result: True


def _mean(
    values: Callable[[Curves], Mapping[str, Any]],
    estimate: Callable[[Any], Cell] = statistics.bootstrap_interval,
) -> Callable[[Asked], CellOf]:
    """Return cells of means over trials, (B,) or (B, T) each, at the last round; None of an agent without."""

    def of(asked: Asked) -> CellOf:
        finals = {x: each if each.ndim == 1 else each[:, -1] for x, each in values(asked.result).items()}
        return lambda x: estimate(finals[x]) if x in finals else None

    return of


def _constrained(result: Curves) -> bool:
    return bool(result.num_constraints)


COLUMNS = {
    "median": Column("median [10, 90 %]", lambda it: lambda x: statistics.quantile_band(it.final[x])),
    "interquartile_mean": Column(
        "interquartile mean", lambda it: lambda x: float(statistics.interquartile_mean(it.final[x]))
    ),
    "difference": Column(f"minus {BASELINE}", lambda it: it.difference),
    "exponent": Column("exponent", lambda it: it.slope, lambda result: not result.spent),
    "played": Column("rounds", _mean(lambda result: result.played), lambda x: bool(x.spent)),
    "spent": Column("spent", _mean(lambda result: result.spent), lambda x: bool(x.spent)),
    "unsafe_runs": Column(
        "runs with an unsafe play",
        _mean(lambda result: {x: each > 0 for x, each in result.unsafe_plays.items()}, share_of),
        _constrained,
    ),
    "unsafe_plays": Column("unsafe plays/run", _mean(lambda result: result.unsafe_plays), _constrained),
    "first_unsafe": Column(
        "first unsafe round", lambda it: lambda x: _median_first(it.result.first_unsafe[x]), _constrained
    ),
    "coverage": Column("coverage", _mean(lambda result: result.coverage), lambda x: bool(x.coverage)),
    "undominated": Column(
        "undominated", lambda it: lambda x: "yes" if x in undominated(it.result) else "no", _constrained
    ),
    "microseconds": Column(
        "µs a round", lambda it: lambda x: float(it.result.seconds_per_decision[x].mean()) * 1e6
    ),
    "seconds": Column("s a trial", lambda it: lambda x: float(it.result.seconds[x].mean())),
    "seconds_in_all": Column("s in all", lambda it: lambda x: float(it.result.seconds[x].sum())),
}


def column_named(name: str) -> Column:
    """Return a column, or raise the ValueError that names those there are."""
    if name in COLUMNS:
        return COLUMNS[name]
    further = [each.name for each in MEASURES.values() if each.heading]
    require_known("column", name, [*METRICS, *further, *COLUMNS])
    estimate = statistics.bootstrap_interval if name in METRICS else MEASURES[name].estimate
    curves = _mean(lambda result: result.curves(name), estimate)
    return Column(metric_named(name).text, curves, lambda result: name in metrics_of(result))


def fitting(result: Curves, columns: Sequence[str], baseline: str) -> dict[str, Any]:
    """Return the arguments of `Result.table` that a study asks for, where a result of it has them."""
    shown = [name for name in columns if has_column(result, name)]
    return {"columns": shown or None, "baseline": baseline if baseline in result.records else None}


def has_column(result: Curves, name: str) -> bool:
    """Return whether a result has what a column shows."""
    return column_named(name).has(result)


def result_table(
    result: Curves,
    columns: Sequence[str] | None = None,
    baseline: str | None = None,
    style: Style = "interval",
    sort: str | None = None,
    metric: Metric | None = None,
) -> Table:
    """Return the table of a result, see `Result.table`."""
    require_choice("style", style, ("interval", "±"))
    asked = asked_of(result, baseline, metric)
    if columns is None:
        usual = ["hard_violation", asked.metric, "median", "difference", "simple_regret"]
        usual += [each.name for each in headed(result)]
        usual += ["average_violation", "played", "spent", "microseconds"]
        names = [name for name in dict.fromkeys(usual) if has_column(result, name)]
    else:
        names = require_columns(columns)
        for name in names:
            has = has_column(result, name)
            require(has, "columns", f"what {result.environment!r} has", name)
    made = tabulated(asked, "", names, (*_about(asked, names, style),))
    spared = () if columns is not None else [column_named(each).heading for each in SPARED]
    rows = _sorted(asked, made.rows, sort) if sort is not None or metric is not None else made.rows
    return dataclasses.replace(made, rows=rows, style=style, spared=tuple(spared))


def require_columns(columns: Sequence[str]) -> list[str]:
    """Return names of columns as a list; raise unless there is a column of each name."""
    listed = not isinstance(columns, str) and isinstance(columns, Sequence) and len(columns) > 0
    require(listed, "columns", 'a list of names, such as ["regret", "difference"]', columns)
    for name in columns:
        column_named(name)
    once = len(set(columns)) == len(columns)
    require(once, "columns", "names that differ", columns)
    return list(columns)


def asked_of(result: Curves, baseline: str | None = None, metric: Metric | None = None) -> Asked:
    """Return what a table is asked, by default the main metric against the result's own baseline."""
    metric = result.main_metric if metric is None else metric
    metric_named(metric)
    require(metric in metrics_of(result), "metric", f"what {result.environment!r} has", metric)
    known = baseline is None or (isinstance(baseline, str) and baseline in result.records)
    require(known, "baseline", f"None or one of {', '.join(result.records)}", baseline)
    final = {label: curve[:, -1] for label, curve in result.curves(metric).items()}
    return Asked(result, metric, baseline or result.baseline, final)


def tabulated(asked: Asked, what: str, columns: Sequence[str], notes: Sequence[str]) -> Table:
    """Return a table of some columns, with a row an agent in order; `what` names its files."""
    found, result = [column_named(name) for name in columns], asked.result
    headings = [each.heading.replace(BASELINE, asked.baseline) for each in found]
    cells = [each.of(asked) for each in found]
    rows = tuple((result.marked(x), *(cell(x) for cell in cells)) for x in result.ordered)
    title = f"{result.environment}: {what}" if what else result.environment
    header, named = ("agent", *headings), ("agent", *columns)
    signed = frozenset({f"minus {asked.baseline}"})
    return Table(title, header, rows, tuple(notes), name=what.partition(" ")[0], names=named, signed=signed)


def _sorted(
    asked: Asked, rows: tuple[tuple[Cell, ...], ...], sort: str | None
) -> tuple[tuple[Cell, ...], ...]:
    """Return rows by the estimates of a column, least first or with a leading "-" greatest first."""
    result, name = asked.result, asked.metric if sort is None else sort
    place = {result.marked(label): i for i, label in enumerate(result.agents)}
    if name == GIVEN:
        return tuple(sorted(rows, key=lambda row: place[str(row[0])]))
    require(isinstance(name, str), "sort", 'None, "given" or the name of a column', sort)
    column, factor = name.removeprefix("-"), -1.0 if name.startswith("-") else 1.0
    cell = column_named(column).of(asked)
    values = {result.marked(label): factor * _number(cell(label)) for label in result.agents}
    return tuple(sorted(rows, key=lambda row: (np.isnan(at := values[str(row[0])]), at)))


def _number(cell: Cell) -> float:
    if isinstance(cell, statistics.Interval):
        return float(cell.estimate)
    return float("nan") if cell is None or isinstance(cell, str) else float(cell)


def undominated(result: Curves) -> list[str]:
    """Return labels such that no other agent has both less mean regret and less mean violation at T."""
    regret, violation = (
        {label: curve[:, -1].mean() for label, curve in curves.items()}
        for curves in (result.main, result.violation)
    )
    worse = {
        x for x in regret for other in regret if regret[other] < regret[x] and violation[other] < violation[x]
    }
    return [label for label in result.agents if label not in worse]


def growth_window(result: Curves) -> tuple[int, int]:
    """Return the rounds of which the exponent of growth is."""
    return max(result.horizon // DECADE, 1), result.horizon


def order_of(result: Curves) -> str:
    """Say in which order tables list the agents of a result with constraints."""
    asked = "violation" if result.long_term else "hard violation"
    return (
        f"In order: the least mean {asked} and what does not differ significantly from it (sign flips of all "
        "pairs, with Holm's correction at 5 %), by regret; then the rest likewise."
    )


def _median_first(rounds: Ints) -> float:
    """Return the median first unsafe round, counted from 1, of runs with one; NaN without any."""
    seen = rounds[rounds >= 0]
    return float(np.median(seen + 1)) if len(seen) else float("nan")


def _about(asked: Asked, columns: Sequence[str], style: Style) -> list[str]:
    """Return the notes of a table of a result: its size, its intervals, and what its columns mean."""
    result, shown = asked.result, set(columns)
    trials = "1 trial" if result.num_trials == 1 else f"{result.num_trials} trials"
    ends = "with" if style == "interval" else "± half the width of"
    method = f"Means {ends} 95 % BCa bootstrap intervals over trials ({statistics.RESAMPLES} resamples)"
    paired = "; differences are paired by trial, positive ones mean more regret."
    violating = {name for name in METRICS if name.endswith("violation")}
    qualified = bool(result.windows or result.num_constraints or any(map(len, result.changes)))
    notes = {
        f"{trials} of {result.horizon} rounds, {drawn_from(result)}.": True,
        method + (paired if "difference" in shown else "."): result.num_trials > 1,
        statistics.FEW: 1 < result.num_trials < statistics.ENOUGH,
        f"{VIOLATION} {order_of(result)}": bool(shown & violating),
        SAFETY: bool(shown & {"unsafe_runs", "unsafe_plays", "first_unsafe"}),
        COVERAGE: "coverage" in shown,
        SIMPLE: "simple_regret" in shown and qualified,
        SPENDING: "budget_regret" in shown,
    }
    final = asked.final
    finals = {label: final[label] for label in result.ordered if label in final}
    skewed = statistics.skew_notes(finals, asked.baseline) if asked.baseline in finals else ()
    return [*(note for note, applies in notes.items() if applies), *skewed, *footnotes(result)]
