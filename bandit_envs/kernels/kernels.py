"""Kernels by name: scikit-learn's objects, and kernels on some of the features."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels
from sklearn.gaussian_process.kernels import RBF, Hyperparameter, Kernel, Matern

from bandit_envs.basics.arguments import LEAST_SCALE, ArgumentError, as_array, shown
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.definite import nearest_definite, require_definite

LengthScale = float | Sequence[float]

LENGTH_BOUNDS = (5e-5, 5e5)  # of a learnt length-scale, relative: scikit-learn's at a length-scale of 0.2
VARIANCE_BOUNDS = (1e-5, 1e5)  # of a learnt amplitude, relative: scikit-learn's at 1


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


def _rational_quadratic(length_scale: LengthScale, length_scale_bounds: Any) -> Kernel:
    if np.ndim(length_scale):
        raise ValueError("kernel 'rational_quadratic' has one length_scale, got a list; pass a number")
    return kernels.RationalQuadratic(length_scale, alpha=1.0, length_scale_bounds=length_scale_bounds)  # type: ignore[arg-type]


NAMED: dict[str, Callable[[Any, Any], Kernel]] = {
    "rbf": RBF,
    "matern12": partial(Matern, nu=0.5),
    "matern32": partial(Matern, nu=1.5),
    "matern52": partial(Matern, nu=2.5),
    "rational_quadratic": _rational_quadratic,
    "linear": lambda scale, bounds: kernels.DotProduct(sigma_0=0.0, sigma_0_bounds="fixed"),
    "diagonal": lambda scale, bounds: kernels.WhiteKernel(1.0),
}


def make_kernel(kernel: str | Kernel, length_scale: LengthScale = 0.2) -> Kernel:
    """Return a scikit-learn kernel from its name, or the kernel object itself.

    Args:
        kernel: one of `NAMED`, or a scikit-learn kernel (then `length_scale` is not used).
        length_scale: in units of the decision set; one number, or one a dimension.
    """
    if isinstance(kernel, Kernel):
        return kernel
    if not isinstance(kernel, str) or kernel not in NAMED:
        known = ", ".join(sorted(NAMED))
        complaint = f"must be one of {known}, or a scikit-learn kernel object, got {shown(kernel)}"
        raise ArgumentError("kernel", complaint)
    scales = as_array(length_scale)
    listed = scales.dtype.kind in "iuf" and scales.ndim < 2 and scales.size > 0
    if not (listed and ((scales > 0) & (scales < np.inf)).all()):
        remedy = "give one number, or one a feature"
        raise ArgumentError("length_scale", f"must be positive, got {shown(length_scale)}; {remedy}")
    if (scales < LEAST_SCALE).any():
        small = f"must be at least {LEAST_SCALE:g}, got {shown(length_scale)}; it divides the features"
        raise ArgumentError("length_scale", small)
    return NAMED[kernel](length_scale, np.outer(scales, LENGTH_BOUNDS).squeeze())


def amplified(kernel: Kernel, variance: float) -> Kernel:
    """Return variance * k; bounds for learning it are relative to it."""
    if variance == 1.0:
        return kernel
    low, high = VARIANCE_BOUNDS
    return kernels.ConstantKernel(variance, (low * variance, high * variance)) * kernel


class TableKernel(Kernel):
    """Hold the covariance of N things without coordinates, such as sensors; a point is an index, (n, 1).

    Args:
        covariance: symmetric and positive semi-definite, (N, N). Pairwise covariances of records with gaps
            need not be: see `nearest`.
    """

    def __init__(self, covariance: Floats):
        require_definite("covariance", covariance, "take TableKernel.nearest(covariance)")
        self.covariance = covariance

    @classmethod
    def nearest(cls, covariance: Floats) -> "TableKernel":
        """Return the table of `nearest_definite`, which keeps the variances."""
        return cls(nearest_definite(covariance))

    def __call__(self, X: Floats, Y: Floats | None = None, eval_gradient: bool = False) -> Any:
        """Return covariances of points, (n, 1) and (m, 1) -> (n, m)."""
        rows = _index(X)
        values = self.covariance[np.ix_(rows, rows if Y is None else _index(Y))]
        return (values, np.empty((*values.shape, 0))) if eval_gradient else values

    def diag(self, X: Floats) -> Any:
        """Return variances of points, (n, 1) -> (n,)."""
        return np.diag(self.covariance)[_index(X)].copy()

    def is_stationary(self) -> Any:
        """Return False."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableKernel) and np.array_equal(self.covariance, other.covariance)

    def __hash__(self) -> int:
        return hash(self.covariance.tobytes())

    def __repr__(self) -> str:
        return f"TableKernel({len(self.covariance)} points)"


def _index(points: Floats) -> Any:
    return np.asarray(points)[:, 0].astype(np.int64)


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

    def __call__(self, X: Floats, Y: Floats | None = None, eval_gradient: bool = False) -> Any:
        """Return covariances, (n, d) and (m, d) -> (n, m); the slopes in no hyperparameter are empty."""
        variance = float(np.asarray(self.kernel.diag(np.asarray(X)[:1]))[0]) if len(X) else 1.0
        correlation = np.asarray(self.kernel(X, Y), dtype=np.float64) / variance
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
