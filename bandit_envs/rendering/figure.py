"""Figures that notebooks show, and axes that users give.

Here, in `picture` and in `panels` alone the environments import matplotlib.
"""

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from bandit_envs.basics.arguments import is_number, require


class ShownFigure(Figure):
    """Define a figure that notebooks show; it has no global state and needs no window system."""

    printed: bool = False  # whether its size is meant for print and kept when saved

    @classmethod
    def of_size(cls, width: float, height: float) -> "ShownFigure":
        """Return an empty figure of this size in inches."""
        figure = cls(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        return figure

    def _repr_png_(self) -> bytes:
        picture = BytesIO()
        self.savefig(picture, format="png", dpi=100, bbox_inches="tight")
        return picture.getvalue()


def given_axes(ax: Any, count: int) -> list[Axes]:
    """Return a user's axes as a list, or raise unless there are `count`."""
    axes = list(np.ravel(np.asarray(ax, dtype=object)))
    usable = len(axes) == count and all(isinstance(each, Axes) for each in axes)
    require(usable, "ax", f"{count} axes of matplotlib", ax)
    return axes


def figure_of(axes: Axes) -> Figure:
    """Return the figure of axes; of a subfigure, the whole figure."""
    return axes.figure.canvas.figure


def require_size(size: Any) -> None:
    """Raise unless the size is a width and a height in inches."""
    usable = isinstance(size, Sequence) and len(size) == 2
    usable = usable and all(is_number(side) and side > 0 for side in size)
    require(usable, "size", "a positive width and height in inches", size)
