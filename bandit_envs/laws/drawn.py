"""Hold one drawn function: its values at the points of a problem, and its evaluation between them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.definite import BLOCK_BYTES, blocks
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.random_features import feature_count, feature_map

SEARCH_BYTES = 2**26  # of an expansion in one block, which holds all points that a search of a box screens
LEAST_STD = 1e-5  # as a share of the prior std, below which a pivot is left out between the points


class Drawn(NamedTuple):
    """Hold one function."""

    values: Floats  # (N,) at the points of the problem
    norm: float | None = None  # in the kernel's RKHS; None if infinite or unknown
    between: Callable[[Floats], Floats] | None = None  # (n, dz + d) -> (n,), the same function anywhere

    def through(self, link: Callable[[Floats], Floats]) -> "Drawn":
        """Return link(f), whose norm is unknown."""
        between = None if self.between is None else Through(self.between, link)
        return Drawn(link(self.values), between=between)

    def rescaled(self, factor: float, shift: float = 0.0) -> "Drawn":
        """Return factor * f + shift; a shift leaves the RKHS, so the norm becomes None."""
        norm = None if self.norm is None or shift else abs(factor) * self.norm
        return self.through(partial(_affine, factor, shift))._replace(norm=norm)


# Functions on a box, (n, d) -> (n,): objects, not lambdas, so that an environment can be pickled in a trial.
@dataclass(frozen=True, eq=False)
class Expansion:
    """Evaluate sum_i alpha_i k(x_i, .)."""

    kernel: Any
    points: Floats  # (N, d)
    alpha: Floats  # (N,)

    def __call__(self, x: Floats) -> Floats:
        cut = blocks(x, len(self.points), SEARCH_BYTES)
        return np.concatenate([np.asarray(self.kernel(block, self.points)) @ self.alpha for block in cut])


@dataclass(frozen=True, eq=False)
class Continuation:
    """Evaluate the posterior mean of a GP given its values z @ R at the points.

    With P the pivots of the root R and T = R[:, P] triangular, K_PP = T'T and f_P = z @ T, so that
    f = k(., P) K_PP^-1 f_P = k(., P) T^-1 z. Pivots whose std given the earlier ones is below 1e-5 are left
    out: they would add 1e-5 to f, and rounding errors of 1e-8 between neighbours, which an optimiser follows.
    """

    gram: Gram
    z: Floats  # (r,)

    @cached_property
    def expansion(self) -> Expansion:
        """Return the function as a sum of kernels; it is solved for at the first evaluation."""
        std = self.gram.root[np.arange(len(self.z)), self.gram.pivots]  # descending
        pivots = self.gram.pivots[: np.count_nonzero(std > LEAST_STD * std[0])]
        alpha = solve_triangular(self.gram.root[: len(pivots), pivots], self.z[: len(pivots)])
        return Expansion(self.gram.kernel, self.gram.points[pivots], alpha)

    def __call__(self, x: Floats) -> Floats:
        return self.expansion(x)


@dataclass(frozen=True, eq=False)
class Waves:
    """Evaluate w'phi(x) of a kernel phi(x)'phi(x') of features, such as `RandomFeatures`; |w| is its norm."""

    kernel: Any
    weights: Floats  # (m,)

    @classmethod
    def drawn(cls, kernel: Any, rng: np.random.Generator) -> "Waves | None":
        """Return a draw of the Gaussian process; None if the kernel has no features."""
        count = feature_count(kernel)
        return None if count is None else cls(kernel, rng.standard_normal(count))

    def __call__(self, x: Floats) -> Floats:
        features = feature_map(self.kernel)
        assert features is not None
        cut = blocks(x, len(self.weights), BLOCK_BYTES)
        return np.concatenate([features(block) @ self.weights for block in cut])


@dataclass(frozen=True, eq=False)
class Through:
    """Evaluate g(f)."""

    function: Callable[[Floats], Floats]
    link: Callable[[Floats], Floats]

    def __call__(self, x: Floats) -> Floats:
        return self.link(self.function(x))


def _affine(factor: float, shift: float, values: Floats) -> Floats:
    return factor * values + shift
