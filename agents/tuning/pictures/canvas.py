"""Where a tuner is drawn: a figure of its own that notebooks show without pyplot, or axes that were given."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from bandit_envs.basics.arguments import is_number, require

WIDTH, HEIGHT = 3.4, 3.2  # inches of a panel beside others; one alone is wider
ALONE = 5.6
COLUMNS = 3  # panels side by side


class ShownFigure(Figure):
    """A figure that a cell of a notebook shows."""

    def _repr_png_(self) -> bytes:
        picture = BytesIO()
        self.savefig(picture, format="png", dpi=100)
        return picture.getvalue()


def axes_for(count: int, ax: Any, size: Any) -> tuple[Figure, list[Axes]]:
    """So many axes and their figure: those given, or new ones of a size in inches."""
    if ax is not None:
        axes = list(np.ravel(np.asarray(ax, dtype=object)))
        usable = len(axes) == count and all(isinstance(each, Axes) for each in axes)
        require(usable, "ax", f"{count} axes of matplotlib", ax)
        require(size is None, "size", "None where axes are given", size)
        return axes[0].figure.canvas.figure, axes
    columns = 2 if count == 4 else min(count, COLUMNS)
    rows = -(-count // columns)
    if size is not None:
        usable = isinstance(size, Sequence) and len(size) == 2
        usable = usable and all(is_number(side) and side > 0 for side in size)
        require(usable, "size", "a positive width and height in inches", size)
    natural = (ALONE if count == 1 else WIDTH * columns, HEIGHT * rows)
    figure = ShownFigure(figsize=natural if size is None else tuple(size), layout="constrained")
    FigureCanvasAgg(figure)  # not pyplot: no window system, no global list of figures
    axes = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for spare in axes[count:]:
        spare.remove()
    return figure, axes[:count]
