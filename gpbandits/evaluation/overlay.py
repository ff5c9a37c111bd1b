"""An overlay is a theoretical curve drawn beside measured ones."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from bandit_envs.basics.types import Floats, Ints
from gpbandits.evaluation.curves import Metric, Scale

Side = Literal["upper", "lower", "slope"]


class Overlay(NamedTuple):
    """An overlay is a bound of a theorem, or a rate; `gpbandits.theory.overlays.bound` makes it by name.

    Args:
        label: text of the legend: the agents concerned, and the sense in which the bound holds.
        side: "upper" or "lower" bound with its constants, or "slope": the values up to an unknown factor.
        rounds: rounds of the values, ending with the horizon, (n,).
        values: bound on the metric, (n,).
        metric: the metric that is bounded.
    """

    label: str
    side: Side
    rounds: Ints
    values: Floats
    metric: Metric = "cumulative"


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
