"""Figures of a tuner; only this module and those it imports here need matplotlib."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bandit_envs.basics.arguments import require_choice
from bandit_envs.basics.types import Floats

from ..player import QUANTILE
from ..scale import sign_of
from .canvas import axes_for
from .contour import draw_contour
from .drawing import BEST, FAILED, TOLD, Drawing, legend

BELIEF = "0.35"
FINE = 101  # positions along a slice


def draw_history(drawing: Drawing, axes: Sequence[Axes]) -> None:
    """Draw values in the order of the experiments, and the best so far."""
    (ax,), experiments = axes, drawing.experiments
    number = {id(each): i + 1 for i, each in enumerate(experiments)}
    sign, best = sign_of(drawing.plan.goal), -np.inf
    fits = [all(cost <= 0 for cost in each.costs.values()) for each in drawing.told]
    steps: list[tuple[int, float]] = []
    for each, feasible in zip(drawing.told, fits, strict=True):
        value = float(each.value or 0.0)
        label = "value" if feasible else "value, infeasible"
        face = TOLD if feasible else "none"
        ax.plot(number[id(each)], value, "o", ms=4, mec=TOLD, mfc=face, label=label)
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
        places, told = axis.places(grid), drawing.told
        if axis.named:
            ax.errorbar(places, mean, QUANTILE * std, fmt="_", color=BELIEF, capsize=4, ms=12, label="model")
        else:
            ax.plot(places, mean, color=BELIEF, label="model")
            ax.fill_between(places, mean - QUANTILE * std, mean + QUANTILE * std, color="0.85", label="95 %")
        values: Any = [each.value for each in told]
        at = axis.places([each.parameters[name] for each in told])
        ax.plot(at, values, "o", ms=4, color=TOLD, alpha=0.6, label="value")
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
    ax.barh([name for name, _ in ranked], [lost for _, lost in ranked], color=TOLD)
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
    """Draw crosses at the foot of the axes."""
    if len(places):
        foot = np.full(len(places), 0.03)
        ax.plot(places, foot, "x", color=FAILED, transform=ax.get_xaxis_transform(), label="failed")
