"""Curves of regret and violation are drawn for papers, colour-blind-safe and without global state."""

import os
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.optimize import isotonic_regression

from bandit_envs.basics.arguments import require, require_known
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.rendering.picture import figure_of
from gpbandits.evaluation.curves import Axis, Curves, Legend
from gpbandits.evaluation.formats import GREY, footnotes, marks_in, styles
from gpbandits.evaluation.measures import Metric, Overlay, Scale, check_overlays, metric_named
from gpbandits.evaluation.panels import (
    BESIDE,
    FONT,
    LETTER,
    LOOK,
    Panels,
    Size,
    add_inset,
    draw_overlays,
    tidy,
)
from gpbandits.evaluation.record import budget_grid, over_budget
from gpbandits.evaluation.statistics import bootstrap_interval

SUFFIXES = (".pdf", ".png", ".svg")

_SPACINGS: dict[Scale, Callable[..., Floats]] = {"linear": np.linspace, "log-log": np.geomspace}
_MARKER_GAP = 0.15  # between markers of a curve, as a share of the axes' diagonal
_BINS = 60  # bins of alarms
_LABEL_GAP = 0.17  # inches between labels at the ends of curves
_TICKS = 6  # most ticks on an axis of rounds, since labels such as 25000 are wide
_POINTS = 200  # points of a curve: more cannot be seen in print


def regret_figure(
    result: Curves,
    scale: Scale | None = None,
    metric: Metric | Sequence[Metric] | None = None,
    bounds: Sequence[Overlay] = (),
    *,
    x: Axis = "round",
    ax: Axes | Sequence[Axes] | None = None,
    size: Size = None,
    title: str | None = None,
    legend: Legend = "outside",
    inset: bool = False,
    order: Sequence[str] | None = None,
    highlight: Sequence[str] | None = None,
) -> Figure:
    """Draw the mean over trials of each agent's regret or violation, with its 95 % bootstrap interval.

    Change-points that all trials share are marked, and the alarms of a single trial. What the table marks,
    such as pretrained policies, the legend marks. Bounds of theorems are drawn in grey. Over the spent budget
    each trial counts with its value at that budget. The legend has the `order` of some labels, or that of
    `result.ordered`; `Result.plot` describes the other arguments.
    """
    if scale is not None:
        require_known("scale", scale, _SPACINGS)
    require(legend in (False, "outside", "direct"), "legend", 'False, "outside" or "direct"', legend)
    require_known("x", x, get_args(Axis))
    if x == "spent" and not result.spent:
        raise ValueError('x must be "round" where plays cost nothing, got "spent"')
    if x == "spent" and bounds:
        raise ValueError("bounds must be left out over what is spent: they are stated by round")
    require(ax is None or size is None, "size", "left out beside ax, whose figure has one", size)
    metric = result.main_metric if metric is None else metric
    several = isinstance(metric, Sequence) and len(metric) > 0
    require(several, "metric", "the name of a metric or several of them", metric)
    metrics: list[Metric] = [metric] if isinstance(metric, str) else list(metric)
    check_overlays(bounds, result.horizon, scale or "linear", metrics)
    curves = [result.curves(each) for each in metrics]
    lines = len(result.agents) + len(bounds)
    panels = Panels.new(len(metrics), lines, size) if ax is None else Panels.given(ax, len(metrics))
    for axes, each, values in zip(panels.axes, metrics, curves, strict=True):
        if x == "spent":
            _draw_over_spent(axes, result, scale or "linear", values, highlight)
        else:
            here = [bound for bound in bounds if bound.metric == each]
            _draw_panel(axes, result, scale or "linear", values, here, inset, highlight)
        if scale is None and each == "simple_regret":
            _make_logarithmic(axes, "y")
        heights = [np.asarray(line.get_ydata(), dtype=np.float64) for line in axes.lines]
        cut = axes.get_yscale() == "log" and any((y <= 0.0).any() for y in heights)
        axes.set_ylabel(metric_named(each).label + ",\nwhere positive" * cut)
        if legend == "direct":
            _label_ends(axes, [result.marked(label) for label in values])
    head = panels.figure.suptitle if ax is None and len(panels.axes) > 1 else panels.axes[0].set_title
    head(result.environment if title is None else title)
    if legend == "outside":
        _explain(panels, result, order or result.ordered, inside=ax is not None)
    elif legend == "direct" and ax is None and (notes := footnotes(result)):
        beneath: dict[str, Any] = {"loc": "outside lower left", "frameon": False, "alignment": "left"}
        panels.figure.legend([], [], title="\n".join(notes), title_fontsize="small", **beneath)
    panels.fit()
    return panels.figure


