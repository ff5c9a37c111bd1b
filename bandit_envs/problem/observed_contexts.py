"""Show contexts in observations, and identify observed ones."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats, Ints


def scaled(contexts: Floats | None) -> Floats:
    """Return the observation of each context, (Z, dz) in [0, 1] as float32; one 0 without contexts."""
    if contexts is None or contexts.shape[1] == 0:
        shown = np.zeros((1, 1), dtype=np.float32)
    else:
        low, span = contexts.min(axis=0), np.ptp(contexts, axis=0)
        shown = ((contexts - low) / np.where(span > 0, span, 1.0)).astype(np.float32)
    shown.setflags(write=False)
    return shown  # type: ignore[return-value]


def nearest(observation: Floats, shown: Floats) -> Ints:
    """Return the indices of the nearest contexts to observations, (n, dz), (Z, dz) -> (n,)."""
    if len(shown) == 1:
        return np.zeros(len(observation), dtype=np.int64)
    distance = ((np.asarray(observation)[:, None] - shown) ** 2).sum(axis=2)
    return distance.argmin(axis=1)


def checked_features(observation: Floats, num_features: int) -> Floats:
    """Return contexts of a box, observed unscaled, (n, dz), or raise."""
    features = np.asarray(observation, dtype=np.float64)
    wanted = f"finite numbers of shape {(len(features), num_features)}"
    usable = features.shape[1:] == (num_features,) and np.isfinite(features).all()
    require(usable, "observation", wanted, observation)
    return features
