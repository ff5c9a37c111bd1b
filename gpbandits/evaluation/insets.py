"""An inset enlarges curves that others flatten, such as those beside `random`, or their first rounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from bandit_envs.basics.types import Floats

FLAT = 4.0  # a curve is flattened if the highest point of all is so many times its end
ROOM = 1.08  # the top of the inset relative to the highest of the lower curves
CLOSER = 2.0  # least enlargement of an inset
SIZE = (0.38, 0.36)  # of the inset, in shares of the axes
LABELS = (0.07, 0.08), (0.0, 0.05)  # space of its numbers on the left and below, and of its title above
HIDDEN = 0.02  # share of a curve's length that may lie behind the inset
PLACES = (
    (0.1, 0.59),
    (0.58, 0.59),
    (0.58, 0.15),
    (0.1, 0.32),
    (0.58, 0.32),
    (0.34, 0.59),
)  # its lower left corners
PIECES = 400  # of a curve, of equal length


def flattened(means: Sequence[Floats]) -> list[int]:
    """Return the curves that end below a quarter of the highest point of all, if they are several.

    Args:
        means: means of the curves, (n,) each.
    """
    highest, ends = max(float(mean.max()) for mean in means), [float(mean[-1]) for mean in means]
    low = [i for i, end in enumerate(ends) if FLAT * end <= highest]
    return low if len(low) > 1 and max(ends[i] for i in low) > 0 else []


def add_inset(axes: Axes, means: Sequence[tuple[Floats, Floats]]) -> Axes | None:
    """Draw the flattened curves of the axes again in an inset that hides no curve.

    Args:
        axes: finished axes with linear scales.
        means: rounds and means of each curve, (n,) each.

    Returns:
        The inset, or None if no curve is flattened, there is no free place, or it would enlarge too little.
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
    for artist in (*axes.collections, *axes.lines):
        _copy(artist, inset)
    inset.set(xlim=axes.get_xlim(), ylim=(bottom, top))
    inset.tick_params(labelsize="x-small", length=2)
    inset.locator_params(nbins=3)
    inset.set_title("the lower ones", fontsize="x-small", pad=2)
    inset.patch.set_alpha(0.9)
    return inset


def _copy(artist: object, inset: Axes) -> None:
    """Draw a line or a band unchanged."""
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
    """Return the place that hides the least of any curve, the first of equals; None if all hide some."""
    axes.autoscale_view()  # limits are only set when drawn
    to_share = axes.transData + axes.transAxes.inverted()
    curves = [_evenly(to_share.transform(np.column_stack(pair))) for pair in means]
    hidden = [max(_share_behind(curve, place) for curve in curves) for place in PLACES]
    return PLACES[int(np.argmin(hidden))] if min(hidden) <= HIDDEN else None


def _evenly(points: Floats) -> Floats:
    """Return points at equal distances along a curve."""
    length = np.concatenate([[0.0], np.hypot(*np.diff(points, axis=0).T).cumsum()])
    along = np.linspace(0.0, length[-1], PIECES)
    return np.column_stack([np.interp(along, length, each) for each in points.T])


def _share_behind(curve: Floats, place: tuple[float, float]) -> float:
    """Return the share of a curve that an inset at this place would hide, with its numbers and its title."""
    before, after = LABELS
    low, high = np.subtract(place, before), np.add(place, SIZE) + after
    return float(((curve >= low) & (curve <= high)).all(axis=1).mean())
