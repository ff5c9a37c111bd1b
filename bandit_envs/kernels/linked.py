"""The covariance of a function of a Gaussian process: the moment-matched kernel of clicks and counts."""

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel

from bandit_envs.basics.types import Floats


class LinkedKernel(Kernel):
    """Evaluate sum_j a_j rho(x, x')^j, rho = k / v the correlation of a kernel of one variance v everywhere.

    With a_j >= 0 it is positive semi-definite, as products and sums of kernels are (Schur). For
    a_j = c_j^2, c_j the Hermite coefficients of g(sqrt(v) u), it is Cov(g(f(x)), g(f(x'))), f ~ GP(0, k).

    It has no hyperparameters: agents that learn some learn its amplitude.

    Args:
        kernel: k, of one variance everywhere.
        shares: a_1, a_2, ..., (J,).
    """

    maps_features = True  # so it is positive semi-definite if the inner kernel is

    def __init__(self, kernel: Kernel, shares: Floats):
        # Unchanged: scikit-learn's clone compares parameters by identity.
        self.kernel = kernel
        self.shares = shares

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        """Return none."""
        return []

    def __call__(self, X: Floats, Y: Floats | None = None, eval_gradient: bool = False) -> Any:
        """Return covariances, (n, d) and (m, d) -> (n, m); the slopes in no hyperparameter are empty."""
        correlation = np.asarray(self.kernel(X, Y), dtype=np.float64) / latent_variance(self.kernel, X)
        values = np.zeros_like(correlation)
        for share in self.shares[::-1]:  # Horner's scheme
            values += share
            values *= correlation
        return (values, np.empty((*values.shape, 0))) if eval_gradient else values

    def diag(self, X: Floats) -> Any:
        """Return variances, (n, d) -> (n,)."""
        return np.full(len(X), float(np.sum(self.shares)))

    def is_stationary(self) -> Any:
        """Return whether the inner kernel depends on differences alone."""
        return self.kernel.is_stationary()

    def __repr__(self) -> str:
        return f"LinkedKernel({self.kernel!r}, {len(self.shares)} terms)"


def latent_variance(kernel: Any, points: Floats) -> float:
    """Return the variance v of a kernel that has the same everywhere."""
    return float(kernel.diag(np.asarray(points)[:1])[0]) if len(points) else 1.0
