"""The panels of a picture: a function on a line or a plane, an acquisition function, costs, regret."""

from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from bandit_envs.basics.types import Bools, Floats
from bandit_envs.rendering.scene import BAND_STDS, Limits, Scene

TRUTH, PLAYS, BEST, BELIEF, SHADE = "tab:blue", "tab:orange", "tab:red", "tab:purple", "0.85"
SCORES = "tab:green"  # the acquisition function and the play that it leads to
FILM_FONT = 7.6  # points: 8 pixels where a film of two agents is as wide as a page of the site
EXPONENTS = (-3, 3)  # of values written out; longer labels would be cut off at the left


def draw_line(axes: Any, scene: Scene, limits: Limits) -> None:
    """Draw the reward over an arm's feature, or over its rank if it has several."""
    line = np.argsort(scene.order)
    x, truth = scene.order[line], scene.truth[line]
    if not scene.feasible.all():
        axes.fill_between(
            x, 0, 1, where=~scene.feasible[line], step="mid", color=SHADE, lw=0,
            transform=axes.get_xaxis_transform(), label="infeasible",
        )  # fmt: skip
    if scene.belief is not None:
        label = "posterior mean ± 2 std" if scene.half is None else "posterior mean and the agent's band"
        _draw_band(axes, x, scene.belief[0][line], scene.band[line], label, scene.joined)
    marker = "." if len(x) <= 100 else ""
    look = {"marker": marker} if scene.joined else {"marker": "o", "ms": 4, "ls": "none"}
    axes.plot(x, truth, color=TRUTH, label="true function", zorder=2, **look)
    _draw_plays(axes, scene, scene.places, scene.observed, limits)
    best = scene.best
    axes.axhline(scene.optimum, color=BEST, lw=0.8, ls="--", zorder=1)
    look = {"color": BEST, "ms": 12, "ls": "none", "zorder": 4}
    axes.plot(scene.order[best], scene.truth[best], "*", label="optimum", **look)
    _mark_following(axes, scene, limits)
    _shorten(axes)
    axes.set_ylim(limits.reward)
    axes.set_xlabel(name_of_line(scene))
    axes.set_ylabel("reward")


def name_of_line(scene: Scene, joint: str = ", ") -> str:
    """Return the label of the line, with the context where there are several."""
    feature = "x" if scene.features.shape[1] == 1 else "arms, from worst to best"
    name = feature if scene.joined else "arm"
    return joint.join(filter(None, (name, scene.context)))


def _draw_band(
    axes: Any, x: Floats, mean: Floats, reach: Floats, label: str | None = None, joined: bool = True
) -> None:
    """Draw a posterior as a band, or as a bar at each arm where arms have no order."""
    if joined:
        axes.fill_between(x, mean - reach, mean + reach, color=BELIEF, alpha=0.2, lw=0, zorder=1)
        axes.plot(x, mean, color=BELIEF, lw=1.2, ls="--", label=label, zorder=2)
    else:
        axes.errorbar(x, mean, reach, color=BELIEF, fmt="_", ms=6, lw=1.2, alpha=0.5, label=label, zorder=1)


def draw_scores(axes: Any, scene: Scene, limits: Limits) -> None:
    """Draw the acquisition function over the same line, and the next play."""
    if scene.scores is not None:
        line = np.argsort(scene.order)
        x, scores = scene.order[line], scene.scores[line]
        if scene.joined:
            axes.fill_between(x, limits.scores[0], scores, color=SCORES, alpha=0.15, lw=0)
        # An arm between two that cannot be played has no line to either.
        look = {"lw": 1.2, "ms": 2, "marker": "" if np.isfinite(scores).all() else "o"}
        axes.plot(x, scores, color=SCORES, **(look if scene.joined else {"marker": ".", "ls": "none"}))
    elif scene.following is None:
        where = {"ha": "center", "va": "center", "transform": axes.transAxes}
        axes.text(0.5, 0.5, "no further play", color="0.45", fontsize="small", **where)
    _mark_following(axes, scene, limits)
    axes.set_ylim(limits.scores)
    axes.yaxis.set_major_locator(MaxNLocator(3))
    _shorten(axes)
    axes.tick_params(axis="y", labelsize=FILM_FONT)
    axes.set_xlabel(name_of_line(scene))
    axes.set_ylabel("acquisition", fontsize="small")


