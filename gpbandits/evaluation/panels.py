"""Where curves are drawn: panels with their legends and scales, insets, and bounds of theorems."""

import textwrap
from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy.optimize import isotonic_regression

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats
from bandit_envs.rendering.picture import ShownFigure, figure_of, given_axes, require_size
from gpbandits.evaluation.curves import Curves
from gpbandits.evaluation.formats import marks_in
from gpbandits.evaluation.measures import Overlay

WIDTH, MORE = 7.2, 4.6  # inches of the first panel with its legend, and of each further one
HEIGHT = 3.6  # inches at least
LINE = 0.24  # inches of a legend
ACROSS = 3  # panels in a row at most
PRINT = {"column": 3.3, "page": 6.9}  # inches of a column and of a page of two of them
PRINT_HEIGHT = 2.3  # inches of its axes
HANDLE, LETTER = 0.62, 0.05  # inches of a legend's line beside its label, and of a letter of that
FONT = 7.0  # points, of print
Size = str | tuple[float, float] | None  # "column", "page", or inches
SPARE = 6  # lines of its title and its notes
FLAT = 4.0  # a curve is flattened if the highest point of all is so many times its end
ROOM = 1.08  # the top of the inset relative to the highest of the lower curves
CLOSER = 2.0  # least enlargement of an inset
SIZE = (0.38, 0.36)  # of the inset, in shares of the axes
LABELS = (0.07, 0.08), (0.0, 0.05)  # space of its numbers on the left and below, and of its title above
HIDDEN = 0.02  # share of a curve's length that may lie behind the inset
# Its lower left corners.
PLACES = ((0.1, 0.59), (0.58, 0.59), (0.58, 0.15), (0.1, 0.32), (0.58, 0.32), (0.34, 0.59))
PIECES = 400  # of a curve, of equal length
GREYS = ("0.25", "0.45", "0.6")
DASHES = {"upper": (0, (8, 2)), "lower": "-", "slope": ":"}
LAST = 30.0  # a slope is drawn from T / 30 to T
LABEL_GAP = 0.17  # inches between labels at the ends of curves
BELOW = 0.6  # a slope ends at this share of the lowest curve's end


