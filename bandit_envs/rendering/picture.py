"""Figures that notebooks show and axes that users give; a scene as an RGB array or a figure for print.

Here and in `panels` alone the environments import matplotlib.
"""

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.rendering import panels
from bandit_envs.rendering.scene import Limits, Scene

SIZE = (6.4, 4.8)  # inches of 100 pixels
# Fixed, in shares of the figure: a computed layout takes as long as the drawing, and moves between the
# frames of a film.
MARGINS = {"left": 0.125, "right": 0.975, "bottom": 0.14, "top": 0.93, "hspace": 0.35}
TWO_ROWS = 0.175  # at the bottom, for two rows of the legend
IN_A_ROW = 5  # entries of the legend; more would be cut off
BESIDE = {"right": 0.87, "top": 0.88, "wspace": 0.4}  # of a plane, with space for colour bars
PRINT_FONT = 7.0  # points
PRINT_WIDTH = 6.9  # inches
MAPS = {"truth": "true function", "mean": "posterior mean", "std": "posterior std"}  # of two features


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


def draw(scene: Scene, limits: Limits | None = None) -> NDArray[np.uint8]:
    """Draw a scene, (480, 640, 3), with the axes of a film, if their limits are given."""
    limits = limits or Limits.of([scene])
    figure = Figure(figsize=SIZE, dpi=100)
    canvas = FigureCanvasAgg(figure)
    plane = scene.features.shape[1] == 2
    scored = limits.scored and not plane and not scene.cost_beliefs
    costs = [f"cost {j}" for j, _ in enumerate(scene.cost_beliefs, start=1)]
    axes = _laid_out(figure, costs, plane, scored, scene.belief is not None)
    if plane:
        panels.draw_plane(axes, scene, limits)
    else:
        panels.draw_line(axes["truth"], scene, limits)
    if scored:
        panels.draw_scores(axes["scores"], scene, limits)
        axes["scores"].set_xlim(axes["truth"].get_xlim())
        axes["scores"].xaxis.labelpad = 0
        axes["truth"].set(xlabel="", xticklabels=())
    for j, belief in enumerate(scene.cost_beliefs):
        (panels.draw_cost_plane if plane else panels.draw_cost)(axes[f"cost {j + 1}"], scene, j, belief)
    if costs and not plane:
        _share_line([axes["truth"], *(axes[cost] for cost in costs)], scene)
    panels.draw_time(axes["time"], scene, limits)
    title = f"{scene.title or scene.name}: {scene.total} of {scene.horizon} rounds"
    figure.suptitle(f"{title}, regret {scene.regret:.3g}", fontsize="medium", y=0.985)
    handles = axes["truth"].get_legend_handles_labels()
    columns = _columns(len(handles[0]))
    look = {"frameon": False, "fontsize": panels.FILM_FONT, "handletextpad": 0.4}
    look |= {"handlelength": 1.5, "columnspacing": 1.2}  # five entries fit into a row
    figure.legend(*handles, loc="lower center", ncols=columns, borderaxespad=0.2, **look)
    if columns < len(handles[0]):
        figure.subplots_adjust(bottom=TWO_ROWS)
    canvas.draw()
    return np.array(canvas.buffer_rgba())[:, :, :3]


def _laid_out(figure: Figure, costs: list[str], plane: bool, scored: bool, believed: bool) -> dict[str, Any]:
    """Return the axes of a picture by name: the truth, what is below or beside it, and the time."""
    places: Any  # pyright and matplotlib disagree on the type of lists of lists of texts
    widths: tuple[int, ...] = (1,)
    if plane and believed:
        beside = ["mean", "std", *costs]
        places, widths = [*(["truth", each] for each in beside), ["time", "time"]], (3, 2)
        heights = (*(4 / len(beside) for _ in beside), 1)
    elif scored:
        places, heights = [["truth"], ["scores"], ["time"]], (4, 1.6, 1)
    else:
        places, heights = [["truth"], *([each] for each in costs), ["time"]], (4, *(2 for _ in costs), 1)
    layout = MARGINS | (BESIDE if plane else {})
    if plane or scored:
        layout |= {"hspace": 0.5 + 0.2 * len(costs) if plane else 0.45}  # a map has a title
    return figure.subplot_mosaic(places, height_ratios=heights, width_ratios=widths, gridspec_kw=layout)


