"""A search of a box that only looks at what can be used: whole integers and single categories."""

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
    """Scores snapped points and climbs along the continuous coordinates.

    The acquisition is thereby constant on all that is rounded to one point, and the kernel sees what will be
    used (Garrido-Merchan & Hernandez-Lobato 2020). Beside what `search` proposes, the best plays are tried
    with one parameter changed, since no small step leads from one category to another.

    Args:
        space: whose features are the box.
        search: what proposes points.
        changed: changes of one parameter that are tried, of each of the best plays.
        gate: what is closed has a score of minus infinity; None closes nothing.
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
        gate: what is closed has a score of minus infinity; None closes nothing.
    """

    def __init__(self, terrain: Terrain, space: Space, gate: Gate | None = None):
        self.terrain, self.space, self.gate = terrain, space, gate or Gate(space)
        self.landscape, self.low, self.span = terrain.landscape, terrain.low, terrain.span
        self.anchors = terrain.anchors

    def survey(self, unit: Floats) -> Pool:
        """The nearest possible points with their scores, (n, d)."""
        return self.gate.closing(self.terrain.survey(self.space.snap(unit)))

    def climb(self, unit: Floats) -> tuple[Floats, Floats] | None:
        """Scores and slopes, flat along discrete coordinates: a climb leaves them where it starts."""
        found = self.terrain.climb(unit)
        if found is None:
            return None
        scores = found[0] if self.gate.open else self.gate.closed(self.space.snap(unit), found[0])
        return scores, found[1] * self.space.continuous
