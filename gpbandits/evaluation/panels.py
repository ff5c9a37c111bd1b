"""Where curves are drawn: a figure of our own that notebooks show without pyplot, or axes that were given."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from bandit_envs.basics.arguments import is_number, require

WIDTH, MORE = 7.2, 4.6  # inches of the first panel with its legend, and of each further one
HEIGHT = 3.6  # inches at least
LINE = 0.24  # inches of a legend
SPARE = 6  # lines of its title and its notes


class ShownFigure(Figure):
    """A figure that a cell of a notebook shows."""

    def _repr_png_(self) -> bytes:
        picture = BytesIO()
        self.savefig(picture, format="png", dpi=100, bbox_inches="tight")
        return picture.getvalue()


class Panels(NamedTuple):
    """A figure and the axes of it that are drawn on, one a metric."""

    figure: Figure
    axes: list[Axes]

    @staticmethod
    def new(count: int, lines: int, size: tuple[float, float] | None = None) -> Panels:
        """A figure of so many panels, high enough for a legend of so many lines, unless its size is given.

        Args:
            count: of panels, side by side.
            lines: of the legend.
            size: width and height in inches.
        """
        if size is not None:
            _check_size(size)
        natural = (WIDTH + MORE * (count - 1), max(HEIGHT, LINE * (lines + SPARE)))
        figure = ShownFigure(figsize=natural if size is None else size, layout="constrained")
        FigureCanvasAgg(figure)  # not pyplot: no window system, no global list of figures
        return Panels(figure, list(figure.subplots(1, count, squeeze=False)[0]))

    @staticmethod
    def given(ax: Any, count: int) -> Panels:
        """The axes of somebody's figure."""
        axes = list(np.ravel(np.asarray(ax, dtype=object)))
        usable = len(axes) == count and all(isinstance(each, Axes) for each in axes)
        require(usable, "ax", f"{count} axes of matplotlib, one a metric", ax)
        return Panels(axes[0].figure.canvas.figure, axes)  # of a subfigure, the whole


def _check_size(size: Any) -> None:
    usable = isinstance(size, Sequence) and len(size) == 2
    usable = usable and all(is_number(side) and side > 0 for side in size)
    require(usable, "size", "a positive width and height in inches", size)