def strip(rows: Sequence[Sequence[Scene]], limits: Sequence[Limits]) -> ShownFigure:
    """Draw rounds for print, 6.9 inches wide: a row an agent, with its acquisition or maps below."""
    if rows[0][0].features.shape[1] == 2:
        believed = any(scene.belief is not None for row in rows for scene in row)
        heights = dict.fromkeys(MAPS if believed else ["truth"], min(1.7, PRINT_WIDTH / len(rows[0])))
    else:
        heights = {"truth": 2.0, "scores": 1.0} if limits[0].scored else {"truth": 1.7}
    figure = ShownFigure.of_size(PRINT_WIDTH, 0.6 + len(rows) * sum(heights.values()))
    figure.printed = True
    number, ratios = len(heights), [*heights.values()] * len(rows)
    shape: dict[str, Any] = {"nrows": len(ratios), "ncols": len(rows[0]), "height_ratios": ratios}
    grid = figure.subplots(**shape, squeeze=False, sharex=True, sharey="row")
    for i, row in enumerate(rows):
        for j, scene in enumerate(row):
            places = dict(zip(heights, grid[i * number : (i + 1) * number, j], strict=True))
            _draw_column(places, scene, limits[i], last=j == len(row) - 1)
        if len(rows) > 1:
            axes = grid[i * number, 0]
            axes.set_ylabel(f"{row[0].title.partition(' on ')[0]}\n{axes.get_ylabel()}")
    for axes in grid.flat:
        axes.label_outer()
        axes.tick_params(labelsize=PRINT_FONT)
        for line in axes.lines:
            line.set_markersize(0.75 * line.get_markersize())
        for text in (axes.title, axes.xaxis.label, axes.yaxis.label):
            text.set_fontsize(PRINT_FONT)
    legends = (axes.get_legend_handles_labels() for axes in grid[::number, 0])
    named = [each for legend in legends for each in zip(*legend, strict=True)]
    labels = {label: handle for handle, label in named}
    look = {"ncols": _columns(len(labels)), "frameon": False, "fontsize": PRINT_FONT}
    figure.legend([*labels.values()], [*labels], loc="outside lower center", **look)
    return figure


def _draw_column(places: dict[str, Any], scene: Scene, limits: Limits, last: bool) -> None:
    """Draw a round of an agent; maps have their scales beside the last column."""
    bottom = [*places.values()][-1]
    if scene.features.shape[1] == 2:
        panels.draw_plane(places, scene, limits, bars=last)
        for place, axes in places.items():
            axes.set(title="", xlabel="", ylabel=MAPS[place], xticks=(), yticks=())
        bottom.set_xlabel(scene.context)
    else:
        panels.draw_line(places["truth"], scene, limits)
        if "scores" in places:
            panels.draw_scores(places["scores"], scene, limits)
        bottom.set_xlabel(panels.name_of_line(scene, "\n"))
        bottom.xaxis.set_major_locator(MaxNLocator(3))
    places["truth"].set_title(f"round {scene.total + 1}" if scene.following is not None else "the end")


def _columns(entries: int) -> int:
    """Return the columns of a legend, in two rows where one would be cut off."""
    return entries if entries <= IN_A_ROW else -(-entries // 2)


def _share_line(column: Sequence[Any], scene: Scene) -> None:
    """Name the horizontal axis of panels, one below another, at the last of them."""
    for axes in column:
        axes.set(xlim=column[0].get_xlim(), xlabel="")
    for axes in column[:-1]:
        axes.set_xticklabels(())
    column[-1].set_xlabel(panels.name_of_line(scene), fontsize=panels.FILM_FONT, labelpad=1)
