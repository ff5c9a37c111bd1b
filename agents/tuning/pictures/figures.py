"""Figures of a tuner."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bandit_envs.basics.arguments import require, require_choice
from bandit_envs.basics.types import Floats
from bandit_envs.rendering.picture import ShownFigure, figure_of, given_axes, require_size

from ..feasibility import LIKELY, feasibility_of
from ..history import Experiment, TunerRound
from ..parameters import Categorical, Integer, Log, Parameter
from ..plan import TunerPlan
from ..player import QUANTILE
from ..reading import Reading
from ..scale import sign_of
from ..space import Values


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


VALUE_COLOUR, BEST, FAILED = "tab:blue", "tab:orange", "tab:red"


@dataclass
class Drawing:
    """Data of a tuner's figure."""

    plan: TunerPlan
    rounds: Sequence[TunerRound]
    experiments: Sequence[Experiment]
    best: Experiment | None
    parameters: Sequence[str] | None  # None draws all, or for a contour the two most important
    context: Values | None  # of the drawn model; None for that of the latest experiment

    def __post_init__(self) -> None:
        require(self.rounds, "tuner", "one with experiments, to draw them", "none")
        known, given = self.plan.parameters.kinds, self.parameters
        listed = given is None or (len(given) > 0 and not isinstance(given, str) and set(given) <= set(known))
        require(listed, "parameters", f"names of {', '.join(known)}", given)
        if self.context is None:
            self.context = dict(self.rounds[-1].context)

    @cached_property
    def reading(self) -> Reading:
        """The model, computed on access because not all figures draw it."""
        return Reading(self.plan, self.rounds, self.context or {})

    def in_state(self, state: str) -> list[Experiment]:
        """Return experiments in a state."""
        return [each for each in self.experiments if each.state == state]

    @property
    def names(self) -> list[str]:
        """Names of the drawn parameters."""
        return list(self.plan.parameters.kinds if self.parameters is None else self.parameters)

    @property
    def centre(self) -> Values:
        """Parameters at which slices cross: those of the best experiment, or of the latest value."""
        return dict((self.best or self.in_state("told")[-1]).parameters)

    def axis(self, name: str) -> ParameterAxis:
        """Return the axis of one parameter."""
        return ParameterAxis(name, self.plan.parameters.kinds[name])

    def features(self, changed: Sequence[Values]) -> Floats:
        """Return features of the centre with some values changed, (n, d)."""
        centre = self.centre
        return np.array([self.plan.parameters.features({**centre, **each}) for each in changed])


def legend(ax: Axes) -> None:
    """Draw one legend entry a label, above all axes."""
    handles, labels = ax.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    ax.figure.legend(
        once.values(), once.keys(), loc="outside upper center", ncols=5, columnspacing=1.0, frameon=False
    )


COARSE, LEVELS = 41, 12  # positions along each side, and levels of the mean


def draw_contour(drawing: Drawing, axes: Sequence[Axes]) -> None:
    """Draw the model's mean over two parameters through the best experiment, and likely failures."""
    (ax,) = axes
    across, up = (drawing.axis(name) for name in _pair(drawing))
    columns, rows = across.values(COARSE), up.values(COARSE)
    grid = [{across.name: x, up.name: y} for y in rows for x in columns]
    features, shape = drawing.features(grid), (len(rows), len(columns))
    mean = drawing.reading.predict(features)[0].reshape(shape)
    x, y = across.places(columns), up.places(rows)
    smooth = not (across.named or up.named) and min(shape) > 1
    drawn = ax.contourf(x, y, mean, LEVELS) if smooth else ax.pcolormesh(x, y, mean, shading="nearest")
    ax.figure.colorbar(drawn, ax=ax, label="mean value by the model")
    for state, marker, style in (
        ("told", "o", {"mfc": "white", "mec": "black", "ms": 5}),
        ("failed", "X", {"mfc": FAILED, "mec": "white", "ms": 8}),
        ("pending", "s", {"mfc": "0.7", "mec": "black", "ms": 6}),
    ):
        some = [each.parameters for each in drawing.in_state(state)]
        if some:
            at = [axis.places([each[axis.name] for each in some]) for axis in (across, up)]
            ax.plot(*at, marker, ls="none", label=state, clip_on=False, zorder=3, **style)
    if drawing.best:
        at = [axis.places([drawing.best.parameters[axis.name]]) for axis in (across, up)]
        ax.plot(*at, "*", ms=14, mfc=BEST, mec="black", ls="none", label="best", clip_on=False, zorder=4)
    _draw_border(drawing, ax, x, y, features, shape, smooth)
    across.label(ax, "x")
    up.label(ax, "y")
    legend(ax)


def _pair(drawing: Drawing) -> list[str]:
    if drawing.parameters is not None:
        require(len(drawing.names) == 2, "parameters", "two names, of a contour", drawing.parameters)
        return drawing.names
    require(len(drawing.names) > 1, "kind", "another one where there is a single parameter", "contour")
    worth = drawing.reading.importance
    chosen = sorted(drawing.names, key=lambda name: -worth[name])[:2]
    return [name for name in drawing.names if name in chosen]


