"""Tables of a result: summary, comparison, growth of regret, safety, budget, time, stops and alarms."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from agents.stopping.by_name import NEVER
from bandit_envs.basics.arguments import require, require_positive
from gpbandits.evaluation import statistics
from gpbandits.evaluation.columns import (
    COVERAGE,
    SAFETY,
    SIMPLE,
    SPENDING,
    VIOLATION,
    asked_of,
    growth_window,
    has_column,
    order_of,
    tabulated,
)
from gpbandits.evaluation.curves import Curves
from gpbandits.evaluation.formats import MISSING, drawn_from, footnotes
from gpbandits.evaluation.measures import Metric, headed, metric_named, share_of
from gpbandits.evaluation.signals import Stopped
from gpbandits.evaluation.statistics import bootstrap_interval
from gpbandits.evaluation.table import Table

BOOTSTRAP = f"95 % BCa bootstrap intervals over trials ({statistics.RESAMPLES} resamples)"
_SUMMARY = (
    f"Means with {BOOTSTRAP}; the interquartile mean is that of the middle half of the trials. {SIMPLE}"
)
_VIOLATION = (
    "Violating a constraint can lower regret, so both must be read together. {} Agents are undominated if no "
    "other has both less mean regret and less mean violation. " + VIOLATION
)
STOPPED = (
    "A rule is asked after every round, and the agent plays on. Stop: rounds until a rule first said stop, "
    "the horizon where it never did; regret: of the play that is recommended then, below 0 only where it "
    "breaks a cost; violating: share of runs that recommend such a play. A promise is broken where the play "
    "breaks a cost or its regret is above the rule's eps, of the runs that stopped (Wilson's intervals). "
    "Cost-adjusted: regret + "
    "price x cost of all plays until the stop; hindsight: the least of any round."
)


def summary(result: Curves, columns: Sequence[str] | None = None, baseline: str | None = None) -> Table:
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


def comparison(result: Curves, metric: Metric | None = None, baseline: str | None = None) -> Table:
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


def growth(result: Curves) -> Table:
    """Return the exponent of growth of each agent's mean regret over the last decade of rounds."""
    first, last = growth_window(result)
    method = (
        f"Exponent b of mean regret ~ t^b by least squares on logarithms, in rounds {first} to {last}, with "
        f"its 95 % percentile bootstrap interval ({statistics.RESAMPLES} resamples); a dash where a mean is "
        "not positive."
    )
    return tabulated(asked_of(result), "growth of regret", ["exponent"], _notes(result, method))


def safety(result: Curves, sized: bool = True) -> Table:
    """Return unsafe plays, their first round, hard violation and coverage; the notes begin with the size."""
    if not result.num_constraints:
        raise ValueError("a table of safety needs costs, got a result without constraints")
    names = ["unsafe_runs", "unsafe_plays", "first_unsafe", "hard_violation", "coverage"]
    shown = [name for name in names if has_column(result, name)]
    notes = [SAFETY, *([COVERAGE] if "coverage" in shown else [])]
    return tabulated(asked_of(result), "safety", shown, _notes(result, *notes) if sized else notes)


def spending(result: Curves) -> Table:
    """Return the table of budget regret, number of rounds, and budget spent."""
    notes = _notes(result, SPENDING, f"{BOOTSTRAP}.")
    return tabulated(asked_of(result), "budget", ["budget_regret", "played", "spent"], notes)


def timing(result: Curves) -> Table:
    """Return the table of wall time in `act` and `update`."""
    method = (
        "Mean wall time in act and update; the trials of a batch share its time evenly, and other programs "
        "may have run on the machine."
    )
    columns = ["microseconds", "seconds", "seconds_in_all"]
    return tabulated(asked_of(result), "time", columns, _notes(result, method))


def stopping_table(result: Curves, price: float | None = None) -> Table:
    """Return stop, regret and cost of every agent's rules, one row a rule; see `Result.stopping_table`."""
    found = result.stopped
    require(len(found) > 0, "stopping", "given to `evaluate`, or to an agent, for a table of stops", None)
    if price is not None:
        require_positive("price", price, "it is what a unit of cost is worth, in units of the reward")

    def adjusted(rule: Stopped) -> Any:
        charged = rule.price if price is None else price
        return None if charged is None else bootstrap_interval(rule.adjusted(charged))

    def share(of: Any) -> Any:
        return None if of is None or not len(of) else share_of(of)

    columns: dict[str, Callable[[Stopped], Any]] = {
        "stop": lambda x: bootstrap_interval(np.where(x.after == NEVER, result.horizon, x.after)),
        "never": lambda x: float((x.after == NEVER).mean()),
        "regret": lambda x: bootstrap_interval(x.regret),
        "violating": lambda x: share(x.violates),
        "cost-adjusted": adjusted,
        "hindsight": lambda x: None if x.price is None else bootstrap_interval(x.hindsight),
        "promise broken": lambda x: share(x.broken),
    }
    rows = {f"{agent}, {rule}": each for agent, rules in found.items() for rule, each in rules.items()}
    cells = tuple((x, *(cell(rule) for cell in columns.values())) for x, rule in rows.items())
    title = f"{result.environment}: stopping"
    return Table(title, ("agent, rule", *columns), cells, (STOPPED,), name="stopping")


def detection_table(result: Curves) -> Table:
    """Return a table with one row for each agent that detects changes."""
    found = result.detections
    columns: dict[str, Callable[[Any], Any]] = {
        "delay": attrgetter("mean_delay"),
        "missed": attrgetter("missed_share"),
        "false alarms/run": lambda x: bootstrap_interval(x.false_alarms.astype(np.float64)),
        "false alarms/round": attrgetter("false_alarm_rate"),
        "runs with one": attrgetter("false_run_share"),
    }
    rows = tuple(
        (result.marked(x), *(cell(found[x]) for cell in columns.values()))
        for x in result.ordered
        if x in found
    )
    changes = sum(map(len, result.changes))
    notes = (
        f"{changes} changes in {result.num_trials} trials of {result.horizon} rounds, {drawn_from(result)}.",
        "Delay: rounds from a change to the first alarm before the next change; without one the change is "
        "missed. Every other alarm is false.",
    )
    return Table(f"{result.environment}: detection", ("agent", *columns), rows, notes, name="detection")


def absence(rows: Sequence[tuple[str | int, ...]]) -> Table:
    """Return the table of trials that a study has and its folder lacks."""
    header = ("environment", "agent", "trials done", "failed", "shown here", "of")
    note = "The report shows the leading trials that most agents have in common, so that all can be compared."
    return Table("Missing trials", header, tuple(rows), (note,), name="missing")


def _notes(result: Curves, *methods: str) -> tuple[str, ...]:
    trials = "trial" if result.num_trials == 1 else "trials"
    size = f"n = {result.num_trials} {trials} of {result.horizon} rounds, {drawn_from(result)}."
    few = [statistics.FEW] if 1 < result.num_trials < statistics.ENOUGH else []
    return (size, *methods, *few, *footnotes(result))
