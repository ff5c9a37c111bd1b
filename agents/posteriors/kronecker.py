r"""A posterior of a product kernel on a grid, kept as the covariance of the weights of its factors.

With R = R_1 (x) ... (x) R_k the root of K, the function is f = R'w with w ~ N(0, I), as in weight space, but
R itself is never made: R'w is one product a factor, and a feature the product of a column of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

from .table import TablePosterior, subtract


class KroneckerPosterior(TablePosterior):
    """Keeps S, (B, r, r), r = r_1 ... r_k; O(r^2 + r_1 N) an observation, and O(r) memory a play.

    The best form for a product kernel of few weights on a grid that is large: the squared exponential with
    length-scale 0.2 on 1000 x 1000 points has r = 19 x 19. Of one factor it is the form in weight space.
    Samples are those of the other forms in law, and in number too where there is one factor.
    """

    def __init__(self, gram: Gram, noise: float | Floats, num_trials: int):
        super().__init__(gram, noise, num_trials)
        self._factors = gram.kronecker
        self._prior = np.eye(self._factors.rank)
        self._covariance = np.tile(self._prior, (num_trials, 1, 1))  # (B, r, r) S

    def columns(self, trial: Ints, point: Ints) -> Floats:
        """Return Sigma[:, x] of trials that may repeat, (n,) each -> (n, N); the caller may write to it."""
        return self._factors.expand(self._weights(trial, point))

    def weight_norm_at(self, cells: Ints | None) -> Floats:
        """|a_x| at some points of each trial, (B, A): diag(R'S M S R) / lambda^2, M = sum_p n_p r_p r_p'."""
        norms = np.empty(self.mean.shape)
        for i, (row, count) in enumerate(zip(norms, self.count, strict=True)):
            played = count.nonzero()[0]
            pull = self._weights(np.full(len(played), i), played) * np.sqrt(count[played])[:, None]
            row[:] = np.sqrt(np.maximum(self._factors.quadratic(pull.T @ pull), 0.0)) / self.noise[i]
        return norms if cells is None else np.take_along_axis(norms, cells, axis=1)

    def _weights(self, trial: Ints, point: Ints) -> Floats:
        """S r_x of trials that may repeat, (n,) each -> (n, r)."""
        weights = self._factors.features(point)
        for row, i in zip(weights, trial.tolist(), strict=True):  # S[trial] would copy (n, r, r)
            row[:] = self._covariance[i] @ row
        return weights

    def _absorb(self, trial: Ints, point: Ints, noise: Floats) -> tuple[Floats, Floats]:
        rows = self._rows(trial)
        feature = self._factors.features(point)
        weight = np.matmul(self._covariance[rows], feature[:, :, None])[:, :, 0]
        scale = np.sqrt(noise + np.vecdot(feature, weight))
        weight /= scale[:, None]
        subtract(self._covariance, rows, weight[:, :, None] * weight[:, None, :])
        return self._factors.expand(weight), scale

    def _white(self, rng: np.random.Generator) -> Floats:
        return self._factors.white(rng)

    def _deviate(self, weight: Floats, noise: Floats) -> Floats:
        # In weights Matheron's rule is S (z - R sqrt(n / lambda) e), and e is zero where nothing was played.
        pull = weight.copy()
        for row, e, count, variance in zip(pull, noise, self.count, self.noise, strict=True):
            played = count.nonzero()[0]
            row -= (e[played] * np.sqrt(count[played] / variance)) @ self._factors.features(played)
        return self._factors.expand(np.matmul(self._covariance, pull[:, :, None])[:, :, 0])

    def _forget(self, trial: Ints) -> None:
        self._covariance[trial] = self._prior

    def _restore_trial(self, i: int) -> None:
        # Least squares: |w|^2 + |sqrt(n / lambda) R_X'w - b / sqrt(n lambda)|^2 is least at the mean of w.
        x = self.count[i].nonzero()[0]
        root = np.sqrt(self.count[i, x] / self.noise[i])
        data = np.vstack([self._prior, self._factors.features(x) * root[:, None]])
        value = np.concatenate([np.zeros(len(self._prior)), self.total[i, x] / (root * self.noise[i])])
        reduced: Any = np.linalg.qr(np.hstack([data, value[:, None]]), mode="r")
        triangle, explained = reduced[: len(self._prior), :-1], reduced[: len(self._prior), -1]
        inverse = solve_triangular(triangle, self._prior)
        self._covariance[i] = inverse @ inverse.T
        self.mean[i] = self._factors.expand((inverse @ explained)[None])[0]
        self.variance[i] = self._factors.quadratic(self._covariance[i])
        self.gain[i] = np.log(np.abs(np.diag(triangle))).sum()
