"""Where the unknown reward and constraint functions come from."""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.random_features import feature_count
from bandit_envs.kernels.sizes import spread
from bandit_envs.laws.drawn import Continuation, Drawn, Expansion, Waves

ROUNDING = 1e-9  # of the size of a function: what varies by less is a constant
CENTRES = 1000  # of an expansion on points too many for their covariance
SELDOM_BELOW = 3.0  # prior deviations under the prior mean that a Gaussian process is seldom below


class Moments(NamedTuple):
    """What is known of the values of a law's functions before one is drawn, over points and draws."""

    mean: Floats | float  # one number, or (N,)
    deviation: float | None = None  # None: that of the kernel


class FunctionLaw(abc.ABC):
    """The law of a random function on the points of a problem.

    What it says of its functions before one is drawn may be published: it is the same for every draw.
    """

    @property
    def norm_is_drawn(self) -> bool:
        """Whether each function comes with an RKHS norm of its own."""
        return False

    @property
    def moments(self) -> Moments | None:
        """What a prior should say of its functions; None if they are as the kernel says, of mean 0."""
        return None

    @property
    def least(self) -> float | None:
        """What no function is below by its nature, as no accuracy is below 0; None if there is none."""
        return None

    def lower_bound(self, gram: Gram, prior_mean: Floats | float, norm: float | None) -> float:
        """What functions are never or seldom below: the prior mean less 3 prior deviations, or `least`.

        The larger of both: where all accuracies are near 0.7, that none is below 0 says little.

        Args:
            gram: the kernel's on the points.
            prior_mean: what is published of the mean, one number or (N,).
            norm: what is published of the norm in the kernel's RKHS, None if nothing is.
        """
        seldom = float((prior_mean - SELDOM_BELOW * np.sqrt(gram.diagonal)).min())
        return seldom if self.least is None else max(seldom, self.least)

    @property
    def misspecification(self) -> float | None:
        """How far, at most, its functions are from those that the kernel is for; None if they are such."""
        return None

    @property
    def has_box_form(self) -> bool:
        """Whether a draw can be evaluated between the points."""
        return False

    @property
    def is_fixed(self) -> bool:
        """Whether every draw is the same function, so that its optimum need be found only once."""
        return False

    @property
    def is_gaussian(self) -> bool:
        """Whether it is a Gaussian process of mean zero, so that mixtures of draws are draws."""
        return False

    def among(self, points: Floats) -> Floats:
        """All functions that it can be at points, (M, N), where they are given; else none, (0, N)."""
        return np.empty((0, len(points)))

    @abc.abstractmethod
    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Draw one function; `gram` is the kernel's on the points."""

    def draws(self, gram: Gram, rng: np.random.Generator, count: int) -> Floats:
        """Values of independent draws, (count, N)."""
        return np.array([self.draw(gram, rng).values for _ in range(count)])


@dataclass(frozen=True)
class GPSample(FunctionLaw):
    """f ~ GP(0, k) (Srinivas et al. 2010, Section 6).

    Between the points f is what its values there say of it, the posterior mean: one function on the whole
    box, that of the finite set on its points. It differs from a full draw by the deviation that the points
    leave: nothing for a smooth kernel on points closer than its length-scale, and for others a draw
    smoothed below the distance of neighbours. A kernel of `RandomFeatures` determines f everywhere.

    A draw uses what kernel and points allow (`Gram.structure`): the root of the covariance on up to 20,000
    points, and of a low-rank kernel on more while that takes seconds, O(r N); beyond, the factors of a
    product kernel on a product of sets, O(N n_i), or Fourier transforms for a stationary kernel on a
    regular grid, O(N log N). On other points that many only random features are drawn.
    """

    @property
    def has_box_form(self) -> bool:
        """Its values at the points determine it."""
        return True

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Z @ R with R'R = K, or as kernel and points allow."""
        waves = Waves.drawn(gram.kernel, rng)
        if waves is not None:
            return Drawn(waves(gram.points), between=waves)
        if gram.structure is not None:
            return Drawn(gram.structure.draw(rng))
        z = gram.white(rng)
        return Drawn(z @ gram.root, between=Continuation(gram, z))

    @property
    def is_gaussian(self) -> bool:
        """It is."""
        return True

    def draws(self, gram: Gram, rng: np.random.Generator, count: int) -> Floats:
        """Z @ R in one product, where that is how one is drawn."""
        if gram.structure is not None or feature_count(gram.kernel) is not None:
            return super().draws(gram, rng, count)
        return np.array([gram.white(rng) for _ in range(count)]) @ gram.root


