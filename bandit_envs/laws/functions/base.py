"""What a law of functions draws, and what it says of them before."""

from __future__ import annotations

import abc
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.slopes import steepest
from bandit_envs.laws.drawn import Drawn

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
    def norm_bound(self) -> float | None:
        """Return a bound on all norms in the RKHS of the problem's kernel; None if it states none."""
        return None

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

    def steepest(self, gram: Gram) -> float | None:
        """Return L, |f(x) - f(x')| <= L |x - x'| for nearly all of its functions; None if it states none.

        Args:
            gram: the kernel's on the points.
        """
        given = self.among(gram.points)
        return steepest(given, gram.points) if len(given) else None

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
