"""Posteriors of the same functions from several starts, each given only the plays since its own."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Bools, Floats

from .coordinates import FIRST_CAPACITY, Coordinates


class Starts:
    r"""W starts of q functions that share their plays, under each of G noise variances.

    f = phi'w, and start s has the belief N(m, P) about w: N(0, I) updated by the plays since s,

        m += P phi (y - phi'm) / (phi'P phi + lambda),    P -= P phi phi'P / (phi'P phi + lambda).

    O(G W k^2) a value with k dimensions; the starts are stacked.

    Args:
        coordinates: phi.
        noise: lambda, (G,).
        num_functions: q.
    """

    def __init__(self, coordinates: Coordinates, noise: Floats, num_functions: int):
        self.coordinates, self.noise = coordinates, noise
        size = FIRST_CAPACITY
        self._mean = np.zeros((len(noise), 0, num_functions, size))  # (G, W, q, k) m
        self._covariance = np.zeros((len(noise), 0, size, size))  # (G, W, k, k) P
        self.begin()

    def begin(self) -> None:
        """Add a start from the prior."""
        many, _, functions, size = self._mean.shape
        fresh = np.broadcast_to(np.eye(size), (many, 1, size, size))
        self._mean = np.concatenate([self._mean, np.zeros((many, 1, functions, size))], axis=1)
        self._covariance = np.concatenate([self._covariance, fresh], axis=1)

    def keep(self, kept: Bools) -> None:
        """Drop the other starts, (W,)."""
        self._mean, self._covariance = self._mean[:, kept], self._covariance[:, kept]

    def predict(self, point: int) -> tuple[Floats, Floats]:
        """Return mean (G, W, q) and variance (G, W) of the functions at a point, without noise."""
        phi, _, along = self._at(point)
        mean = self._mean[..., : len(phi)] @ phi
        return mean, np.maximum(along[..., : len(phi)] @ phi, 0.0)

    def learn(self, point: int, value: Floats, share: float) -> None:
        """Condition on values, (q,), of `share` times the noise variance."""
        phi, k, along = self._at(point)
        variance = np.maximum(along[..., : len(phi)] @ phi, 0.0) + share * self.noise[:, None]
        gain = along / variance[..., None]
        error = value - self._mean[..., : len(phi)] @ phi
        self._mean[..., :k] += error[..., None] * gain[..., None, :]
        self._covariance[..., :k, :k] -= along[..., :, None] * gain[..., None, :]

    def _at(self, point: int) -> tuple[Floats, int, Floats]:
        """Return phi, k and P phi, (G, W, k)."""
        phi, k = self.coordinates.of(point), self.coordinates.dimensions
        self._reserve(k)
        return phi, k, self._covariance[..., :k, : len(phi)] @ phi

    def _reserve(self, dimensions: int) -> None:
        old = self._mean.shape[-1]
        if dimensions <= old:
            return
        plain = [(0, 0)] * 2
        self._mean = np.pad(self._mean, [*plain, (0, 0), (0, old)])
        self._covariance = np.pad(self._covariance, [*plain, (0, old), (0, old)])
        new = np.arange(old, 2 * old)
        self._covariance[..., new, new] = 1.0
