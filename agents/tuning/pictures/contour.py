"""The contour plot of a tuner's model over two parameters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats

from ..feasibility import feasibility_of
from .drawing import BEST, FAILED, Drawing, legend

COARSE, LEVELS = 41, 12  # positions along each side, and levels of the mean
LIKELY = 0.5  # probability of success at the drawn border


def draw_contour(drawing: Drawing, axes: Sequence[Axes]) -> None:
    """Draw the model's mean over two parameters through the best experiment, and likely failures."""
    (ax,) = axes
    across, up = (drawing.axis(name) for name in _pair(drawing))
    columns, rows = across.values(COARSE), up.values(COARSE)
    grid = [{across.name: x, up.name: y} for y in rows for x in columns]
    features, shape = drawing.features(grid), (len(rows), len(columns))
    mean = drawing.reading.predict(features)[0].reshape(shape)
    x, y = across.places(columns), up.places(rows)
    smooth = not (across.named or up.named) and min(shape) > 1
    drawn = ax.contourf(x, y, mean, LEVELS) if smooth else ax.pcolormesh(x, y, mean, shading="nearest")
    ax.figure.colorbar(drawn, ax=ax, label="mean value by the model")
    for state, marker, style in (
        ("told", "o", {"mfc": "white", "mec": "black", "ms": 5}),
        ("failed", "X", {"mfc": FAILED, "mec": "white", "ms": 8}),
        ("pending", "s", {"mfc": "0.7", "mec": "black", "ms": 6}),
    ):
        some = [each.parameters for each in drawing.in_state(state)]
        if some:
            at = [axis.places([each[axis.name] for each in some]) for axis in (across, up)]
            ax.plot(*at, marker, ls="none", label=state, clip_on=False, zorder=3, **style)
    if drawing.best:
        at = [axis.places([drawing.best.parameters[axis.name]]) for axis in (across, up)]
        ax.plot(*at, "*", ms=14, mfc=BEST, mec="black", ls="none", label="best", clip_on=False, zorder=4)
    _draw_border(drawing, ax, x, y, features, shape, smooth)
    across.label(ax, "x")
    up.label(ax, "y")
    legend(ax)


def _pair(drawing: Drawing) -> list[str]:
    if drawing.parameters is not None:
        require(len(drawing.names) == 2, "parameters", "two names, of a contour", drawing.parameters)
        return drawing.names
    require(len(drawing.names) > 1, "kind", "another one where there is a single parameter", "contour")
    worth = drawing.reading.importance
    chosen = sorted(drawing.names, key=lambda name: -worth[name])[:2]
    return [name for name in drawing.names if name in chosen]


def _draw_border(
    drawing: Drawing, ax: Axes, x: Floats, y: Floats, features: Floats, shape: tuple[int, int], smooth: bool
) -> None:
    """Draw the border where a success is as likely as a failure."""
    believed = feasibility_of(drawing.plan, drawing.rounds)
    if believed is None or not smooth:
        return
    context = drawing.plan.contexts.features(drawing.context or {})
    points = np.hstack([np.broadcast_to(context, (len(features), len(context))), features])
    probability = believed.probability(points).reshape(shape)
    ax.contourf(x, y, probability, [0.0, LIKELY], colors="none", hatches=["///"])
    if probability.min() < LIKELY < probability.max():
        ax.contour(x, y, probability, [LIKELY], colors=FAILED, linestyles="--")
        ax.plot([], [], color=FAILED, ls="--", label="half fail")
