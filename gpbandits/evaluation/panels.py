"""Curves are drawn on panels of a new figure, for the screen or for print, or on given axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from bandit_envs.basics.arguments import require
from bandit_envs.rendering.figures import ShownFigure, figure_of, given_axes, require_size

WIDTH, MORE = 7.2, 4.6  # inches of the first panel with its legend, and of each further one
HEIGHT = 3.6  # inches at least
LINE = 0.24  # inches of a legend
PRINT = {"column": 3.3, "page": 6.9}  # inches of a column and of a page of two of them
PRINT_HEIGHT = 2.3  # inches of its axes
HANDLE, LETTER = 0.62, 0.05  # inches of a legend's line beside its label, and of a letter of that
FONT = 7.0  # points, of print
Size = str | tuple[float, float] | None  # "column", "page", or inches
SPARE = 6  # lines of its title and its notes


class Panels(NamedTuple):
    """Panels are a figure and its axes, one a metric."""

    figure: Figure
    axes: list[Axes]

    @staticmethod
    def new(count: int, lines: int, size: Size = None) -> Panels:
        """Make a figure that is high enough for its legend, unless its size is given.

        Args:
            count: number of panels in a row.
            lines: number of lines of the legend.
            size: "column" or "page" for print, or width and height in inches.
        """
        if isinstance(size, str):
            return _printed(count, size)
        if size is not None:
            require_size(size)
        natural = (WIDTH + MORE * (count - 1), max(HEIGHT, LINE * (lines + SPARE)))
        figure = ShownFigure.of_size(*(natural if size is None else size))
        return Panels(figure, list(figure.subplots(1, count, squeeze=False)[0]))

    @staticmethod
    def given(ax: Any, count: int) -> Panels:
        """Return panels on given axes of another figure."""
        axes = given_axes(ax, count)
        return Panels(figure_of(axes[0]), axes)

    @property
    def printed(self) -> bool:
        """Return True if the figure has a size of print, with its legend beneath."""
        return getattr(self.figure, "printed", False)

    def columns(self, labels: Sequence[str]) -> int:
        """Return the number of columns that fit into a legend beneath with these labels."""
        longest = max(map(len, labels), default=0)
        return max(1, int(self.figure.get_figwidth() / (HANDLE + LETTER * longest)))

    def fit(self) -> None:
        """Set text, lines and height of a figure for print; others stay as they are."""
        if not self.printed:
            return
        for axes in [each for panel in self.axes for each in (panel, *panel.child_axes)]:
            axes.tick_params(labelsize=FONT if axes in self.axes else FONT - 1.0)
            for line in axes.lines:
                line.set(linewidth=1.0, markersize=3.0)
        for text in self.figure.findobj(Text):
            text.set_fontsize(min(text.get_fontsize(), FONT))
        renderer = FigureCanvasAgg(self.figure).get_renderer()
        legends = [each.get_window_extent(renderer).height / self.figure.dpi for each in self.figure.legends]
        self.figure.set_figheight(self.figure.get_figheight() + sum(legends))


def _printed(count: int, size: str) -> Panels:
    """Make panels in the width of print, with the legend beneath; in a column they are stacked."""
    require(size in PRINT, "size", '"column", "page" or a positive width and height in inches', size)
    rows = count if size == "column" else 1
    figure = ShownFigure.of_size(PRINT[size], rows * PRINT_HEIGHT)
    figure.printed = True
    panels = figure.subplots(rows, count // rows, squeeze=False)
    return Panels(figure, list(panels.flat))
