"""The tables of a report give summaries, comparisons, growth of regret, safety, budgets and time."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.marks import footnotes
from gpbandits.evaluation.metrics import headed
from gpbandits.evaluation.result import Metric, Result
from gpbandits.evaluation.several import TITLE, overview
from gpbandits.evaluation.statistics import (
    ENOUGH,
    FEW,
    RESAMPLES,
    Interval,
    bootstrap_interval,
    compare,
    interquartile_mean,
    log_log_slope,
    quantile_band,
    skew_notes,
)
from gpbandits.evaluation.table import SAFETY, SIMPLE, SPENDING, first_of, order_of, unsafe_share
from gpbandits.report.across import NAMES
from gpbandits.report.grid import Cell, Grid, p_text
from gpbandits.report.holdings import Count

Columns = Mapping[str, Callable[[str], Cell]]  # heading -> cell of an agent's label
BOOTSTRAP = f"95 % BCa bootstrap intervals over trials ({RESAMPLES} resamples)"
_SUMMARY = (
    f"Means with {BOOTSTRAP}; the interquartile mean is that of the middle half of the trials. {SIMPLE}"
)
_VIOLATION = (
    "Violating a constraint can lower regret, so both must be read together. {} Agents are undominated if no "
    "other has both less mean regret and less mean violation. Hard violation is the sum over rounds of the "
    "norms of the positive parts of the costs; violation is the norm of the positive part of their sums, in "
    "which costs of different signs cancel. Regret may be negative while a constraint is violated."
)
HARD: dict[str, Metric] = {"hard violation": "hard-violation"}
SOFT: dict[str, Metric] = {"violation a round": "average-violation"}


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


def summary(result: Result) -> Grid:
    """Return the table of regret at the horizon and, with constraints, of violation."""
    measures, best = _at_horizon(result), undominated(result)
    hard, violations = _violations(result, HARD), _violations(result, SOFT)
    constrained, final = bool(result.num_constraints), {k: curve[:, -1] for k, curve in result.main.items()}
    rows = tuple(
        (
            result.marked(label),
            *(bootstrap_interval(values[label]) for values in hard.values()),
            bootstrap_interval(final[label]),
            *(bootstrap_interval(values[label]) for values in violations.values()),
            *(["yes" if label in best else "no"] * constrained),
            quantile_band(final[label]),
            float(interquartile_mean(final[label])),
            *(bootstrap_interval(values[label]) if label in values else None for values in measures.values()),
        )
        for label in result.ordered
    )
    header = (
        *("agent", *hard, NAMES[result.main_metric], *violations, *["undominated"] * constrained),
        *("median [10, 90 %]", "interquartile mean", *measures),
    )
    violation = [_VIOLATION.format(order_of(result))] * constrained
    notes = _notes(result, _SUMMARY, *violation, *skew_notes(final, result.baseline))
    return Grid("summary", f"{result.environment}: summary", header, rows, notes)


def all_environments(results: Sequence[Result]) -> Grid:
    """Return the table of mean regret, and violation, of each agent on each environment, the best in bold."""
    found = overview(results)
    return Grid("environments", TITLE, found.header, found.rows, found.notes, found.bold)


def comparison(result: Result, metric: Metric | None = None) -> Grid:
    """Compare each agent with the baseline on the same trials, by default by the main metric."""
    metric = metric or result.main_metric
    what, curves = NAMES[metric], result.curves(metric)
    finals = {label: curves[label][:, -1] for label in result.ordered}
    compared = compare(finals, result.baseline)
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
    skewed = skew_notes(finals, result.baseline)
    return Grid(f"comparison-{metric}", title, header, rows, _notes(result, method, *skewed))


def growth(result: Result) -> Grid:
    """Return the exponent of growth of each agent's mean regret over the last decade of rounds."""
    window = (max(result.horizon // 10, 1), result.horizon)
    method = (
        f"Exponent b of mean regret ~ t^b by least squares on logarithms, in rounds {window[0]} to "
        f"{window[1]}, with its 95 % percentile bootstrap interval ({RESAMPLES} resamples); a dash "
        "where a mean is not positive."
    )
    return _grid(result, "growth of regret", {"exponent": lambda x: _slope(result, x, window)}, method)


def safety(result: Result) -> Grid:
    """Return the table of unsafe plays: share of runs, number a run, and first round."""
    plays, first = result.unsafe_plays, result.first_unsafe
    columns: Columns = {
        "runs with an unsafe play": lambda x: unsafe_share(plays[x]),
        "unsafe plays a run": lambda x: bootstrap_interval(plays[x][:, -1].astype(np.float64)),
        "first unsafe round": lambda x: first_of(first[x]),
    }
    return _grid(result, "safety", columns, SAFETY)


def spending(result: Result) -> Grid:
    """Return the table of budget regret, number of rounds, and budget spent."""
    columns: Columns = {
        "budget regret": lambda x: bootstrap_interval(result.budget_regret[x][:, -1]),
        "rounds": lambda x: bootstrap_interval(result.played[x].astype(np.float64)),
        "spent": lambda x: bootstrap_interval(result.spent[x][:, -1]),
    }
    return _grid(result, "budget", columns, SPENDING, f"{BOOTSTRAP}.")


def timing(result: Result) -> Grid:
    """Return the table of wall time in `act` and `update`."""
    columns: Columns = {
        "µs a round": lambda x: bootstrap_interval(result.seconds_per_decision[x] * 1e6),
        "s a trial": lambda x: float(result.seconds[x].mean()),
        "s in all": lambda x: float(result.seconds[x].sum()),
    }
    method = (
        f"Wall time in act and update, with {BOOTSTRAP}; the trials of a batch share its time evenly, and "
        "other programs may have run on the machine."
    )
    return _grid(result, "time", columns, method)


def absence(counts: list[Count]) -> Grid:
    """Return the table of trials that a study has and its folder lacks."""
    rows = tuple(
        (count.environment, count.agent, count.done, count.failed, count.shown, count.total)
        for count in counts
        if not count.complete
    )
    header = ("environment", "agent", "trials done", "failed", "shown here", "of")
    note = "The report shows the leading trials that most agents have in common, so that all can be compared."
    return Grid("missing", "Missing trials", header, rows, (note,))


def _grid(result: Result, what: str, columns: Columns, *notes: str) -> Grid:
    """Return a table with a row for each agent, in order, named by its first word."""
    rows = tuple(
        (result.marked(label), *(cell(label) for cell in columns.values())) for label in result.ordered
    )
    title = f"{result.environment}: {what}"
    return Grid(what.split()[0], title, ("agent", *columns), rows, _notes(result, *notes))


def _at_horizon(result: Result) -> Mapping[str, dict[str, Floats]]:
    """Return further measures at the last round, by column, (B,) an agent."""
    further = {each.heading: each.name for each in headed(result)}
    return _last(result, {"average regret": "average", "simple regret": "simple"} | further)


def _violations(result: Result, columns: Mapping[str, Metric]) -> Mapping[str, dict[str, Floats]]:
    """Return violation at the last round, by column, (B,) an agent; nothing without constraints."""
    return _last(result, columns if result.num_constraints else {})


def _last(result: Result, columns: Mapping[str, Metric]) -> dict[str, dict[str, Floats]]:
    return {
        name: {label: curve[:, -1] for label, curve in result.curves(metric).items()}
        for name, metric in columns.items()
    }


def _slope(result: Result, label: str, window: tuple[int, int]) -> Interval | None:
    inside = (result.rounds >= window[0]) & (result.rounds <= window[1])
    if inside.sum() < 2:
        return None
    try:
        return log_log_slope(result.regret[label], result.rounds, window)
    except ValueError:  # a resampled mean is not positive
        return None


def _notes(result: Result, *methods: str) -> tuple[str, ...]:
    trials = "trial" if result.num_trials == 1 else "trials"
    size = f"n = {result.num_trials} {trials} of {result.horizon} rounds, seed {result.seed}."
    few = [FEW] if 1 < result.num_trials < ENOUGH else []
    return (size, *methods, *few, *footnotes(result))
