"""Metrics: the curves of a result that figures, reports and the board show, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.measures import MEASURES, Measure, Need


class NamedCurve(NamedTuple):
    """A curve of every agent, and its texts."""

    text: str  # in tables and reports
    label: str  # of an axis
    of: Callable[[Any], dict[str, Floats]]  # of `Curves`, (B, T) each
    needs: Need | None = None  # without which it is not shown


def _of_budget(result: Any) -> dict[str, Floats]:
    if not result.budget_regret:
        raise ValueError(f'metric "budget" needs an environment with a budget, got {result.environment}')
    return result.budget_regret


METRICS = {
    "budget": NamedCurve("budget regret", "budget regret (reward units)", _of_budget, "budget"),
    "cumulative": NamedCurve(
        "cumulative regret", "cumulative regret $R_t$ (reward units)", lambda result: result.regret
    ),
    "average": NamedCurve(
        "average regret", "average regret $R_t/t$ (reward units)", lambda result: result.average_regret
    ),
    "simple": NamedCurve(
        "simple regret", "simple regret (reward units)", lambda result: result.simple_regret
    ),
    "average-violation": NamedCurve(
        "average violation",
        r"average violation $\|[\sum_t g(x_t)]^+\|/t$",
        lambda result: result.averaged(result.violation),
        "costs",
    ),
    "average-hard-violation": NamedCurve(
        "average hard violation",
        r"average hard violation $\sum_t \|[g(x_t)]^+\|/t$",
        lambda result: result.averaged(result.hard_violation),
        "costs",
    ),
    "violation": NamedCurve(
        "violation", r"violation $\|[\sum_t g(x_t)]^+\|$", lambda result: result.violation, "costs"
    ),
    "hard-violation": NamedCurve(
        "hard violation",
        r"hard violation $\sum_t \|[g(x_t)]^+\|$",
        lambda result: result.hard_violation,
        "costs",
    ),
    "noisy-violation": NamedCurve(
        "violation of noisy costs",
        r"violation of noisy costs $\|[\sum_t (g(x_t) + \eta_t)]^+\|$",
        lambda result: result.noisy_violation,
        "costs",
    ),
}


def metrics_of(result: Any) -> dict[str, NamedCurve]:
    """Return the metrics that a result has, what agents are ranked by first, measures with a heading last."""
    shown = METRICS | {each.name: _of_measure(each) for each in headed(result)}
    return {name: each for name, each in shown.items() if applies(each.needs, result)}


def metric_named(name: str) -> NamedCurve:
    """Return a metric, or raise the ValueError that names those there are."""
    if name in METRICS:
        return METRICS[name]
    further = {each.name: each for each in MEASURES.values() if each.heading}
    if name not in further:
        raise ValueError(f"unknown metric {name!r}; choose one of {', '.join([*METRICS, *further])}")
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
    return {None: True, "costs": result.num_constraints > 0, "budget": bool(result.spent)}[needs]
