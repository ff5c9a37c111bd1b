"""Laws of the unknown reward and constraint functions, given or drawn from a Gaussian process or its RKHS."""

import abc
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from bandit_envs.basics import arguments
from bandit_envs.basics.arguments import ArgumentError, as_array, require
from bandit_envs.basics.options import SQUARED_SCALE, Checked, positive
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.definite import spread
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.random_features import feature_count
from bandit_envs.kernels.validity import of_samples, of_unit_norm, steepest
from bandit_envs.laws.drawn import Continuation, Drawn, Expansion, Waves

SELDOM_BELOW = 3.0  # prior stds below the prior mean, which a Gaussian process seldom falls under
ROUNDING = 1e-9  # of the size of a function, below which its variation counts as none
CENTRES = 1000  # of an expansion where the points are too many for a covariance matrix
TRIES = 1000  # draws until a function differs from former ones


class Moments(NamedTuple):
    """Hold the mean and std of a law's values over points and draws."""

    mean: Floats | float  # one number, or (N,)
    std: float | None = None  # None: that of the kernel


class FunctionLaw(abc.ABC):
    """Draw random functions on the points of a problem.

    The facts about its functions hold for every draw, so they may be published before one is made.
    """

    moments: Moments | None = None  # that a prior should use; None for mean 0 and the kernel's variance
    least: float | None = None  # a lower bound by the nature of the values, such as 0 for accuracies
    has_box_form: bool = False  # whether a draw can be evaluated between the points
    num_functions: int | None = None  # different functions that it may draw at most; None for any number
    num_stated: int | None = None  # segments whose functions are stated in order; None if they are drawn
    is_gaussian: bool = False  # whether it is a Gaussian process of mean zero: mixtures of draws are draws
    norm_is_drawn: bool = False  # whether each draw has an RKHS norm of its own
    misspecification: float | None = None  # bound on the distance of functions to the kernel's space

    @property
    def is_fixed(self) -> bool:
        """Return whether every draw is one function, whose optimum is computed only once."""
        return self.num_functions == 1

    @property
    def norm_bound(self) -> float | None:
        """Return a bound on all norms in the RKHS of the problem's kernel; None if there is none."""
        return None

    def lower_bound(self, gram: Gram, prior_mean: Floats | float, norm: float | None) -> float:
        """Return a level that functions never or seldom fall below: prior mean - 3 prior stds, or `least`.

        The larger of both is taken: where all accuracies are near 0.7, the bound 0 is uninformative. The
        prior mean is one number or (N,), and the norm in the kernel's RKHS None where none is published.
        """
        seldom = float((prior_mean - SELDOM_BELOW * np.sqrt(gram.diagonal)).min())
        return seldom if self.least is None else max(seldom, self.least)

    def steepest(self, gram: Gram) -> float | None:
        """Return L, |f(x) - f(x')| <= L |x - x'| for nearly all functions; None if there is none."""
        given = self.among(gram.points)
        return steepest(given, gram.points) if len(given) else None

    def prior_std(self, gram: Gram) -> float:
        """Return the prior std of its functions around 0: of moments, of given functions, or the kernel's."""
        of_kernel = gram.largest_std
        if self.moments is not None:
            mean, std = self.moments
            return of_kernel if std is None else _size(np.hypot(mean, std))
        return _size(self.among(gram.points)) or of_kernel

    def among(self, points: Floats) -> Floats:
        """Return all possible functions at points, (M, N), if they are given; else none, (0, N)."""
        return np.empty((0, len(points)))

    def sized(self, num_arms: int, size: int) -> "FunctionLaw":
        """Return the law for a set of A arms and N points, or raise where it is of another size."""
        return self

    @abc.abstractmethod
    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Draw one function; `gram` is the kernel's on the points."""

    def draws(self, gram: Gram, rng: np.random.Generator, count: int) -> Floats:
        """Return the values of independent draws, (count, N)."""
        return np.array([self.draw(gram, rng).values for _ in range(count)])

    def draw_other(self, gram: Gram, rng: np.random.Generator, former: Sequence[Drawn]) -> Drawn:
        """Draw a function that differs at some point from each of the former ones."""
        for _ in range(TRIES):
            drawn = self.draw(gram, rng)
            if not any(are_same(drawn.values, each.values) for each in former):
                return drawn
        complaint = f"must be fewer: in {TRIES} draws {self} had no function but the last {len(former)}"
        raise ArgumentError("changes", f"{complaint}; or draw functions of another law")

    def in_segments(self, gram: Gram, rng: np.random.Generator, count: int, different: int) -> list[Drawn]:
        """Draw the functions of successive segments, of which so many successive ones differ from each other.

        A law with fewer functions than that never repeats the last one; a law of one function repeats it, and
        a problem sees to it that another of its laws changes.
        """
        if self.num_stated is not None:
            return [self.in_segment(i).draw(gram, rng) for i in range(count)]
        if self.is_fixed:
            return [self.draw(gram, rng)] * count
        apart = different if self.num_functions is None else min(different, self.num_functions)
        drawn = [self.draw(gram, rng)]
        while len(drawn) < count:
            drawn.append(self.draw_other(gram, rng, drawn[1 - max(apart, 2) :]))
        return drawn

    def in_segment(self, segment: int) -> "FunctionLaw":
        """Return the law of the function of one segment, where they are stated in their order."""
        return self


