"""A search of a box that visits possible points only: integers and single categories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats

from ..box.search import QuasiRandom, Search
from ..box.terrain import Pool, Terrain, joined
from .gate import Gate
from .space import Space


@dataclass(frozen=True, eq=False)
class Snapping:
    """Search that scores snapped points and searches locally along continuous coordinates.

    The acquisition is thereby constant on all points that are rounded to one, and the kernel uses the values
    that will be run (Garrido-Merchan & Hernandez-Lobato 2020). In addition to the proposals of `search`, the
    best plays are tried with one parameter changed, since no small step leads from one category to another.

    Args:
        space: whose features are the box.
        search: proposes points.
        changed: number of changes of one parameter that are tried for each of the best plays.
        gate: gives closed points a score of minus infinity; None closes none.
    """

    space: Space
    search: Search = field(default_factory=QuasiRandom)
    changed: int = 8
    gate: Gate | None = None

    def __call__(self, terrain: Terrain, rng: np.random.Generator) -> Pool:
        """Return possible candidates."""
        gate = self.gate or Gate(self.space)
        snapped: Any = Snapped(terrain, self.space, gate)
        pool = self.search(snapped, rng)
        if len(terrain.anchors):
            pool = joined(snapped.survey(self._neighbours(terrain.anchors, rng)), pool)
        return gate.settled(pool)

    def _neighbours(self, anchors: Floats, rng: np.random.Generator) -> Floats:
        """Return each point with one parameter redrawn, (m, d) -> (changed m, d)."""
        points = np.repeat(anchors, self.changed, axis=0)
        one = rng.integers(len(self.space.kinds), size=len(points))
        fresh = rng.random(points.shape)
        return np.where(self.space.parameter_of_feature == one[:, None], fresh, points)


class Snapped:
    """Acquisition surface whose points are snapped before they are scored.

    Args:
        terrain: the box, whose bounds are 0 and 1.
        space: whose features it has.
        gate: gives closed points a score of minus infinity; None closes none.
    """

    def __init__(self, terrain: Terrain, space: Space, gate: Gate | None = None):
        self.terrain, self.space, self.gate = terrain, space, gate or Gate(space)
        self.landscape, self.low, self.span = terrain.landscape, terrain.low, terrain.span
        self.anchors = terrain.anchors

    def survey(self, unit: Floats) -> Pool:
        """Return the nearest possible points with their scores, (n, d)."""
        return self.gate.closing(self.terrain.survey(self.space.snap(unit)))

    def climb(self, unit: Floats) -> tuple[Floats, Floats] | None:
        """Return scores and slopes, 0 along discrete coordinates, which a local search then keeps."""
        found = self.terrain.climb(unit)
        if found is None:
            return None
        scores = found[0] if self.gate.open else self.gate.closed(self.space.snap(unit), found[0])
        return scores, found[1] * self.space.continuous