def _mark_following(axes: Any, scene: Scene, limits: Limits) -> None:
    if scene.following is None and not limits.scored:
        return
    at = np.nan if scene.next_place is None else scene.next_place  # its entry in the legend stays
    axes.axvline(at, color=SCORES, lw=1.2, ls=":", zorder=2, label="next play")


def draw_cost(axes: Any, scene: Scene, j: int, belief: tuple[Floats, Floats]) -> None:
    """Draw a cost, feasible below 0, over the same line, with its posterior."""
    line = np.argsort(scene.order)
    x, truth, (mean, std) = scene.order[line], scene.costs[j][line], (part[line] for part in belief)
    _draw_band(axes, x, mean, BAND_STDS * std)
    axes.plot(x, truth, color=TRUTH, lw=1.2)
    axes.axhline(0.0, color=BEST, lw=0.8, ls=":")
    axes.yaxis.set_major_locator(MaxNLocator(3))
    axes.tick_params(labelsize=FILM_FONT)
    axes.set_ylabel(f"cost {j + 1}" if len(scene.costs) > 1 else "cost", fontsize=FILM_FONT)


def draw_cost_plane(axes: Any, scene: Scene, j: int, belief: tuple[Floats, Floats]) -> None:
    """Draw the posterior mean of a cost as colour, and the line beyond which it is above 0."""
    mean, name = belief[0], f"cost {j + 1}" if len(scene.costs) > 1 else "the cost"
    span = float(scene.costs[j].min()), float(scene.costs[j].max())
    draw_values(axes, scene.features, mean, f"posterior mean of {name}, line at 0", span)
    if mean.min() < 0 < mean.max():
        axes.tricontour(*scene.features.T, mean, levels=[0.0], colors=BEST, linewidths=1.2, zorder=2)
    axes.set(xticks=(), yticks=())


def draw_plane(places: dict[str, Any], scene: Scene, limits: Limits, bars: bool = True) -> None:
    """Draw the reward as colour over two features; beside it an agent's mean on that scale, and its std."""
    mean, std = scene.belief or (scene.truth, None)
    span = limits.shade
    name = ", ".join(filter(None, ("true function", scene.context)))
    draw_values(places["truth"], scene.features, scene.truth, name, span, bars)
    _draw_region(places["truth"], scene.features, scene.feasible)
    whole = {"clip_on": False, "in_layout": False}  # also on the edge, where they need no space
    _draw_plays(places["truth"], scene, scene.plays[:, 0], scene.plays[:, 1], limits, **whole)
    if scene.following is not None:
        look = {"color": SCORES, "mfc": "none", "ms": 9, "mew": 1.6, "ls": "none", "zorder": 5, **whole}
        places["truth"].plot(*scene.following, "D", label="next play", **look)
    look = {"color": BEST, "mec": "white", "ms": 14, "ls": "none", "zorder": 4, **whole}
    places["truth"].plot(*scene.features[scene.best], "*", label="optimum", **look)
    places["truth"].set_xlabel("$x_1$", labelpad=0)
    places["truth"].set_ylabel("$x_2$", labelpad=3)
    if std is not None:
        draw_values(places["mean"], scene.features, mean, "posterior mean, same colours", span, bar=False)
        draw_values(places["std"], scene.features, std, "posterior std", (0.0, limits.std), bars)
        for beside in (places["mean"], places["std"]):
            beside.set(xticks=(), yticks=())


