"""Better candidates from good ones: uphill where the landscape has slopes, ever closer where it has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from bandit_envs.basics.types import Floats

from .terrain import Pool, Terrain, joined

WORST = -1e30  # what stands for scores of minus infinity while climbing
PRECISION = 1e-6  # of a unit of the summed scores: a climb ends where what is left is below what is believed
APART = 0.05  # box widths between two starts, lest all climb the same hill
ZOOM = (0.1, 0.03, 0.01, 0.003)  # box widths, around the best points of a sample
BEST, EACH = 4, 12  # points that a sample is refined around, and new points around each


def climbed(terrain: Terrain, starts: Floats, steps: int) -> Pool | None:
    """Polish all starts in one stacked L-BFGS-B; None where the landscape has no slopes."""
    found = terrain.climb(starts)
    if found is None:
        return None
    loss: Callable[[Floats], Any] = Stacked(terrain, starts, *found)
    bounds = [(0.0, 1.0)] * starts.size
    options = {"maxiter": steps, "maxfun": 2 * steps, "ftol": PRECISION}
    end = minimize(loss, starts.ravel(), method="L-BFGS-B", jac=True, bounds=bounds, options=options)
    unit = np.clip(end.x, 0.0, 1.0).reshape(starts.shape)
    return terrain.survey(unit)


class Stacked:
    """How far the sum of the scores of several points falls below that of the starts, in units of scores.

    Args:
        terrain: has the scores and their slopes.
        starts: (m, d).
        scores, slopes: there, (m,) and (m, d); a climb asks for them first.
    """

    def __init__(self, terrain: Terrain, starts: Floats, scores: Floats, slopes: Floats):
        self.terrain, self._starts, self._found = terrain, starts, (scores, slopes)
        self._level = 0.0
        self._level = self(starts.ravel())[0]

    def __call__(self, flat: Floats) -> tuple[float, Floats]:
        """Value and gradient, (m d,); where a score is not finite, a low plain."""
        scores, slopes = self._climb(flat.reshape(self._starts.shape))
        usable = np.isfinite(scores) & np.isfinite(slopes).all(axis=1)
        slopes = np.where(usable[:, None], slopes, 0.0)
        unit = self.terrain.landscape.unit
        loss = -float(np.where(usable, scores / unit, WORST).sum())
        return loss - self._level, -slopes.ravel() / unit

    def _climb(self, unit: Floats) -> tuple[Floats, Floats]:
        if (unit == self._starts).all():
            return self._found
        found = self.terrain.climb(np.clip(unit, 0.0, 1.0))
        assert found is not None  # there were slopes at the starts
        return found


def refined(terrain: Terrain, pool: Pool, rng: np.random.Generator) -> Pool:
    """Ask the landscape ever closer around the best candidates so far."""
    for width in ZOOM:
        best = pool.unit[np.argsort(-pool.scores, kind="stable")[:BEST]]
        unit = around(np.repeat(best, EACH, axis=0), width, rng)
        pool = joined(pool, terrain.survey(unit))
    return pool


def distinct_best(pool: Pool, count: int) -> Floats:
    """The best candidates of a pool, no two within `APART` of each other, (m, d), m <= count."""
    chosen: list[int] = []
    for i in np.argsort(-pool.scores, kind="stable")[: 16 * count].tolist():
        distance = np.abs(pool.unit[chosen] - pool.unit[i]).max(axis=1) if chosen else np.full(1, np.inf)
        if distance.min() > APART:
            chosen.append(i)
        if len(chosen) == count:
            break
    return pool.unit[chosen]


def around(centre: Floats, width: float, rng: np.random.Generator) -> Floats:
    """Each point moved by a Gaussian step and clipped to the box, which puts some on its boundary."""
    return np.clip(centre + width * rng.standard_normal(centre.shape), 0.0, 1.0)