class OfBoundedNorm(FunctionLaw):
    """Draw functions of RKHS norm at most `bound`, B."""

    bound: float

    @property
    def norm_bound(self) -> float:
        return self.bound

    def steepest(self, gram: Gram) -> float:
        return self.bound * of_unit_norm(gram)

    def lower_bound(self, gram: Gram, prior_mean: Floats | float, norm: float | None) -> float:
        return -self.bound * gram.largest_std


@dataclass(frozen=True)
class KnownFunction(FunctionLaw):
    """Use a given function, such as a test function of optimisation, (n, dz + d) -> (n,), finite."""

    function: Callable[[Floats], Any]
    moments: Moments | None = None

    has_box_form = True
    num_functions = 1

    def among(self, points: Floats) -> Floats:
        return self._values(points)[None]

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        return Drawn(self._values(gram.points), between=self._values)

    def _values(self, points: Floats) -> Floats:
        given = as_array(self.function(points))
        require(given.dtype.kind in "biuf", "known function", "an array of real numbers", given)
        values = given.astype(np.float64)
        require(values.shape == (len(points),), "known function", f"({len(points)},) values", values.shape)
        require(np.isfinite(values).all(), "known function", "finite at every point", "NaN or infinity")
        small = f"at most {arguments.LARGEST_STD:g} in size; its square is a variance"
        require((np.abs(values) <= arguments.LARGEST_STD).all(), "known function", small, values)
        return values


@dataclass(frozen=True)
class GPSample(FunctionLaw):
    """Draw f ~ GP(0, k) (Srinivas et al. 2010, Section 6).

    Between the points f is the posterior mean given its values there: one function on the whole box, equal to
    the finite set's at the points. A full draw differs from it by the posterior std that the points leave:
    nothing for a smooth kernel on points closer than its length-scale; for others f is a draw smoothed below
    the distance of neighbours. A kernel of `RandomFeatures` determines f everywhere.

    The method follows kernel and points (`Gram.structure`): the root of the covariance on up to 5000
    points, and for a low-rank kernel on more while that takes seconds, O(r N); beyond, the factors of a
    product kernel on a product of sets, O(N n_i), or Fourier transforms for a stationary kernel on a
    regular grid, O(N log N). On other sets the root is used up to 20,000 points, O(N^3) and with a warning,
    and on more of them only random features are drawn.
    """

    has_box_form = True
    is_gaussian = True

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Return z @ R with R'R = K, or a draw by the structure of kernel and points."""
        waves = Waves.drawn(gram.kernel, rng)
        if waves is not None:
            return Drawn(waves(gram.points), between=waves)
        if gram.structure is not None:
            return Drawn(gram.structure.draw(rng))
        z = gram.white(rng)
        return Drawn(z @ gram.root, between=Continuation(gram, z))

    def steepest(self, gram: Gram) -> float:
        """Return a slope that a draw exceeds with probability 0.01 at most."""
        return of_samples(gram)

    def draws(self, gram: Gram, rng: np.random.Generator, count: int) -> Floats:
        """Return Z @ R in one product, where single draws are z @ R."""
        if gram.structure is not None or feature_count(gram.kernel) is not None:
            return super().draws(gram, rng, count)
        return np.array([gram.white(rng) for _ in range(count)]) @ gram.root