def _draw_panel(
    axes: Axes,
    result: Curves,
    scale: Scale,
    curves: dict[str, Floats],
    bounds: Sequence[Overlay],
    inset: bool,
    highlight: Sequence[str] | None,
) -> None:
    index = visible(result.rounds, scale)
    shown = {label: values[:, index] for label, values in curves.items()}
    colours = _draw_curves(axes, result, result.rounds[index], shown, highlight)
    for label in result.alarms if result.num_trials == 1 else ():
        up, alarms = axes.get_xaxis_transform(), result.alarms[label][0]
        axes.vlines(alarms + 1, 0, 0.05, color=colours[label], linewidth=1.4, transform=up)
    _mark_changes(axes, result)
    ends = np.array([values[:, -1].mean() for values in curves.values()])
    means = [(np.asarray(line.get_xdata()), np.asarray(line.get_ydata())) for line in axes.lines]
    draw_overlays(axes, bounds, ends[ends > 0])
    _finish(axes, result, scale)
    if inset and scale == "linear" and not bounds:
        add_inset(axes, means)


def _draw_over_spent(
    axes: Axes, result: Curves, scale: Scale, curves: dict[str, Floats], highlight: Sequence[str] | None
) -> None:
    grid = budget_grid(list(result.spent.values()))
    shown = {label: over_budget(values, result.spent[label], grid) for label, values in curves.items()}
    _draw_curves(axes, result, grid, shown, highlight)
    _finish(axes, result, scale)
    axes.set_xlabel("spent budget")
    if scale == "linear":
        axes.set_xlim(0, grid[-1])


def _draw_curves(
    axes: Axes,
    result: Curves,
    at: Ints | Floats,
    curves: Mapping[str, Floats],
    highlight: Sequence[str] | None,
) -> dict[str, str]:
    """Draw each mean with its interval, in grey where others are highlighted; return the colours."""
    colours = {}
    for i, (label, style) in enumerate(zip(curves, styles(len(curves)), strict=True)):
        colours[label] = style.colour if highlight is None or label in highlight else GREY
        mean, low, high = bootstrap_interval(curves[label])
        axes.fill_between(at, low, high, color=colours[label], alpha=0.18, linewidth=0)
        look: dict[str, Any] = {"color": colours[label], "linestyle": style.dashes, "linewidth": 1.4}
        apart = (_MARKER_GAP * (i + 0.5) / len(curves), _MARKER_GAP)
        look |= {"marker": style.marker, "markersize": 4, "markevery": apart}
        axes.plot(at, mean, label=literal(result.marked(label)), **look)
    return colours


def alarm_figure(result: Curves) -> Figure:
    """Alarms a trial in each of at most `_BINS` equal stretches of time, of each agent that detects."""
    alarms = result.alarms
    if not alarms:
        raise ValueError("alarms need an agent that detects changes, with an attribute alarms, got none")
    figure, (axes,) = Panels.new(1, len(alarms))
    edges = np.linspace(0, result.horizon, min(_BINS, result.horizon) + 1)
    for (label, rows), (colour, dashes, _) in zip(alarms.items(), styles(len(alarms)), strict=True):
        height = np.histogram(np.concatenate(rows), edges)[0] / result.num_trials
        look: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": 1.4}
        axes.stairs(height, edges, label=literal(result.marked(label)), **look)
    _mark_changes(axes, result)
    axes.set(title=result.environment, xlabel="round $t$", ylabel="alarms a trial and stretch")
    axes.set_xlim(0, result.horizon)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(**BESIDE, **LOOK)
    return figure