def _draw_border(
    drawing: Drawing, ax: Axes, x: Floats, y: Floats, features: Floats, shape: tuple[int, int], smooth: bool
) -> None:
    believed = feasibility_of(drawing.plan, drawing.rounds)
    if believed is None or not smooth:
        return
    context = drawing.plan.contexts.features(drawing.context or {})
    points = np.hstack([np.broadcast_to(context, (len(features), len(context))), features])
    probability = believed.probability(points).reshape(shape)
    ax.contourf(x, y, probability, [0.0, LIKELY], colors="none", hatches=["///"])
    if probability.min() < LIKELY < probability.max():
        ax.contour(x, y, probability, [LIKELY], colors=FAILED, linestyles="--")
        ax.plot([], [], color=FAILED, ls="--", label="half fail")


BELIEF = "0.35"
FINE = 101  # positions along a slice


def draw_history(drawing: Drawing, axes: Sequence[Axes]) -> None:
    """Draw values in the order of the experiments, and the best so far."""
    (ax,), experiments = axes, drawing.experiments
    number = {id(each): i + 1 for i, each in enumerate(experiments)}
    sign, best = sign_of(drawing.plan.goal), -np.inf
    steps: list[tuple[int, float]] = []
    for each in drawing.in_state("told"):
        feasible = all(cost <= 0 for cost in each.costs.values())
        value = float(each.value or 0.0)
        label = "value" if feasible else "value, infeasible"
        face = VALUE_COLOUR if feasible else "none"
        ax.plot(number[id(each)], value, "o", ms=4, mec=VALUE_COLOUR, mfc=face, label=label)
        best = max(best, sign * value) if feasible else best
        if np.isfinite(best):
            steps.append((number[id(each)], sign * best))
    if steps:
        steps.append((len(experiments), steps[-1][1]))
        ax.step(*zip(*steps, strict=True), where="post", color=BEST, label="best so far", zorder=0)
    _mark_failures(ax, [number[id(each)] for each in drawing.in_state("failed")])
    ax.set(xlabel="experiment", ylabel="value")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend(ax)


def draw_slices(drawing: Drawing, axes: Sequence[Axes]) -> None:
    """Draw the model along each parameter through the best experiment, with all values."""
    for name, ax in zip(drawing.names, axes, strict=True):
        axis = drawing.axis(name)
        grid = axis.values(FINE)
        mean, std = drawing.reading.predict(drawing.features([{name: each} for each in grid]))
        places, measured = axis.places(grid), drawing.in_state("told")
        if axis.named:
            ax.errorbar(places, mean, QUANTILE * std, fmt="_", color=BELIEF, capsize=4, ms=12, label="model")
        else:
            ax.plot(places, mean, color=BELIEF, label="model")
            ax.fill_between(places, mean - QUANTILE * std, mean + QUANTILE * std, color="0.85", label="95 %")
        values: Any = [each.value for each in measured]
        at = axis.places([each.parameters[name] for each in measured])
        ax.plot(at, values, "o", ms=4, color=VALUE_COLOUR, alpha=0.6, label="value")
        if drawing.best:
            best: Any = axis.places([drawing.best.parameters[name]]), drawing.best.value
            ax.plot(*best, "*", ms=12, color=BEST, label="best")
        _mark_failures(ax, axis.places([each.parameters[name] for each in drawing.in_state("failed")]))
        axis.label(ax, "x")
        ax.set_ylabel("value")
    legend(axes[0])


def draw_importance(drawing: Drawing, axes: Sequence[Axes]) -> None:
    """Draw the correlation lost over each parameter's range, see `Reading.importance`."""
    (ax,) = axes
    ranked = sorted(drawing.reading.importance.items(), key=lambda item: item[1])
    ax.barh([name for name, _ in ranked], [lost for _, lost in ranked], color=VALUE_COLOUR)
    ax.set(xlim=(0.0, 1.0), xlabel="correlation lost over the range, 1 - min k(x, x') / k(x, x)")


KINDS: dict[str, Callable[[Drawing, Sequence[Axes]], None]] = {
    "history": draw_history,
    "slices": draw_slices,
    "contour": draw_contour,
    "importance": draw_importance,
}


def draw(drawing: Drawing, kind: str, ax: Any, size: Any, path: str | os.PathLike[str] | None) -> Figure:
    """Return a figure of a tuner; see `Tuner.plot`."""
    require_choice("kind", kind, KINDS)
    figure, axes = axes_for(len(drawing.names) if kind == "slices" else 1, ax, size)
    KINDS[kind](drawing, axes)
    if path is not None:
        figure.savefig(path, dpi=200)
    return figure


def _mark_failures(ax: Axes, places: Sequence[float] | Floats) -> None:
    if len(places):
        foot = np.full(len(places), 0.03)
        ax.plot(places, foot, "x", color=FAILED, transform=ax.get_xaxis_transform(), label="failed")
