"""Ranges of the axes that the pictures of one film share, so that axes stand still."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.rendering.scene import Scene

ROOM = 0.05  # share of a range that is added at each end
DEEPEST = 3.0  # the axis of scores reaches so many times as far below the maximum as the median lies:
# logarithms of improvements have deep valleys
Range = tuple[float, float]


class Limits(NamedTuple):
    """Ranges of rewards, scores and regrets over several scenes, and which kinds of plays occur."""

    reward: Range
    scores: Range
    regret: Range
    shade: Range  # of mean rewards, true and posterior, drawn as colours
    std: float  # the largest posterior std
    scored: bool  # whether any scene has scores
    pending: bool
    lost: bool

    @classmethod
    def of(cls, scenes: Sequence[Scene]) -> Limits:
        """Return ranges that hold every value of the scenes."""
        rewards, scores, shades, stds = [], [], [], [0.0]
        for scene in scenes:
            rewards += [scene.truth, scene.observed]
            shades.append(scene.truth)
            if scene.belief is not None:
                mean, half = scene.belief[0], scene.band
                rewards += [mean - half, mean + half]
                shades.append(mean)
                stds.append(float(scene.belief[1].max()))
            if scene.scores is not None:
                finite = scene.scores[np.isfinite(scene.scores)]
                if finite.size:
                    high = finite.max()
                    scores.append(finite[finite >= high - DEEPEST * (high - np.median(finite))])
        return cls(
            _range(rewards),
            _range(scores),
            _range([np.zeros(1), *(scene.regrets for scene in scenes)]),
            _range(shades, room=0.0),
            max(stds),
            bool(scores),
            any(scene.pending.any() for scene in scenes),
            any(scene.lost.any() for scene in scenes),
        )


def _range(values: Sequence[Floats], room: float = ROOM) -> Range:
    joined = np.concatenate([np.zeros(0), *values])
    low, high = (float(joined.min()), float(joined.max())) if joined.size else (0.0, 1.0)
    added = room * (high - low) if high > low else 0.5
    return low - added, high + added
