"""The tables of a report give summaries, comparisons, growth of regret, safety, budgets and time."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from gpbandits.evaluation import statistics
from gpbandits.evaluation.columns import (
    SIMPLE,
    SPENDING,
    VIOLATION,
    asked_of,
    growth_window,
    has_column,
    order_of,
    safety_table,
    tabulated,
)
from gpbandits.evaluation.formats import MISSING
from gpbandits.evaluation.marks import drawn_from, footnotes
from gpbandits.evaluation.measures import headed, metric_named
from gpbandits.evaluation.result import Metric, Result
from gpbandits.evaluation.table import Table

BOOTSTRAP = f"95 % BCa bootstrap intervals over trials ({statistics.RESAMPLES} resamples)"
_SUMMARY = (
    f"Means with {BOOTSTRAP}; the interquartile mean is that of the middle half of the trials. {SIMPLE}"
)
_VIOLATION = (
    "Violating a constraint can lower regret, so both must be read together. {} Agents are undominated if no "
    "other has both less mean regret and less mean violation. " + VIOLATION
)


def summary(result: Result, columns: Sequence[str] | None = None, baseline: str | None = None) -> Table:
    """Return the table of regret at the horizon and, with constraints, of violation; or of given columns."""
    usual = ["hard_violation", result.main_metric, "average_violation", "undominated", "median"]
    usual += [
        "interquartile_mean",
        "average_regret",
        "simple_regret",
        *(each.name for each in headed(result)),
    ]
    shown = [name for name in columns or usual if has_column(result, name)]
    asked = asked_of(result, baseline)
    violation = [_VIOLATION.format(order_of(result))] if result.num_constraints else []
    skewed = statistics.skew_notes(asked.final, asked.baseline)
    return tabulated(asked, "summary", shown, _notes(result, _SUMMARY, *violation, *skewed))


def comparison(result: Result, metric: Metric | None = None, baseline: str | None = None) -> Table:
    """Compare each agent with a baseline on the same trials, by default by the main metric."""
    metric, baseline = metric or result.main_metric, baseline or result.baseline
    what, curves = metric_named(metric).text, result.curves(metric)
    finals = {label: curves[label][:, -1] for label in result.ordered}
    compared = statistics.compare(finals, baseline)
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
    name = result.marked(baseline)
    method = (
        f"{what.capitalize()} minus and over that of {name}, on the same trials, with "
        f"{BOOTSTRAP}; the share of trials with less, ties half, with Wilson's interval; two-sided p-values "
        "of the paired sign-flip test, then corrected for the number of rows (Holm)."
    )
    if result.num_constraints:
        method += " Violating a constraint can lower regret: compare both."
    title = f"{result.environment}: {what} against {name}"
    skewed = statistics.skew_notes(finals, baseline)
    names = ("agent", "difference", "ratio", "improvement", "p_value", "p_adjusted")
    notes = _notes(result, method, *skewed)
    return Table(title, header, rows, notes, name=f"comparison-{metric}", names=names)


def p_text(p_value: float) -> str:
    """Return a p-value to three decimals, or "< 0.001"."""
    if np.isnan(p_value):
        return MISSING
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def growth(result: Result) -> Table:
    """Return the exponent of growth of each agent's mean regret over the last decade of rounds."""
    first, last = growth_window(result)
    method = (
        f"Exponent b of mean regret ~ t^b by least squares on logarithms, in rounds {first} to {last}, with "
        f"its 95 % percentile bootstrap interval ({statistics.RESAMPLES} resamples); a dash where a mean is "
        "not positive."
    )
    return tabulated(asked_of(result), "growth of regret", ["exponent"], _notes(result, method))


def safety(result: Result) -> Table:
    """Return the table of unsafe plays, with the number of trials."""
    table = safety_table(result)
    return dataclasses.replace(table, notes=_notes(result, *table.notes))


def spending(result: Result) -> Table:
    """Return the table of budget regret, number of rounds, and budget spent."""
    notes = _notes(result, SPENDING, f"{BOOTSTRAP}.")
    return tabulated(asked_of(result), "budget", ["budget_regret", "played", "spent"], notes)


def timing(result: Result) -> Table:
    """Return the table of wall time in `act` and `update`."""
    method = (
        "Mean wall time in act and update; the trials of a batch share its time evenly, and other programs "
        "may have run on the machine."
    )
    columns = ["microseconds", "seconds", "seconds_in_all"]
    return tabulated(asked_of(result), "time", columns, _notes(result, method))


def absence(rows: Sequence[tuple[str | int, ...]]) -> Table:
    """Return the table of trials that a study has and its folder lacks."""
    header = ("environment", "agent", "trials done", "failed", "shown here", "of")
    note = "The report shows the leading trials that most agents have in common, so that all can be compared."
    return Table("Missing trials", header, tuple(rows), (note,), name="missing")


def _notes(result: Result, *methods: str) -> tuple[str, ...]:
    trials = "trial" if result.num_trials == 1 else "trials"
    size = f"n = {result.num_trials} {trials} of {result.horizon} rounds, {drawn_from(result)}."
    few = [statistics.FEW] if 1 < result.num_trials < statistics.ENOUGH else []
    return (size, *methods, *few, *footnotes(result))