@dataclass(frozen=True)
class RKHSFunction(FunctionLaw):
    r"""f = sum_i alpha_i k(x_i, .), a posterior mean given y ~ N(0, K) (Chowdhury & Gopalan 2017, section 6).

    alpha = (K + rho I)^{-1} y and ||f||^2 = alpha' K alpha, with rho = `ridge` times the range of y and the
    prior deviation, which the paper takes as 1. In the basis P = Q R of `Gram.eigen_rotation`, y = z @ P and
    f = w @ P with w_i = z_i e_i / (e_i + rho), so that ||f|| = |w|; O(r N). z is drawn for the pivoted root
    and rotated, for the signs of eigenvectors differ from machine to machine. The range of a constant y, as
    that of a single point, counts as its size.

    Where the root would take too long (`Gram.has_quick_root`: on more than 20,000 points, unless the kernel
    is of low rank), y is drawn on 1000 of the points, and f is the posterior mean given these: its norm is as
    exact, and f(x) = k(x, X) alpha is computed in blocks, or by the structure of kernel and points.

    Args:
        ridge: rho as a share of the range of y times the prior deviation.
        norm: if given, f is scaled to have exactly this RKHS norm.
    """

    ridge: float = 0.01
    norm: float | None = None

    def __post_init__(self) -> None:
        require(is_number(self.ridge) and self.ridge > 0, "ridge", "positive", self.ridge)
        valid = self.norm is None or (is_number(self.norm) and self.norm > 0)
        require(valid, "norm", "None or positive", self.norm)

    @property
    def has_box_form(self) -> bool:
        """The expansion holds everywhere."""
        return True

    @property
    def norm_is_drawn(self) -> bool:
        """Unless all have the same."""
        return self.norm is None

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Draw y and shrink it."""
        drawn = self._shrunk(gram, rng) if gram.has_quick_root else self._spread(gram, rng)
        if self.norm is None:
            return drawn
        assert drawn.norm is not None
        return drawn.rescaled(self.norm / drawn.norm)._replace(norm=self.norm)

    def _shrunk(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        eigenvalues, rotation = gram.eigen_rotation
        white = gram.white(rng)
        y = white @ gram.root
        z = rotation @ white
        size = np.abs(y).max()
        extent = np.ptp(y) if np.ptp(y) > ROUNDING * size else size
        rho = self.ridge * extent * np.sqrt(gram.diagonal.max())
        weights = z * eigenvalues / (eigenvalues + rho)
        values = (weights @ rotation) @ gram.root
        alpha = (y - values) / rho  # rho alpha = y - K alpha
        return Drawn(values, float(np.linalg.norm(weights)), Expansion(gram.kernel, gram.points, alpha))

    def _spread(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """That of some points, at all of them."""
        drawn = self._shrunk(gram.some(CENTRES), rng)
        assert isinstance(drawn.between, Expansion)
        return drawn._replace(values=gram.combine(spread(gram.size, CENTRES), drawn.between.alpha))

    def lower_bound(self, gram: Gram, prior_mean: Floats | float, norm: float | None) -> float:
        """-B s, s the largest prior deviation: |f(x)| = |<f, k(x, .)>| <= ||f|| sqrt(k(x, x))."""
        if norm is None:
            return super().lower_bound(gram, prior_mean, norm)
        return -norm * float(np.sqrt(gram.diagonal.max()))


@dataclass(frozen=True)
class KnownFunction(FunctionLaw):
    """A given function, such as a test function of optimisation.

    Args:
        function: vectorised, (n, dz + d) -> (n,), finite everywhere on the decision set.
        moments: of its values.
    """

    function: Callable[[Floats], Any]
    moments: Moments | None = None  # type: ignore[assignment]  # a field in place of the property

    @property
    def has_box_form(self) -> bool:
        """It is a formula."""
        return True

    @property
    def is_fixed(self) -> bool:
        """It is given."""
        return True

    def among(self, points: Floats) -> Floats:
        """Itself, (1, N)."""
        return self._values(points)[None]

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """The function itself."""
        return Drawn(self._values(gram.points), between=self._values)

    def _values(self, points: Floats) -> Floats:
        values = np.asarray(self.function(points), dtype=np.float64)
        require(values.shape == (len(points),), "known function", f"({len(points)},) values", values.shape)
        require(np.isfinite(values).all(), "known function", "finite at every point", "NaN or infinity")
        return values


@dataclass(frozen=True, eq=False)
class Recorded(FunctionLaw):
    """One of M recorded objectives, drawn uniformly.

    Args:
        values: (M, N), one row an objective.
        least: the least value that the metric can have, whatever was recorded: 0 of an accuracy.
        moments: of the values, as far as they are known beforehand.
    """

    values: Floats
    least: float | None = None  # type: ignore[assignment]  # fields in place of the properties
    moments: Moments | None = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        matrix = np.ndim(self.values) == 2 and np.size(self.values) > 0
        require(matrix, "recorded values", "an (M, N) array", np.shape(self.values))
        require(np.isfinite(self.values).all(), "recorded values", "finite", "NaN or infinity")

    def among(self, points: Floats) -> Floats:
        """All rows."""
        return self.values

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """A row."""
        require(self.values.shape[1] == gram.size, "recorded values", f"(M, {gram.size})", self.values.shape)
        return Drawn(self.values[rng.integers(len(self.values))])


LAWS: dict[str, type[FunctionLaw]] = {"gp": GPSample, "rkhs": RKHSFunction}