class Panels(NamedTuple):
    """Panels are a figure and its axes, one a metric."""

    figure: Figure
    axes: list[Axes]

    @staticmethod
    def new(count: int, lines: int, size: Size = None) -> "Panels":
        """Make panels in rows of `ACROSS`, high enough for a legend of so many lines if no size is given.

        In the width of print the legend is beneath, and in a column panels are stacked.
        """
        if isinstance(size, str):
            expected = '"column", "page" or a positive width and height in inches'
            require(size in PRINT, "size", expected, size)
            rows = count if size == "column" else -(-count // ACROSS)
            figure = ShownFigure.of_size(PRINT[size], rows * PRINT_HEIGHT)
            figure.printed = True
            return _divided(figure, count, rows)
        if size is not None:
            require_size(size)
        rows, across = -(-count // ACROSS), min(count, ACROSS)
        natural = (WIDTH + MORE * (across - 1), max(rows * HEIGHT, LINE * (lines + SPARE)))
        return _divided(ShownFigure.of_size(*(natural if size is None else size)), count, rows)

    @staticmethod
    def given(ax: Any, count: int) -> "Panels":
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


def _divided(figure: Figure, count: int, rows: int) -> Panels:
    """Divide a figure into so many panels in rows, the last of which may be shorter."""
    axes = list(figure.subplots(rows, -(-count // rows), squeeze=False).flat)
    for spare in axes[count:]:
        spare.remove()
    return Panels(figure, axes[:count])


BESIDE: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1)}
LOOK: dict[str, Any] = {"frameon": False, "alignment": "left", "handlelength": 3}  # of a legend


def tidy(axes: Axes, **grid: Any) -> None:
    """Leave the lower and left borders, and put a pale grid behind the data."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="0.9", linewidth=0.6, **grid)
    axes.set_axisbelow(True)


def flattened(means: Sequence[Floats]) -> list[int]:
    """Return the curves that end below a quarter of the highest point of all means, if they are several."""
    highest, ends = max(float(mean.max()) for mean in means), [float(mean[-1]) for mean in means]
    low = [i for i, end in enumerate(ends) if FLAT * end <= highest]
    return low if len(low) > 1 and max(ends[i] for i in low) > 0 else []


def add_inset(axes: Axes, means: Sequence[tuple[Floats, Floats]]) -> Axes | None:
    """Draw the flattened curves of finished axes again in an inset that hides no curve.

    The inset is None if no curve is flattened, there is no free place, or it would enlarge too little.
    """
    low = flattened([mean for _, mean in means])
    place = _emptiest(axes, means)
    if not low or place is None:
        return None
    heights = np.concatenate([mean[len(mean) // 2 :] for _, mean in (means[i] for i in low)])  # once settled
    bottom, top = min(0.0, float(heights.min())), ROOM * float(heights.max())
    if CLOSER * (top - bottom) > np.ptp(axes.get_ylim()):
        return None
    inset = axes.inset_axes((*place, *SIZE))
    for band in axes.collections:
        if isinstance(band, PolyCollection):
            outlines: Any = [path.vertices for path in band.get_paths()]
            inset.add_collection(PolyCollection(outlines, facecolors=band.get_facecolor(), linewidths=0))
    for line in axes.lines:
        look = {"linestyle": line.get_linestyle(), "linewidth": line.get_linewidth()}
        inset.plot(*line.get_data(), color=line.get_color(), **look)
    inset.set(xlim=axes.get_xlim(), ylim=(bottom, top))
    inset.tick_params(labelsize="x-small", length=2)
    inset.locator_params(nbins=3)
    inset.set_title("the lower ones", fontsize="x-small", pad=2)
    inset.patch.set_alpha(0.9)
    return inset


def _emptiest(axes: Axes, means: Sequence[tuple[Floats, Floats]]) -> tuple[float, float] | None:
    """Return the place that hides the least of any curve, the first of equals; None if all hide some."""
    axes.autoscale_view()  # limits are only set when drawn
    to_share = axes.transData + axes.transAxes.inverted()
    curves = [_evenly(to_share.transform(np.column_stack(pair))) for pair in means]
    before, after = LABELS  # its numbers and its title hide curves too
    boxes = [(np.subtract(place, before), np.add(place, SIZE) + after) for place in PLACES]
    behind = [[((x >= low) & (x <= high)).all(axis=1).mean() for x in curves] for low, high in boxes]
    hidden = [float(max(shares)) for shares in behind]
    return PLACES[int(np.argmin(hidden))] if min(hidden) <= HIDDEN else None


def _evenly(points: Floats) -> Floats:
    length = np.concatenate([[0.0], np.hypot(*np.diff(points, axis=0).T).cumsum()])
    along = np.linspace(0.0, length[-1], PIECES)
    return np.column_stack([np.interp(along, length, each) for each in points.T])


def draw_overlays(axes: Axes, bounds: Sequence[Overlay], ends: Floats) -> None:
    """Draw bounds; the positive last values of the curves, (n,), set the level of slopes."""
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


def literal(label: str) -> str:
    """Escape a label for matplotlib, which reads "$" as mathematics and hides labels that begin with "_"."""
    escaped = label.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def explain(panels: Panels, result: Curves, order: Sequence[str], inside: bool) -> None:
    """Draw one legend of all panels: right of the last, inside of a user's axes, or beneath in print."""
    last = panels.axes[-1]
    marks = marks_in([result])
    for mark in () if panels.printed else marks:
        last.plot([], [], " ", label=mark.legend)
    handles: dict[str, Any] = {}
    for axes in panels.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    place = {literal(result.marked(label)): i for i, label in enumerate(order)}
    handles = {label: handles[label] for label in sorted(handles, key=lambda x: place.get(x, len(place)))}
    title = f"mean of {result.num_trials} trials\nand 95 % interval" if result.num_trials > 1 else "one trial"
    given = list(handles.values()), list(handles)
    look = {"title": title, **LOOK}
    if inside:  # what is beside them is the user's
        last.legend(*given, loc="best", fontsize="small", title_fontsize="small", **look)
    elif panels.printed:
        broad = int(panels.figure.get_figwidth() / (1.2 * LETTER))
        notes = [textwrap.fill(mark.footnote, broad) for mark in marks]
        look["title"] = "\n".join([title.replace("\n", " "), *notes])
        look |= {"ncols": panels.columns(given[1]), "fontsize": FONT, "columnspacing": 1, "labelspacing": 0.3}
        panels.figure.legend(*given, loc="outside lower left", **look)
    else:
        last.legend(*given, **BESIDE, **look)


def make_logarithmic(axes: Axes, which: str) -> None:
    """Make "xy" or "y" logarithmic, with the range of all means that share y, since a band may reach zero."""
    lines = [line for each in axes.get_shared_y_axes().get_siblings(axes) for line in each.lines]
    means = np.concatenate([np.asarray(line.get_ydata(), dtype=np.float64) for line in lines])
    positive = means[means > 0]
    if "x" in which:
        axes.set_xscale("log")
    if positive.size:  # else a logarithmic axis would be empty
        axes.set_yscale("log", nonpositive="clip")
        axes.set_ylim(positive.min() / 1.5, positive.max() * 1.5)


def label_ends(axes: Axes, labels: Sequence[str]) -> None:
    """Write each agent's label at the right end of its curve, in its colour, without overlap."""
    lines = axes.lines[: len(labels)]
    axes.autoscale_view()
    to_share = axes.transData + axes.transAxes.inverted()
    ends = np.array([to_share.transform(line.get_xydata()[-1])[1] for line in lines])  # pyright: ignore
    gap = LABEL_GAP / (axes.get_position().height * figure_of(axes).get_figheight())
    place = _spaced(np.clip(ends, 0.0, 1.0), gap)
    for line, label, y in zip(lines, labels, place, strict=True):
        axes.text(1.02, y, literal(label), transform=axes.transAxes, va="center", color=line.get_color())


def _spaced(places: Floats, gap: float) -> Floats:
    """Move places on a line apart by at least `gap`, as little as can be, in their order."""
    order, steps, moved = np.argsort(places, kind="stable"), gap * np.arange(len(places)), places.copy()
    moved[order] = isotonic_regression(places[order] - steps).x + steps
    return moved
