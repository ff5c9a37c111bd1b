"""Curves of regret and violation are drawn for papers, colour-blind-safe and without global state."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bandit_envs.basics.arguments import is_count, require, require_known
from bandit_envs.basics.types import Floats, Ints
from gpbandits.evaluation.curves import Axis, Curves, Legend
from gpbandits.evaluation.formats import DASHES, GREY, footnotes, marks_in, styles
from gpbandits.evaluation.measures import Metric, Overlay, Scale, check_overlays, metric_named
from gpbandits.evaluation.panels import (
    BESIDE,
    LOOK,
    Panels,
    Size,
    add_inset,
    draw_overlays,
    explain,
    label_ends,
    literal,
    make_logarithmic,
    tidy,
)
from gpbandits.evaluation.record import budget_grid, over_budget
from gpbandits.evaluation.statistics import Interval, bootstrap_interval

SUFFIXES = (".pdf", ".png", ".svg")
Training = tuple[Ints, Floats]  # steps, and the mean regret of a round at each, (n,)

_SPACINGS: dict[Scale, Callable[..., Floats]] = {"linear": np.linspace, "log-log": np.geomspace}
_MARKER_GAP = 0.15  # between markers of a curve, as a share of the axes' diagonal
_BINS = 60  # bins of alarms
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
            make_logarithmic(axes, "y")
        heights = [np.asarray(line.get_ydata(), dtype=np.float64) for line in axes.lines]
        cut = axes.get_yscale() == "log" and any((y <= 0.0).any() for y in heights)
        axes.set_ylabel(metric_named(each).label + ",\nwhere positive" * cut)
        if legend == "direct":
            label_ends(axes, [result.marked(label) for label in values])
    head = panels.figure.suptitle if ax is None and len(panels.axes) > 1 else panels.axes[0].set_title
    head(result.environment if title is None else title)
    if legend == "outside":
        explain(panels, result, order or result.ordered, inside=ax is not None)
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


def _finish(axes: Axes, result: Curves, scale: Scale) -> None:
    axes.set_xlabel("round $t$")
    tidy(axes)
    if scale == "log-log":
        make_logarithmic(axes, "xy")
    else:
        axes.set_xlim(0, result.horizon)
        axes.xaxis.set_major_locator(MaxNLocator(_TICKS, integer=True))
        axes.update_datalim([(0.0, 0.0)])  # limits stay automatic: other axes may share them
        for artist in (*axes.lines, *axes.collections):
            artist.sticky_edges.y[:] = [0.0]
        axes.autoscale_view(scalex=False)


def learning_figure(
    result: Curves,
    learners: Mapping[str, Any],
    *,
    points: int = 40,
    ax: Axes | None = None,
    size: Size = None,
    title: str | None = None,
) -> Figure:
    """Draw regret a round over training steps, and that of a result's agents as lines; see `Result`."""
    named = isinstance(learners, Mapping) and len(learners) > 0
    require(named, "learners", "label -> a RegretCallback, or several, one a seed", learners)
    require(is_count(points), "points", "a positive integer", points)
    trained = {label: _trainings(label, given) for label, given in learners.items()}
    lines = len(trained) + len(result.agents) + 2 * len(marks_in([result]))
    panels = Panels.new(1, lines, size) if ax is None else Panels.given(ax, 1)
    (axes,) = panels.axes
    for (label, runs), style in zip(trained.items(), styles(len(trained)), strict=True):
        steps, (mean, low, high) = learning_curve(runs, points)
        seeds = f"{len(runs)} seeds" if len(runs) > 1 else "1 seed"
        axes.fill_between(steps, low, high, color=style.colour, alpha=0.18, linewidth=0)
        axes.plot(steps, mean, color=style.colour, linewidth=1.4, label=literal(f"{label}, {seeds}"))
    for label, dashes in zip(result.ordered, DASHES[1:] * len(result.agents), strict=False):
        level, named = float(result.average_regret[label][:, -1].mean()), literal(result.marked(label))
        axes.axhline(level, color="0.35", linestyle=dashes, linewidth=1.1, label=named)
    axes.autoscale_view(scalex=False)  # which axhline leaves out where a line lies in the margin
    for mark in marks_in([result]):
        axes.plot([], [], " ", label=mark.legend)
    axes.set(xlabel="training steps", ylabel="regret a round (reward units)")
    axes.set_title(result.environment if title is None else title)
    tidy(axes)
    said = f"lines: {result.num_trials} trials\nof {result.horizon} rounds"
    axes.legend(**BESIDE, **LOOK, title=said)
    panels.fit()
    return panels.figure


def learning_curve(runs: Sequence[Training], points: int) -> tuple[Floats, Interval]:
    """Return the last steps of equal stretches of training, (n,), and the regret a round in each.

    The estimate is the mean over seeds with its 95 % bootstrap interval, up to the shortest training.
    """
    shortest = min(len(steps) for steps, _ in runs)
    parts = [part for part in np.array_split(np.arange(shortest), points) if len(part)]
    means = np.array([[regret[part].mean() for part in parts] for _, regret in runs])
    return np.array([runs[0][0][part[-1]] for part in parts], dtype=np.float64), bootstrap_interval(means)


def _trainings(label: str, given: Any) -> list[Training]:
    """Return the histories of one learner's seeds; raise unless each has rounds."""
    runs = list(given) if isinstance(given, list | tuple) else [given]
    found = [getattr(each, "history", None) for each in runs]
    used = [each for each in found if each is not None and len(each[0])]
    expected = "a RegretCallback that a model has learnt with, or several"
    require(len(used) == len(runs) > 0, f"learners[{label!r}]", expected, given)
    return used
