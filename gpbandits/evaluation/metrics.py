"""Metrics: the curves of a result that figures show, by name; overlays: theoretical curves beside them."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from bandit_envs.basics.arguments import require_known
from bandit_envs.basics.types import Floats, Ints
from gpbandits.evaluation.measures import MEASURES, Measure, Need

Metric = str  # a name in `METRICS`, or of a measure with a heading
Scale = Literal["linear", "log-log"]  # of the axes on which they are drawn
Side = Literal["upper", "lower", "slope"]


class NamedCurve(NamedTuple):
    """A curve of every agent, and its texts."""

    text: str  # in tables and reports
    label: str  # of an axis
    of: Callable[[Any], dict[str, Floats]]  # of `Curves`, (B, T) each
    needs: Need | None = None  # without which it is not shown


def _of_budget(result: Any) -> dict[str, Floats]:
    if not result.budget_regret:
        raise ValueError(
            f'metric "budget_regret" needs an environment with a budget, got {result.environment}'
        )
    return result.budget_regret


def _of_plays(result: Any) -> dict[str, Floats]:
    if not result.has_simple_regret:
        raise ValueError(
            f'metric "simple_regret" needs functions that do not drift, got {result.environment}'
        )
    return result.simple_regret


def _violation(text: str, symbol: str, attribute: str) -> NamedCurve:
    def of(result: Any) -> dict[str, Floats]:
        values = getattr(result, attribute)
        return result.averaged(values) if text.startswith("average") else values

    return NamedCurve(text, f"{text} {symbol}", of, "costs")


METRICS = {
    "budget_regret": NamedCurve("budget regret", "budget regret (reward units)", _of_budget, "budget"),
    "regret": NamedCurve("regret", "cumulative regret $R_t$ (reward units)", attrgetter("regret")),
    "average_regret": NamedCurve(
        "average regret", "average regret $R_t/t$ (reward units)", attrgetter("average_regret")
    ),
    "simple_regret": NamedCurve("simple regret", "simple regret (reward units)", _of_plays, "constancy"),
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
    for each in bounds:
        if not isinstance(each, Overlay):
            made = "gpbandits.theory.overlays.bound(name, problem, agent)"
            raise ValueError(f"bounds must be overlays made by {made}, got {each!r}")
        if each.rounds[-1] != horizon:
            raise ValueError(
                f"bounds must be of the result's {horizon} rounds, got {each.label!r} of {each.rounds[-1]}"
            )
        if each.metric not in metrics:
            drawn = " or ".join(metrics)
            raise ValueError(f"bounds must be on the {drawn} drawn, got {each.label!r} on {each.metric}")
        if each.side == "slope" and scale != "log-log":
            raise ValueError(
                f'scale must be "log-log" for {each.label!r}, a rate without a level, got {scale!r}'
            )
