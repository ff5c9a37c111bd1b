"""Apply a kernel to some of the features, so that scikit-learn's `*` and `+` join contexts and arms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel

from bandit_envs.basics.types import Floats


class OnColumns(Kernel):
    """Evaluate k(x, x') = kernel(x[columns], x'[columns]).

    Hyperparameters, their bounds and gradients are the inner kernel's, so that scikit-learn learns them:
    over (context, arm) features, `OnColumns(RBF(0.5), [0]) * OnColumns(Matern(0.2), [1, 2])` is the
    product kernel of Krause & Ong (2011), and `+` their sum kernel.

    Args:
        kernel: any scikit-learn kernel.
        columns: of the features, in the order in which the kernel sees them.
    """

    maps_features = True  # so it is positive semi-definite if the inner kernel is

    def __init__(self, kernel: Kernel, columns: Sequence[int]):
        # Unchanged: scikit-learn's clone compares parameters by identity.
        self.kernel = kernel
        self.columns = columns

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return kernel and columns, and with `deep` the kernel's own parameters as kernel__<name>."""
        inner = self.kernel.get_params() if deep else {}
        return {
            "kernel": self.kernel,
            "columns": self.columns,
            **{f"kernel__{name}": value for name, value in inner.items()},
        }

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        """Return the inner kernel's hyperparameters."""
        inner: list[Any] = self.kernel.hyperparameters
        return [parameter._replace(name=f"kernel__{parameter.name}") for parameter in inner]

    @property
    def theta(self) -> Floats:
        """Return the logarithms of the inner kernel's free hyperparameters, (p,)."""
        return self.kernel.theta

    @theta.setter
    def theta(self, theta: Floats) -> None:
        self.kernel.theta = theta

    @property
    def bounds(self) -> Floats:
        """Return bounds on theta, (p, 2)."""
        return self.kernel.bounds

    def __call__(self, X: Floats, Y: Floats | None = None, eval_gradient: bool = False) -> Any:
        """Return covariances, (n, d) and (m, d) -> (n, m), and with `eval_gradient` slopes, (n, n, p)."""
        return self.kernel(self._seen(X), None if Y is None else self._seen(Y), eval_gradient=eval_gradient)

    def diag(self, X: Floats) -> Any:
        """Return variances, (n, d) -> (n,)."""
        return self.kernel.diag(self._seen(X))

    def is_stationary(self) -> Any:
        """Return whether the inner kernel depends on differences alone."""
        return self.kernel.is_stationary()

    def __repr__(self) -> str:
        return f"OnColumns({self.kernel!r}, {list(self.columns)})"

    def _seen(self, points: Floats) -> Floats:
        return np.asarray(points)[:, list(self.columns)]
