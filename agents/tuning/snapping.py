"""A search of a box that only looks at what can be used: whole integers and single categories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats

from ..box.search import QuasiRandom, Search
from ..box.terrain import Pool, Terrain, joined
from .space import Space


@dataclass(frozen=True, eq=False)
class Snapping:
    """Scores snapped points and climbs along the continuous coordinates.

    The acquisition is thereby constant on all that is rounded to one point, and the kernel sees what will be
    used (Garrido-Merchan & Hernandez-Lobato 2020). Beside what `search` proposes, the best plays are tried
    with one parameter changed, since no small step leads from one category to another.

    Args:
        space: whose features are the box.
        search: what proposes points.
        changed: changes of one parameter that are tried, of each of the best plays.
    """

    space: Space
    search: Search = field(default_factory=QuasiRandom)
    changed: int = 8

    def __call__(self, terrain: Terrain, rng: np.random.Generator) -> Pool:
        """Return possible candidates."""
        snapped: Any = Snapped(terrain, self.space)
        pool = self.search(snapped, rng)
        if len(terrain.anchors) == 0:
            return pool
        return joined(snapped.survey(self._neighbours(terrain.anchors, rng)), pool)

    def _neighbours(self, anchors: Floats, rng: np.random.Generator) -> Floats:
        """Each point with one parameter drawn anew, (m, d) -> (changed m, d)."""
        points = np.repeat(anchors, self.changed, axis=0)
        one = rng.integers(len(self.space.kinds), size=len(points))
        fresh = rng.random(points.shape)
        return np.where(self.space.parameter_of_feature == one[:, None], fresh, points)


class Snapped:
    """A terrain whose points are snapped before they are scored.

    Args:
        terrain: the box, whose bounds are 0 and 1.
        space: whose features it has.
    """

    def __init__(self, terrain: Terrain, space: Space):
        self.terrain, self.space = terrain, space
        self.landscape, self.low, self.span = terrain.landscape, terrain.low, terrain.span
        self.anchors = terrain.anchors

    def survey(self, unit: Floats) -> Pool:
        """The nearest possible points with their scores, (n, d)."""
        return self.terrain.survey(self.space.snap(unit))

    def climb(self, unit: Floats) -> tuple[Floats, Floats] | None:
        """Scores and slopes, flat along discrete coordinates: a climb leaves them where it starts."""
        found = self.terrain.climb(unit)
        return None if found is None else (found[0], found[1] * self.space.continuous)
