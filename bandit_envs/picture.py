"""A scene as an RGB array; the only module of the environments that needs matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure  # not pyplot: no global state, no screen
from numpy.typing import NDArray

from bandit_envs.scene import Scene

SIZE = (6.4, 4.8)  # inches of 100 pixels
TRUTH, PLAYS, BEST, SHADE = "tab:blue", "tab:orange", "tab:red", "0.85"


def draw(scene: Scene) -> NDArray[np.uint8]:
    """Draw a scene, (480, 640, 3)."""
    figure = Figure(figsize=SIZE, dpi=100, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    if scene.features.shape[1] == 2:
        _draw_plane(figure, axes, scene)
    else:
        _draw_line(axes, scene)
    axes.set_title(f"{scene.name}: {scene.total} of {scene.horizon} rounds, regret {scene.regret:.3g}")
    if scene.changes.size:
        _draw_timeline(axes, scene)
    figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize="small")
    canvas.draw()
    return np.array(canvas.buffer_rgba())[:, :, :3]


def _draw_timeline(axes: Any, scene: Scene) -> None:
    """The run as a bar on top of the axes: what is played is dark, change-points are ticks."""
    bar = axes.inset_axes((0.0, 1.005, 1.0, 0.02))
    bar.barh(0, scene.total, color="0.5", height=1.0)
    bar.vlines(scene.changes, -0.5, 0.5, color=BEST, lw=2, label="change-point")
    bar.set(xlim=(0, scene.horizon), ylim=(-0.5, 0.5), xticks=[], yticks=[])


def _draw_line(axes: Any, scene: Scene) -> None:
    """Reward over the feature of an arm, or over its rank where it has several."""
    line = np.argsort(scene.order)
    x, truth = scene.order[line], scene.truth[line]
    if not scene.feasible.all():
        axes.fill_between(
            x, 0, 1, where=~scene.feasible[line], step="mid", color=SHADE, lw=0,
            transform=axes.get_xaxis_transform(), label="infeasible",
        )  # fmt: skip
    marker = "." if len(x) <= 100 else ""
    axes.plot(x, truth, color=TRUTH, marker=marker, label="mean reward", zorder=2)
    _draw_plays(axes, scene, scene.places, scene.observed)
    best = scene.best
    axes.axhline(scene.optimum, color=BEST, lw=0.8, ls="--", zorder=1)
    axes.plot(
        scene.order[best], scene.truth[best], "*", color=BEST, ms=12, ls="none", label="optimum", zorder=4
    )
    axes.set_xlabel("x" if scene.features.shape[1] == 1 else "arms, from worst to best")
    axes.set_ylabel("reward")


def _draw_plane(figure: Figure, axes: Any, scene: Scene) -> None:
    """Reward as colour over two features."""
    x, y = scene.features.T
    tiled = len(x) > 1000
    look = {"marker": "s", "lw": 0.8, "edgecolors": "face"} if tiled else {"lw": 0.3, "edgecolors": "0.5"}
    size = min(np.prod(SIZE) * 72**2 * 0.55 / len(x), 120.0)
    # Blue alone, so that plays of any other colour are seen on it.
    dots = axes.scatter(x, y, c=scene.truth, cmap="Blues", s=size, zorder=1, **look)
    figure.colorbar(dots, ax=axes, label="mean reward")
    if not scene.feasible.all():
        axes.plot(
            *scene.features[~scene.feasible].T, "x", color="0.5", ls="none", label="infeasible", zorder=2
        )
    _draw_plays(axes, scene, *scene.plays.T)
    axes.plot(
        *scene.features[scene.best], "*", color=BEST, mec="white", ms=14, ls="none", label="optimum", zorder=4
    )
    axes.set(xlabel="$x_1$", ylabel="$x_2$")


def _draw_plays(axes: Any, scene: Scene, x: Any, y: Any) -> None:
    """Arrived plays filled, pending and lost ones hollow."""
    style = {"color": PLAYS, "marker": "o", "ms": 6, "ls": "none", "zorder": 3}
    axes.plot(x[scene.arrived], y[scene.arrived], mec="white", mew=0.5, label="arrived", **style)
    axes.plot(x[~scene.arrived], y[~scene.arrived], mfc="none", label="not arrived", **style)