def _mark_changes(axes: Axes, result: Curves) -> None:
    """Draw a line at each change-point if all trials have the same ones."""
    first, *others = result.changes
    if len(first) and all(np.array_equal(first, other) for other in others):
        look: dict[str, Any] = {"color": "0.4", "linestyle": ":", "linewidth": 1, "label": "change-point"}
        axes.vlines(first + 1, 0, 1, transform=axes.get_xaxis_transform(), **look)


def save_figure(figure: Figure, path: str | os.PathLike[str] | None) -> Figure:
    """Write the figure at 300 dpi in the format of the path's suffix, with text as text in PDF and SVG.

    A figure of a size of print keeps its width; others are cropped. Without a path nothing is written.
    """
    if path is None:
        return figure
    if Path(path).suffix not in SUFFIXES:
        raise ValueError(f"a figure's path must end in one of {', '.join(SUFFIXES)}, got {path}")
    # Journals refuse matplotlib's default, type 3 fonts; an SVG of outlines cannot be edited or searched.
    with rc_context({"pdf.fonttype": 42, "svg.fonttype": "none"}):
        figure.savefig(path, dpi=300, bbox_inches=None if getattr(figure, "printed", False) else "tight")
    return figure


def visible(rounds: Ints, scale: Scale, points: int = _POINTS) -> Ints:
    """Return the indices of at most so many rounds, evenly spread on the scale of the axis."""
    wanted = _SPACINGS[scale](rounds[0], rounds[-1], points)
    return np.unique(np.searchsorted(rounds, np.rint(wanted)).clip(max=len(rounds) - 1))


def literal(label: str) -> str:
    """Escape a label for matplotlib, which reads "$" as mathematics and hides labels that begin with "_"."""
    escaped = label.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def _finish(axes: Axes, result: Curves, scale: Scale) -> None:
    axes.set_xlabel("round $t$")
    tidy(axes)
    if scale == "log-log":
        _make_logarithmic(axes, "xy")
    else:
        axes.set_xlim(0, result.horizon)
        axes.xaxis.set_major_locator(MaxNLocator(_TICKS, integer=True))
        axes.update_datalim([(0.0, 0.0)])  # limits stay automatic: other axes may share them
        for artist in (*axes.lines, *axes.collections):
            artist.sticky_edges.y[:] = [0.0]
        axes.autoscale_view(scalex=False)


def _explain(panels: Panels, result: Curves, order: Sequence[str], inside: bool) -> None:
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


def _make_logarithmic(axes: Axes, which: str) -> None:
    """Make "xy" or "y" logarithmic, with the range of all means that share y, since a band may reach zero."""
    lines = [line for each in axes.get_shared_y_axes().get_siblings(axes) for line in each.lines]
    means = np.concatenate([np.asarray(line.get_ydata(), dtype=np.float64) for line in lines])
    positive = means[means > 0]
    if "x" in which:
        axes.set_xscale("log")
    if positive.size:  # else a logarithmic axis would be empty
        axes.set_yscale("log", nonpositive="clip")
        axes.set_ylim(positive.min() / 1.5, positive.max() * 1.5)


def _label_ends(axes: Axes, labels: Sequence[str]) -> None:
    """Write each agent's label at the right end of its curve, in its colour, without overlap."""
    lines = axes.lines[: len(labels)]
    axes.autoscale_view()
    to_share = axes.transData + axes.transAxes.inverted()
    ends = np.array([to_share.transform(line.get_xydata()[-1])[1] for line in lines])  # pyright: ignore
    gap = _LABEL_GAP / (axes.get_position().height * figure_of(axes).get_figheight())
    place = _spaced(np.clip(ends, 0.0, 1.0), gap)
    for line, label, y in zip(lines, labels, place, strict=True):
        axes.text(1.02, y, literal(label), transform=axes.transAxes, va="center", color=line.get_color())


def _spaced(places: Floats, gap: float) -> Floats:
    """Move places on a line apart by at least `gap`, as little as can be, in their order."""
    order, steps, moved = np.argsort(places, kind="stable"), gap * np.arange(len(places)), places.copy()
    moved[order] = isotonic_regression(places[order] - steps).x + steps
    return moved
