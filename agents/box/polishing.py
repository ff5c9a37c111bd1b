"""Local search from good candidates: along slopes where there are any, by narrowing samples elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from bandit_envs.basics.types import Floats

from .terrain import Pool, Terrain, joined

WORST = -1e30  # finite substitute for scores of minus infinity in L-BFGS-B
PRECISION = 1e-6  # of the summed scores' unit: the tolerance of a local search
APART = 0.05  # least distance of two starts in box widths, so that they reach different maxima
ZOOM = (0.1, 0.03, 0.01, 0.003)  # box widths, around the best points of a sample
BEST, EACH = 4, 12  # points around which a sample is refined, and new points around each


def climbed(terrain: Terrain, starts: Floats, steps: int) -> Pool | None:
    """Return the ends of local searches from all starts, in one stacked L-BFGS-B; None without slopes."""
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
    """Loss of several points: by how much the sum of their scores is below that of the starts, in units.

    Args:
        terrain: has the scores and their slopes.
        starts: (m, d).
        scores, slopes: at the starts, (m,) and (m, d), which the search evaluates first.
    """

    def __init__(self, terrain: Terrain, starts: Floats, scores: Floats, slopes: Floats):
        self.terrain, self._starts, self._found = terrain, starts, (scores, slopes)
        self._level = 0.0
        self._level = self(starts.ravel())[0]

    def __call__(self, flat: Floats) -> tuple[float, Floats]:
        """Return value and gradient, (m d,); points with scores that are not finite have a low constant."""
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
    """Return the pool with new points ever closer around its best candidates."""
    for width in ZOOM:
        best = pool.unit[np.argsort(-pool.scores, kind="stable")[:BEST]]
        unit = around(np.repeat(best, EACH, axis=0), width, rng)
        pool = joined(pool, terrain.survey(unit))
    return pool


def distinct_best(pool: Pool, count: int) -> Floats:
    """Return the best candidates of a pool, no two within `APART` of each other, (m, d), m <= count."""
    chosen: list[int] = []
    for i in np.argsort(-pool.scores, kind="stable")[: 16 * count].tolist():
        distance = np.abs(pool.unit[chosen] - pool.unit[i]).max(axis=1) if chosen else np.full(1, np.inf)
        if distance.min() > APART:
            chosen.append(i)
        if len(chosen) == count:
            break
    return pool.unit[chosen]


def around(centre: Floats, width: float, rng: np.random.Generator) -> Floats:
    """Return each point moved by a Gaussian step and clipped to the box, which puts some on its boundary."""
    return np.clip(centre + width * rng.standard_normal(centre.shape), 0.0, 1.0)
