"""Define the interface of function laws: draws, and facts that hold for every draw."""

import abc
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.slopes import of_unit_norm, steepest
from bandit_envs.laws.drawn import Drawn

SELDOM_BELOW = 3.0  # prior stds below the prior mean, which a Gaussian process seldom falls under


class Moments(NamedTuple):
    """Hold the mean and std of a law's values over points and draws."""

    mean: Floats | float  # one number, or (N,)
    deviation: float | None = None  # None: that of the kernel


class FunctionLaw(abc.ABC):
    """Draw random functions on the points of a problem.

    The facts about its functions hold for every draw, so they may be published before one is made.
    """

    moments: Moments | None = None  # that a prior should use; None for mean 0 and the kernel's variance
    least: float | None = None  # a lower bound by the nature of the values, such as 0 for accuracies
    has_box_form: bool = False  # whether a draw can be evaluated between the points
    is_fixed: bool = False  # whether every draw is one function, whose optimum is computed only once
    is_gaussian: bool = False  # whether it is a Gaussian process of mean zero: mixtures of draws are draws

    @property
    def norm_is_drawn(self) -> bool:
        """Return whether each draw has an RKHS norm of its own."""
        return False

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
        of_kernel = float(np.sqrt(gram.diagonal.max()))
        if self.moments is not None:
            mean, deviation = self.moments
            return of_kernel if deviation is None else _size(np.hypot(mean, deviation))
        return _size(self.among(gram.points)) or of_kernel

    @property
    def misspecification(self) -> float | None:
        """Return a bound on the distance of functions to the kernel's space; None if they lie in it."""
        return None

    def among(self, points: Floats) -> Floats:
        """Return all possible functions at points, (M, N), if they are given; else none, (0, N)."""
        return np.empty((0, len(points)))

    @abc.abstractmethod
    def draw(self, gram: Gram, rng: np.random.Generator) -> Drawn:
        """Draw one function; `gram` is the kernel's on the points."""

    def draws(self, gram: Gram, rng: np.random.Generator, count: int) -> Floats:
        """Return the values of independent draws, (count, N)."""
        return np.array([self.draw(gram, rng).values for _ in range(count)])


class OfBoundedNorm(FunctionLaw):
    """Draw functions of RKHS norm at most `bound`, B."""

    bound: float

    @property
    def norm_bound(self) -> float:
        return self.bound

    def steepest(self, gram: Gram) -> float:
        return self.bound * of_unit_norm(gram)

    def lower_bound(self, gram: Gram, prior_mean: Floats | float, norm: float | None) -> float:
        return -self.bound * float(np.sqrt(gram.diagonal.max()))


def _size(values: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(values)))) if np.size(values) else 0.0
