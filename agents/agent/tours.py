"""Short ways through the plays of a batch: equal arms grouped, the others by nearest neighbour and 2-opt."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.laws.movement import Movement, Travel

DIGITS = 9  # of distances: other units of the features change their last bits
LEAST_GAIN = 10.0**-DIGITS  # of a 2-opt move, so that rounding cannot make it go on


def in_short_order(plays: Ints, last: int | None, places: Floats, law: Movement | None) -> Ints:
    """Return the plays of a batch, (n,), in the order of a short tour from the present arm.

    A tour of distinct arms starts at `last`, or at the first of the plays where there is none, and need not
    return. Prices do not matter to it. Where moves are free it goes by travel.

    Args:
        places: of the arms in the unit box, (A, d).
    """
    arms, first, times = np.unique(plays, return_index=True, return_counts=True)
    rank = first.argsort()  # distinct arms in the order of their first plays, so that ties follow the plan
    arms, times = arms[rank], times[rank]
    start = plays[0] if last is None else last
    stops = places[np.concatenate([[start], arms])]
    apart = (law or Travel()).distance(stops[:, None], stops[None]).round(DIGITS)
    order = shortened(nearest_first(apart), apart)[1:] - 1
    return np.repeat(arms[order], times[order])


def nearest_first(apart: Floats) -> Ints:
    """Return a path from stop 0 that goes to the nearest new stop each time, (m, m) -> (m,)."""
    path, left = [0], np.ones(len(apart), dtype=bool)
    left[0] = False
    while left.any():
        path.append(int(np.where(left, apart[path[-1]], np.inf).argmin()))
        left[path[-1]] = False
    return np.array(path)


def shortened(path: Ints, apart: Floats) -> Ints:
    """Return the path after 2-opt: the reversal that shortens it most, its start fixed, until none does."""
    while True:
        gains = _gains(path, apart)
        i, j = divmod(int(gains.argmax()), gains.shape[1])
        if gains[i, j] <= LEAST_GAIN:
            return path
        path = np.concatenate([path[: i + 1], path[i + 1 : j + 1][::-1], path[j + 1 :]])


def _gains(path: Ints, apart: Floats) -> Floats:
    """Return by how much a path is shorter with its stops i + 1..j reversed, (m, m); its end is free."""
    m = len(path)
    along = apart[np.ix_(path, path)]
    after = np.minimum(np.arange(m) + 1, m - 1)  # of the last stop, itself: no edge
    edges = along[np.arange(m), after]
    gains = edges[:, None] + edges[None] - along - along[np.ix_(after, after)]
    gains[:, -1] = edges - along[:, -1]
    return np.where(np.arange(m)[:, None] + 1 < np.arange(m)[None], gains, 0.0)
