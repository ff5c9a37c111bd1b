"""The tables of a report give summaries, comparisons, growth of regret, safety, budgets and time."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits.evaluation import statistics
from gpbandits.evaluation.formats import MISSING, Cell
from gpbandits.evaluation.marks import drawn_from, footnotes
from gpbandits.evaluation.metrics import headed, metric_named
from gpbandits.evaluation.result import Metric, Result
from gpbandits.evaluation.table import SIMPLE, SPENDING, Columns, Table, order_of, safety_table

BOOTSTRAP = f"95 % BCa bootstrap intervals over trials ({statistics.RESAMPLES} resamples)"
_SUMMARY = (
    f"Means with {BOOTSTRAP}; the interquartile mean is that of the middle half of the trials. {SIMPLE}"
)
_VIOLATION = (
    "Violating a constraint can lower regret, so both must be read together. {} Agents are undominated if no "
    "other has both less mean regret and less mean violation. Hard violation is the sum over rounds of the "
    "norms of the positive parts of the costs; violation is the norm of the positive part of their sums, in "
    "which costs of different signs cancel. Regret may be negative while a constraint is violated."
)


def undominated(result: Result) -> list[str]:
    """Return labels such that no other agent has both less mean regret and less mean violation at T."""
    regret, violation = (
        {label: curve[:, -1].mean() for label, curve in curves.items()}
        for curves in (result.main, result.violation)
    )
    return [
        label
        for label in result.agents
        if not any(
            regret[other] < regret[label] and violation[other] < violation[label] for other in result.agents
        )
    ]


def summary(result: Result) -> Table:
    """Return the table of regret at the horizon and, with constraints, of violation."""
    final = {label: curve[:, -1] for label, curve in result.main.items()}
    columns = _means(result, {"hard violation": "hard-violation"} if result.num_constraints else {})
    columns |= _means(result, {metric_named(result.main_metric).text: result.main_metric})
    notes = [_SUMMARY]
    if result.num_constraints:
        best = undominated(result)
        columns |= _means(result, {"violation a round": "average-violation"})
        columns["undominated"] = lambda x: "yes" if x in best else "no"
        notes.append(_VIOLATION.format(order_of(result)))
    columns["median [10, 90 %]"] = lambda x: statistics.quantile_band(final[x])
    columns["interquartile mean"] = lambda x: float(statistics.interquartile_mean(final[x]))
    columns |= _means(result, {"average regret": "average"})
    columns |= _means(result, {"simple regret": "simple"} if result.has_simple_regret else {})
    columns |= _means(result, {each.heading: each.name for each in headed(result)})
    return _table(result, "summary", columns, *notes, *statistics.skew_notes(final, result.baseline))


def _means(result: Result, columns: Mapping[str, Metric]) -> dict[str, Callable[[str], Cell]]:
    """Return columns of means at the last round, None of an agent that lacks a metric."""

    def mean(curves: Mapping[str, Floats]) -> Callable[[str], Cell]:
        return lambda x: statistics.bootstrap_interval(curves[x][:, -1]) if x in curves else None

    return {heading: mean(result.curves(metric)) for heading, metric in columns.items()}


def comparison(result: Result, metric: Metric | None = None) -> Table:
    """Compare each agent with the baseline on the same trials, by default by the main metric."""
    metric = metric or result.main_metric
    what, curves = metric_named(metric).text, result.curves(metric)
    finals = {label: curves[label][:, -1] for label in result.ordered}
    compared = statistics.compare(finals, result.baseline)
    header = ("agent", "difference", "ratio", "P(less)", "p", "p (Holm)")
    rows = tuple(
        (
            result.marked(label),
            against.difference,
            None if np.isnan(against.ratio.estimate) else against.ratio,
            against.improvement,
            p_text(against.p_value),
            p_text(against.p_adjusted),
        )
        for label, against in compared.items()
    )
    name = result.marked(result.baseline)
    method = (
        f"{what.capitalize()} minus and over that of {name}, on the same trials, with "
        f"{BOOTSTRAP}; the share of trials with less, ties half, with Wilson's interval; two-sided p-values "
        "of the paired sign-flip test, then corrected for the number of rows (Holm)."
    )
    if result.num_constraints:
        method += " Violating a constraint can lower regret: compare both."
    title = f"{result.environment}: {what} against {name}"
    skewed = statistics.skew_notes(finals, result.baseline)
    return Table(title, header, rows, _notes(result, method, *skewed), name=f"comparison-{metric}")


def p_text(p_value: float) -> str:
    """Return a p-value to three decimals, or "< 0.001"."""
    if np.isnan(p_value):
        return MISSING
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def growth(result: Result) -> Table:
    """Return the exponent of growth of each agent's mean regret over the last decade of rounds."""
    window = (max(result.horizon // 10, 1), result.horizon)
    method = (
        f"Exponent b of mean regret ~ t^b by least squares on logarithms, in rounds {window[0]} to "
        f"{window[1]}, with its 95 % percentile bootstrap interval ({statistics.RESAMPLES} resamples); a "
        "dash where a mean is not positive."
    )
    return _table(result, "growth of regret", {"exponent": lambda x: _slope(result, x, window)}, method)


def safety(result: Result) -> Table:
    """Return the table of unsafe plays, with the number of trials."""
    table = safety_table(result)
    return dataclasses.replace(table, notes=_notes(result, *table.notes))


def spending(result: Result) -> Table:
    """Return the table of budget regret, number of rounds, and budget spent."""
    columns: Columns = {
        "budget regret": lambda x: statistics.bootstrap_interval(result.budget_regret[x][:, -1]),
        "rounds": lambda x: statistics.bootstrap_interval(result.played[x].astype(np.float64)),
        "spent": lambda x: statistics.bootstrap_interval(result.spent[x][:, -1]),
    }
    return _table(result, "budget", columns, SPENDING, f"{BOOTSTRAP}.")


def timing(result: Result) -> Table:
    """Return the table of wall time in `act` and `update`."""
    columns: Columns = {
        "µs a round": lambda x: statistics.bootstrap_interval(result.seconds_per_decision[x] * 1e6),
        "s a trial": lambda x: float(result.seconds[x].mean()),
        "s in all": lambda x: float(result.seconds[x].sum()),
    }
    method = (
        f"Wall time in act and update, with {BOOTSTRAP}; the trials of a batch share its time evenly, and "
        "other programs may have run on the machine."
    )
    return _table(result, "time", columns, method)


def absence(rows: Sequence[tuple[str | int, ...]]) -> Table:
    """Return the table of trials that a study has and its folder lacks."""
    header = ("environment", "agent", "trials done", "failed", "shown here", "of")
    note = "The report shows the leading trials that most agents have in common, so that all can be compared."
    return Table("Missing trials", header, tuple(rows), (note,), name="missing")


def _table(result: Result, what: str, columns: Columns, *notes: str) -> Table:
    return Table.by_agent(result, what, columns, _notes(result, *notes))


def _slope(result: Result, label: str, window: tuple[int, int]) -> statistics.Interval | None:
    try:
        return statistics.log_log_slope(result.regret[label], result.rounds, window)
    except ValueError:  # a resampled mean is not positive, or one round alone was recorded
        return None


def _notes(result: Result, *methods: str) -> tuple[str, ...]:
    trials = "trial" if result.num_trials == 1 else "trials"
    size = f"n = {result.num_trials} {trials} of {result.horizon} rounds, {drawn_from(result)}."
    few = [statistics.FEW] if 1 < result.num_trials < statistics.ENOUGH else []
    return (size, *methods, *few, *footnotes(result))
