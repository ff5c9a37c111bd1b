"""A curve that theory puts beside measured ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from bandit_envs.basics.types import Floats, Ints
from gpbandits.evaluation.curves import Metric, Scale

Side = Literal["upper", "lower", "slope"]


class Overlay(NamedTuple):
    """A bound of a theorem, or a rate; `gpbandits.theory.overlays.bound` makes them by name.

    Args:
        label: what the legend says: of whom, and in what sense it holds.
        side: "upper" or "lower" bound with its constants, or "slope": the values up to an unknown factor.
        rounds: at which it is stated, the last of them the horizon, (n,).
        values: of the metric, (n,).
        metric: what it bounds.
    """

    label: str
    side: Side
    rounds: Ints
    values: Floats
    metric: Metric = "cumulative"


def check_overlays(bounds: Sequence[Overlay], horizon: int, scale: Scale, metrics: Sequence[Metric]) -> None:
    """Raise unless all of them belong to a figure of this horizon, scale and these metrics."""
    for each in bounds:
        if not isinstance(each, Overlay):
            made = "gpbandits.theory.overlays.bound(name, problem, agent)"
            raise ValueError(f"bounds must be what {made} returns, got {each!r}")
        if each.rounds[-1] != horizon:
            raise ValueError(
                f"bounds must be of the result's {horizon} rounds, got {each.label!r} of {each.rounds[-1]}"
            )
        if each.metric not in metrics:
            drawn = " or ".join(metrics)
            raise ValueError(f"bounds must be on the {drawn} drawn, got {each.label!r} on {each.metric}")
        if each.side == "slope" and scale != "log-log":
            raise ValueError(
                f'scale must be "log-log" for {each.label!r}, a rate that has no level, got {scale!r}'
            )
