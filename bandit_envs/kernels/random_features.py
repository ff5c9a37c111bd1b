"""Define a kernel of finitely many random waves, which can be declared the kernel of a problem."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, Matern, Product, RationalQuadratic

from bandit_envs.basics.arguments import ArgumentError, require_integer, require_size, shown
from bandit_envs.basics.types import Floats

FeatureMap = Callable[[Floats], Floats]  # (n, d) -> (n, m)


class RandomFeatures(Kernel):
    r"""Evaluate (2 / m) sum_{i <= m / 2} cos(w_i'(x - x')), w_i drawn from the spectrum of another kernel.

    It is the kernel of the m features sqrt(2 / m) (cos w_i'x, sin w_i'x), hence of rank m on any points, and
    a stationary kernel of variance 1 in its own right: where a problem declares it as its kernel, draws,
    norms |weights| and the posteriors of learners are exact. From the other kernel it differs at a pair of
    points by more than eps with probability at most 2 exp(-m eps^2 / 4) (Hoeffding). It has no
    hyperparameters to learn.

    Args:
        kernel: RBF, Matern or RationalQuadratic, whose spectrum is known.
        count: m, an even number.
        seed: of the w_i, which depend on nothing else.
    """

    maps_features = True  # so it is positive semi-definite for any w_i

    def __init__(self, kernel: Any, count: int = 512, seed: int = 0):
        # Unchanged: scikit-learn's clone compares parameters by identity.
        if type(kernel) not in SPECTRA:
            known = ", ".join(each.__name__ for each in SPECTRA)
            raise ArgumentError("kernel", f"must be one of {known} for random features, got {shown(kernel)}")
        require_integer("random_features", count, 2, "give an even number such as 512")
        require_size("random_features", count)
        if count % 2:
            raise ArgumentError("random_features", f"must be even, got {count}; features come in pairs")
        self.kernel, self.count, self.seed = kernel, count, seed

    def features(self, X: Floats) -> Floats:
        """Return the features of points, (n, d) -> (n, m)."""
        rng = np.random.default_rng(self.seed)
        waves = rng.standard_normal((self.count // 2, X.shape[1])) / self.kernel.length_scale
        waves *= SPECTRA[type(self.kernel)](self.kernel, rng, self.count // 2)[:, None]
        phase = X @ waves.T
        return np.hstack([np.cos(phase), np.sin(phase)]) * np.sqrt(2.0 / self.count)

    def __call__(self, X: Floats, Y: Floats | None = None, eval_gradient: bool = False) -> Any:
        """Return covariances, (n, d) and (m, d) -> (n, m)."""
        rows = self.features(np.asarray(X))
        values = rows @ (rows if Y is None else self.features(np.asarray(Y))).T
        return (values, np.empty((*values.shape, 0))) if eval_gradient else values

    def diag(self, X: Floats) -> Any:
        """Return variances, 1 each, (n, d) -> (n,)."""
        return np.ones(len(X))

    def is_stationary(self) -> Any:
        """Return True."""
        return True

    def __repr__(self) -> str:
        return f"RandomFeatures({self.kernel!r}, count={self.count}, seed={self.seed})"


def feature_count(kernel: Any) -> int | None:
    """Return the number of features of `RandomFeatures` or a multiple of it; None for other kernels."""
    found = _scaled(kernel)
    return None if found is None else found[1].count


def feature_map(kernel: Any) -> FeatureMap | None:
    """Return the features as a function of points; None if there are none."""
    found = _scaled(kernel)
    return None if found is None else lambda points: found[0] * found[1].features(points)


def _scaled(kernel: Any) -> tuple[float, RandomFeatures] | None:
    """Return the std and the features of a kernel that is a multiple of `RandomFeatures`."""
    if type(kernel) is RandomFeatures:
        return 1.0, kernel
    if type(kernel) is Product:
        for constant, other in ((kernel.k1, kernel.k2), (kernel.k2, kernel.k1)):
            if type(constant) is ConstantKernel and (inner := _scaled(other)) is not None:
                return inner[0] * float(np.sqrt(constant.constant_value)), inner[1]
    return None


def _of_matern(kernel: Any, rng: np.random.Generator, size: int) -> Floats:
    """Draw from Student's distribution with 2 nu degrees of freedom, relative to a normal draw."""
    smooth = np.isinf(kernel.nu)  # the squared exponential
    return np.ones(size) if smooth else np.sqrt(2.0 * kernel.nu / rng.chisquare(2.0 * kernel.nu, size))


# For each kernel with length-scale l, factors of normal waves of std 1 / l, (m / 2,).
SPECTRA: dict[type[Kernel], Callable[[Any, np.random.Generator, int], Floats]] = {
    RBF: lambda kernel, rng, size: np.ones(size),
    Matern: _of_matern,
    # Of a mixture of squared exponentials with gamma-distributed precisions.
    RationalQuadratic: lambda kernel, rng, size: np.sqrt(rng.gamma(kernel.alpha, 1 / kernel.alpha, size)),
}
