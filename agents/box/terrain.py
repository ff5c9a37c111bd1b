"""An acquisition surface on the unit box, and the candidates of a search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.problem.setting import Setting

from .landscape import Landscape

ANCHORS = 8  # best arms played so far that a search starts from


class Pool(NamedTuple):
    """Candidates of a round."""

    arms: Floats  # (n, d) in the kernel's units
    unit: Floats  # (n, d) in [0, 1]^d
    scores: Floats  # (n,)


class Terrain(NamedTuple):
    """Acquisition surface in unit coordinates."""

    landscape: Landscape
    low: Floats  # (d,)
    span: Floats  # (d,)
    anchors: Floats  # (m, d) the best arms played so far, in unit coordinates

    @classmethod
    def of(cls, landscape: Landscape, setting: Setting, played: Floats) -> Terrain:
        """Return the surface of a setting with a box, with the best arms played, best first, (n, d)."""
        assert setting.low is not None
        assert setting.high is not None
        span = setting.high - setting.low
        anchors = (played[:ANCHORS] - setting.low) / np.where(span > 0, span, 1.0)
        return cls(landscape, setting.low, span, anchors)

    def survey(self, unit: Floats) -> Pool:
        """Return points with their scores, (n, d)."""
        arms = self.low + self.span * unit
        return Pool(arms, unit, self.landscape.scores(arms))

    def climb(self, unit: Floats) -> tuple[Floats, Floats] | None:
        """Return scores and slopes in unit coordinates; None without slopes."""
        found = self.landscape.climb(self.low + self.span * unit)
        return None if found is None else (found[0], found[1] * self.span)


def joined(first: Pool, second: Pool) -> Pool:
    """Return both sets of candidates."""
    return Pool(*(np.concatenate(parts) for parts in zip(first, second, strict=True)))