def draw_values(
    axes: Any,
    points: Floats,
    values: Floats,
    title: str,
    limits: tuple[float | None, float | None],
    bar: bool = True,
) -> None:
    """Draw one tile or dot a point, in blue alone, so that plays of any other colour stand out."""
    low, high = limits
    look = {"cmap": "Blues", "vmin": low, "vmax": high, "zorder": 1}
    if _is_grid(points):
        dots = _draw_tiles(axes, points, values, **look)
    else:
        extent = axes.get_window_extent()
        inches = extent.width * extent.height / axes.figure.dpi**2
        size = min(inches * 72**2 * 0.9 / len(points), 120.0)  # so that the markers fill the axes
        dots = axes.scatter(*points.T, c=values, s=size, lw=0.3, edgecolors="0.5", **look)
    axes.set_title(title, fontsize="small", pad=4)
    if bar:
        scale = axes.figure.colorbar(dots, cax=axes.inset_axes((1.03, 0.0, 0.05, 1.0)))
        scale.ax.tick_params(labelsize="small")
        scale.ax.yaxis.set_major_locator(MaxNLocator(5))
        _shorten(scale.ax)


def _draw_region(axes: Any, points: Floats, feasible: Bools) -> None:
    """Cross out infeasible points; shade them where points are tiles."""
    if feasible.all():
        return
    if _is_grid(points):
        look = {"marker": "s", "color": "0.75", "lw": 0}
        shade = np.where(feasible, np.nan, 0.25)  # of a map whose 1 is black
        _draw_tiles(axes, points, shade, cmap="Greys", vmin=0.0, vmax=1.0, alpha=0.7, zorder=2)
    else:
        look = {"marker": "x", "color": "0.5", "lw": 1.0}
        axes.scatter(*points[~feasible].T, s=25, zorder=2, **look)
    axes.scatter([], [], label="infeasible", s=25, **look)  # of one size in every legend


def _is_grid(points: Floats) -> bool:
    """Return True if points of a plane, (M, 2), are all pairs of two or more values of each feature."""
    x, y = (len(np.unique(column)) for column in points.T)
    return min(x, y) > 1 and x * y == len(points)


def _draw_tiles(axes: Any, points: Floats, values: Floats, **look: Any) -> Any:
    """Draw the values at the points of a grid as tiles that touch; NaN draws none."""
    (x, column), (y, row) = (np.unique(each, return_inverse=True) for each in points.T)
    tiles = np.full((len(y), len(x)), np.nan)
    tiles[row, column] = values
    return axes.pcolormesh(x, y, tiles, shading="nearest", **look)


def _draw_plays(axes: Any, scene: Scene, x: Any, y: Any, limits: Limits, **further: Any) -> None:
    """Draw plays with observed feedback filled, pending ones hollow, lost ones crossed."""
    style = {"color": PLAYS, "ls": "none", "zorder": 3, **further}
    kinds = (
        (scene.arrived, "observed", True, {"marker": "o", "ms": 6, "mec": "white", "mew": 0.5}),
        (scene.pending, "pending", limits.pending, {"marker": "o", "ms": 6, "mfc": "none"}),
        (scene.lost, "lost", limits.lost, {"marker": "x", "ms": 6}),
    )
    for chosen, label, occurs, look in kinds:
        if occurs:
            axes.plot(x[chosen], y[chosen], label=label, **style, **look)


def draw_time(axes: Any, scene: Scene, limits: Limits) -> None:
    """Draw the regret of each round so far, and the change-points of the whole trial."""
    axes.stairs(scene.regrets, np.arange(scene.total + 1) + 0.5, fill=True, color="0.45")  # from round 1 on
    for change in scene.changes:
        axes.axvline(change + 0.5, color=BEST, lw=1.0, ls=":")
    axes.set(xlim=(0.5, scene.horizon + 0.5), ylim=limits.regret)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(2))
    axes.tick_params(labelsize=FILM_FONT)
    _shorten(axes)
    axes.yaxis.get_offset_text().set_fontsize(FILM_FONT)
    axes.set_ylabel("regret", fontsize=FILM_FONT)
    label = "round, with change-points" if len(scene.changes) else "round"
    axes.set_xlabel(label, fontsize=FILM_FONT, labelpad=1)
    axes.spines[["top", "right"]].set_visible(False)


def _shorten(axes: Any) -> None:
    """Move powers of ten out of the labels of the vertical axis where they are large or small."""
    axes.ticklabel_format(axis="y", scilimits=EXPONENTS)
