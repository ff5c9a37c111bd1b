"""Axes of a tuner's figures: a parameter's places, scale and labels, on a figure that may be given."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats
from bandit_envs.rendering.picture import ShownFigure, figure_of, given_axes, require_size

from ..parameters import Categorical, Integer, Log, Parameter


class ParameterAxis:
    """Axis of a parameter."""

    def __init__(self, name: str, kind: Parameter):
        self.name, self.kind = name, kind

    @property
    def named(self) -> bool:
        """True if values are categories."""
        return isinstance(self.kind, Categorical)

    def values(self, number: int) -> list[Any]:
        """Return distinct values over the range, at most `number`."""
        levels = self.kind.levels
        if levels is not None and len(levels) <= number:
            return list(levels)
        return list(dict.fromkeys(self.kind.at(u) for u in np.linspace(0.0, 1.0, number).tolist()))

    def places(self, values: list[Any]) -> Floats:
        """Return positions of values on the axis, (n,)."""
        kind = self.kind
        if isinstance(kind, Categorical):
            return np.array([kind.choices.index(each) for each in values], dtype=float)
        return np.array(values, dtype=float)

    def label(self, axes: Axes, way: str) -> None:
        """Set name and scale of the x or the y axis."""
        axis, set_scale = getattr(axes, f"{way}axis"), getattr(axes, f"set_{way}scale")
        axis.set_label_text(self.name)
        kind = self.kind
        if isinstance(kind, Categorical):
            axis.set_ticks(range(len(kind.choices)), [str(each) for each in kind.choices])
            axis.set_view_interval(-0.5, len(kind.choices) - 0.5)
        elif isinstance(kind, Log) or (isinstance(kind, Integer) and kind.log):
            set_scale("log")
        elif isinstance(kind, Integer):
            axis.set_major_locator(MaxNLocator(integer=True))


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
