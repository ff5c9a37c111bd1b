"""First plays where plays have costs: central ones, as the corners of a box hold the extremes."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

LOOKED_AT = 2000  # arms among which they are spread
MOST = 30  # that are spread out; then at random


def spread_out(arms: Floats, numeric: Bools, rng: np.random.Generator) -> Ints:
    """Return an order of arms, (A, D) in [0, 1]: the most central, then the farthest of the inner half.

    Choices have no centre: arms of choices alone are in a random order.

    Args:
        arms: features.
        numeric: which columns are numbers, (D,).
        rng: breaks ties, and draws the arms that are looked at in a large set.
    """
    some = rng.permutation(len(arms))
    if not numeric.any():
        return some
    looked_at = some[:LOOKED_AT]
    distance = np.square(arms[looked_at][:, numeric] - 0.5).sum(axis=1)
    order = np.argsort(distance, kind="stable")
    inner = looked_at[order[: max(1, (len(order) + 1) // 2)]]
    chosen = [0]
    nearest = np.full(len(inner), np.inf)
    while len(chosen) < min(MOST, len(inner)):
        nearest = np.minimum(nearest, np.square(arms[inner] - arms[inner[chosen[-1]]]).sum(axis=1))
        nearest[chosen] = -1.0
        chosen.append(int(nearest.argmax()))
    first = inner[chosen]
    return np.concatenate([first, some[~np.isin(some, first)]])
