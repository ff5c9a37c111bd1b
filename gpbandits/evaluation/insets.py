"""A closer look at curves that one or two others flatten, such as those of all agents beside `random`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from bandit_envs.basics.types import Floats

FLAT = 4.0  # times as high as a curve: from here on the highest one leaves it no room
ROOM = 1.08  # above the highest of the lower curves
SIZE = (0.42, 0.4)  # of the inset, in shares of the axes
HIDDEN = 0.01  # of the points of all curves may lie behind it
PLACES = ((0.1, 0.56), (0.54, 0.56), (0.54, 0.1), (0.1, 0.3), (0.54, 0.34))  # its lower left corners


def flattened(ends: Sequence[float]) -> list[int]:
    """Which curves the highest one flattens: those that end below a quarter of it, if they are several.

    Args:
        ends: last values of the curves.
    """
    low = [i for i, end in enumerate(ends) if FLAT * end <= max(ends)]
    return low if len(low) > 1 and max(ends[i] for i in low) > 0 else []


def add_inset(axes: Axes, means: Sequence[tuple[Floats, Floats]]) -> Axes | None:
    """Draw the flattened curves of the axes again where it hides no curve.

    Args:
        axes: with everything drawn, on linear scales.
        means: rounds and means of each curve, (n,) each.

    Returns:
        The inset, or None where no curve is flattened, or curves are everywhere.
    """
    low = flattened([float(mean[-1]) for _, mean in means])
    place = _emptiest(axes, means)
    if not low or place is None:
        return None
    inset = axes.inset_axes((*place, *SIZE))
    for artist in (*axes.collections, *axes.lines):
        _copy(artist, inset)
    heights = np.concatenate([means[i][1] for i in low])
    inset.set(xlim=axes.get_xlim(), ylim=(min(0.0, float(heights.min())), ROOM * float(heights.max())))
    inset.tick_params(labelsize="x-small", length=2)
    inset.locator_params(nbins=3)
    inset.set_title("the lower ones", fontsize="x-small", pad=2)
    inset.patch.set_alpha(0.9)
    return inset


def _copy(artist: object, inset: Axes) -> None:
    """Draw a line or a band as it is."""
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

    if isinstance(artist, PolyCollection):
        outlines = [path.vertices for path in artist.get_paths()]
        inset.add_collection(
            PolyCollection(outlines, facecolors=artist.get_facecolor(), linewidths=0)  # pyright: ignore
        )
    elif isinstance(artist, Line2D):
        inset.plot(
            artist.get_xdata(),
            artist.get_ydata(),
            color=artist.get_color(),
            linestyle=artist.get_linestyle(),
            linewidth=artist.get_linewidth(),
        )


def _emptiest(axes: Axes, means: Sequence[tuple[Floats, Floats]]) -> tuple[float, float] | None:
    """The place that the fewest points of curves lie in, the first of equals; None where all hide some."""
    axes.autoscale_view()  # limits are only set when drawn
    to_share = axes.transData + axes.transAxes.inverted()
    points = np.concatenate([to_share.transform(np.column_stack(pair)) for pair in means])
    inside = [
        int(((points >= corner) & (points <= np.add(corner, SIZE))).all(axis=1).sum()) for corner in PLACES
    ]
    return PLACES[int(np.argmin(inside))] if min(inside) <= HIDDEN * len(points) else None
