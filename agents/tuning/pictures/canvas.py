"""The figure of a tuner's plot: a new one, or given axes."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bandit_envs.basics.arguments import require
from bandit_envs.rendering.figures import ShownFigure, figure_of, given_axes, require_size

WIDTH, HEIGHT = 3.4, 3.2  # inches of a panel among several
ALONE = 5.6
COLUMNS = 3  # panels in a row


def axes_for(count: int, ax: Any, size: Any) -> tuple[Figure, list[Axes]]:
    """Return `count` axes and their figure: the given ones, or new ones of a size in inches."""
    if ax is not None:
        axes = given_axes(ax, count)
        require(size is None, "size", "None where axes are given", size)
        return figure_of(axes[0]), axes
    columns = 2 if count == 4 else min(count, COLUMNS)
    rows = -(-count // columns)
    if size is not None:
        require_size(size)
    natural = (ALONE if count == 1 else WIDTH * columns, HEIGHT * rows)
    figure = ShownFigure.of_size(*(natural if size is None else size))
    axes = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for spare in axes[count:]:
        spare.remove()
    return figure, axes[:count]
