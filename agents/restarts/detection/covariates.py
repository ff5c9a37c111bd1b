"""Covariates of samples: indexed points of a prior, or feature vectors."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.arguments import is_integer
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

MOST_NODES = 4096  # of the integral over indexed points; larger sets are thinned evenly


class Covariates(abc.ABC):
    """Covariances of samples with each other and with the N nodes over which functions are compared.

    Attributes:
        kernel: the covariance function.
        variance: the largest prior variance at the nodes.
        dim: features d of a covariate.
    """

    kernel: Kernel
    variance: float
    dim: int

    @abc.abstractmethod
    def profile(self, x: Any) -> Floats:
        """Return k(x, nodes), (N,)."""

    @abc.abstractmethod
    def between(self, x: Any, others: list[Any]) -> Floats:
        """Return k(x, x_i), (m,)."""

    @abc.abstractmethod
    def own(self, x: Any) -> float:
        """Return k(x, x)."""


class Indexed(Covariates):
    """Covariates that are indices of the points of a `Gram`, which are the nodes too."""

    def __init__(self, gram: Gram):
        self.gram, self.kernel = gram, gram.kernel
        self.variance, self.dim = float(gram.diagonal.max()), gram.points.shape[1]
        step = -(-gram.size // MOST_NODES)
        self._nodes: slice | Ints = slice(None, None, step)

    def profile(self, x: int) -> Floats:
        if not is_integer(x) or not 0 <= x < self.gram.size:
            raise ValueError(f"x must be the index of a point in 0..{self.gram.size - 1}, got {x!r}")
        return self.gram.column(int(x))[self._nodes]

    def between(self, x: int, others: list[int]) -> Floats:
        return self.gram.column(x)[others]

    def own(self, x: int) -> float:
        return float(self.gram.diagonal[x])


class FeatureCovariates(Covariates):
    """Covariates that are feature vectors, (d,).

    Args:
        nodes: evenly spread or uniformly drawn points of the set of covariates, (N, d).
    """

    def __init__(self, kernel: Kernel, nodes: Floats):
        self.kernel, self.nodes = kernel, np.asarray(nodes, dtype=np.float64)
        if self.nodes.ndim != 2 or not len(self.nodes) or not np.isfinite(self.nodes).all():
            expected = "a finite array (count, features)"
            raise ValueError(f"nodes must be {expected} of points to compare at, got shape {np.shape(nodes)}")
        self.variance, self.dim = float(np.max(np.asarray(kernel.diag(self.nodes)))), self.nodes.shape[1]

    def profile(self, x: Floats) -> Floats:
        return np.asarray(self.kernel(self._row(x), self.nodes), dtype=np.float64)[0]

    def between(self, x: Floats, others: list[Floats]) -> Floats:
        if not others:
            return np.empty(0)
        return np.asarray(self.kernel(self._row(x), np.array(others)), dtype=np.float64)[0]

    def own(self, x: Floats) -> float:
        return float(np.asarray(self.kernel.diag(self._row(x)))[0])

    def _row(self, x: Floats) -> Floats:
        row = np.atleast_1d(np.asarray(x, dtype=np.float64))
        if row.shape != (self.dim,) or not np.isfinite(row).all():
            raise ValueError(f"x must be {self.dim} finite feature(s), got {x!r}")
        return row[None]
