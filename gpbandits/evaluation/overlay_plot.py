"""Bounds of theorems are drawn in grey over the curves of a figure, and rates without a level."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from matplotlib.axes import Axes

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.overlay import Overlay

GREYS = ("0.25", "0.45", "0.6")
DASHES = {"upper": (0, (8, 2)), "lower": "-", "slope": ":"}
LAST = 30.0  # a slope is drawn from T / 30 to T
BELOW = 0.6  # a slope ends at this share of the lowest curve's end


def draw_overlays(axes: Axes, bounds: Sequence[Overlay], ends: Floats) -> None:
    """Draw bounds.

    Args:
        axes: axes of the figure.
        bounds: the bounds to draw.
        ends: positive last values of the curves, (n,), which set the level of slopes.
    """
    level = BELOW * float(ends.min()) if ends.size else 1.0
    for i, each in zip(count(), bounds):
        colour = GREYS[i % len(GREYS)]
        if each.side == "slope":
            shown = each.rounds >= each.rounds[-1] / LAST
            values = each.values[shown] * level / each.values[-1]
            axes.plot(each.rounds[shown], values, color=colour, linestyle=":", label=each.label)
            level *= BELOW  # the next one below
        elif len(each.rounds) == 1:
            axes.plot(each.rounds, each.values, "_", color=colour, markersize=14, label=each.label)
        else:
            axes.plot(each.rounds, each.values, color=colour, linestyle=DASHES[each.side], label=each.label)
