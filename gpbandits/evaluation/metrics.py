"""Metrics: the curves of a result that figures, reports and the board show, by name."""

from collections.abc import Callable
from operator import attrgetter
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


def _regret(text: str, symbol: str, attribute: str) -> NamedCurve:
    return NamedCurve(text, f"{text} {symbol}(reward units)", attrgetter(attribute))


def _violation(text: str, symbol: str, attribute: str) -> NamedCurve:
    def of(result: Any) -> dict[str, Floats]:
        values = getattr(result, attribute)
        return result.averaged(values) if text.startswith("average") else values

    return NamedCurve(text, f"{text} {symbol}", of, "costs")


METRICS = {
    "budget": NamedCurve("budget regret", "budget regret (reward units)", _of_budget, "budget"),
    "cumulative": _regret("cumulative regret", "$R_t$ ", "regret"),
    "average": _regret("average regret", "$R_t/t$ ", "average_regret"),
    "simple": _regret("simple regret", "", "simple_regret"),
    "average-violation": _violation("average violation", r"$\|[\Sigma_t\, g(x_t)]^+\|/t$", "violation"),
    "average-hard-violation": _violation(
        "average hard violation", r"$\Sigma_t\, \|[g(x_t)]^+\|/t$", "hard_violation"
    ),
    "violation": _violation("violation", r"$\|[\Sigma_t\, g(x_t)]^+\|$", "violation"),
    "hard-violation": _violation("hard violation", r"$\Sigma_t\, \|[g(x_t)]^+\|$", "hard_violation"),
    "noisy-violation": _violation(
        "violation of noisy costs", r"$\|[\Sigma_t\, (g(x_t) + \eta_t)]^+\|$", "noisy_violation"
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