@dataclass(frozen=True)
class RKHSFunction(Checked, FunctionLaw):
    r"""Draw f = sum_i alpha_i k(x_i, .), the posterior mean for y ~ N(0, K) (Chowdhury & Gopalan 2017, 6).

    alpha = (K + rho I)^{-1} y and ||f||^2 = alpha' K alpha, with rho = `ridge` times the range of y and the
    prior std, which the paper takes as 1. In the basis P = Q R of `Gram.eigen_rotation`, y = z @ P and
    f = w @ P with w_i = z_i e_i / (e_i + rho), so that ||f|| = |w|; O(r N). z is drawn for the pivoted root
    and rotated, because the signs of eigenvectors differ between machines. If y is constant, as on a single
    point, |y| replaces its range.

    Where the root would take too long (`Gram.has_quick_root`: on more than 5000 points, unless the kernel
    is of low rank), y is drawn on 1000 of the points, and f is the posterior mean given these: its norm is as
    exact, and f(x) = k(x, X) alpha is computed in blocks, or by the structure of kernel and points.

    Args:
        ridge: rho as a share of the range of y times the prior std.
        norm: if given, f is scaled to have exactly this RKHS norm.
    """

    ridge: Annotated[float, positive()] = 0.01
    norm: Annotated[float, positive("or leave it out, and norms are drawn"), SQUARED_SCALE] | None = None

    has_box_form = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "norm_is_drawn", self.norm is None)

    @property
    def norm_bound(self) -> float | None:
        return self.norm

    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        if gram.has_quick_root:
            drawn = self._shrunk(gram, rng)
        else:  # on some of the points, and evaluated at all of them
            drawn = self._shrunk(gram.some(CENTRES), rng)
            assert isinstance(drawn.between, Expansion)
            drawn = drawn._replace(values=gram.combine(spread(gram.size, CENTRES), drawn.between.alpha))
        if self.norm is None:
            return drawn
        assert drawn.norm is not None
        return drawn.rescaled(self.norm / drawn.norm)._replace(norm=self.norm)

    def _shrunk(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        eigenvalues, rotation = gram.eigen_rotation
        white = gram.white(rng)
        y = white.dot(gram.root)
        z = rotation @ white
        low, high = y.item(y.argmin()), y.item(y.argmax())
        size = max(-low, high)
        extent = high - low if high - low > ROUNDING * size else size
        rho = self.ridge * extent * gram.largest_std
        weights = z * eigenvalues / (eigenvalues + rho)
        values = (weights @ rotation).dot(gram.root)
        alpha = (y - values) / rho  # rho alpha = y - K alpha
        return Drawn(values, math.sqrt(weights.dot(weights)), Expansion(gram.kernel, gram.points, alpha))

    def steepest(self, gram: Gram) -> float:
        """Return B max d(x, x') / |x - x'|; where norms are drawn, the slope of the samples y."""
        return of_samples(gram) if self.norm is None else self.norm * of_unit_norm(gram)

    def lower_bound(self, gram: Gram, prior_mean: Floats | float, norm: float | None) -> float:
        """Return -B s, s the largest prior std: |f(x)| = |<f, k(x, .)>| <= ||f|| sqrt(k(x, x))."""
        if norm is None:
            return super().lower_bound(gram, prior_mean, norm)
        return -norm * gram.largest_std


LAWS: dict[str, type[FunctionLaw]] = {"gp": GPSample, "rkhs": RKHSFunction}


def are_same(one: Floats, other: Floats) -> bool:
    """Return whether two functions differ nowhere by more than rounding."""
    return bool(np.abs(one - other).max() <= ROUNDING * np.abs(one).max())


def _size(values: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(values)))) if np.size(values) else 0.0
