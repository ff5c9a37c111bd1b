"""The interface of one trial's memory, in which older plays have less weight."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import TOLERANCE, Gram
from bandit_envs.kernels.roots import pivoted_root, white

from ..play_factor import Factor
from ..sufficient_statistics import SufficientStatistics


class Memory(abc.ABC):
    """Rows V (k, A) at any A points and the innovations e (k,): mu = V'e, Sigma = K - V'V.

    A subclass defines the effect of a passing round and of an observation.

    Args:
        gram: the prior covariance.
        noise: lambda, the noise variance of a play that has not faded.
    """

    def __init__(self, gram: Gram, noise: float):
        self.gram, self.noise = gram, noise

    @property
    def growth(self) -> float:
        """Prior variance of the next round relative to the kernel's; above 1 on finite sets alone."""
        return 1.0

    @abc.abstractmethod
    def advance(self) -> None:
        """Begin a round: all observations become one round older."""

    @abc.abstractmethod
    def observe(self, x: int, value: float, age: int, plays: float = 1.0) -> None:
        """Condition on the mean value of some plays of x, `age` rounds before the latest one."""

    @abc.abstractmethod
    def correct(self, x: int, change: float) -> None:
        """Change the value of the latest observed play of x."""

    @abc.abstractmethod
    def rows(self, cells: Ints | None) -> Floats:
        """Return V at some points, (k, A); None for all N. Read only."""

    @property
    @abc.abstractmethod
    def factor(self) -> Factor:
        """The plays as a factor, which determines the belief about the next round anywhere on a box."""

    @property
    @abc.abstractmethod
    def innovation(self) -> Floats:
        """e, (k,)."""

    @property
    @abc.abstractmethod
    def gain(self) -> float:
        """Information gain that widths use, 1/2 logdet(I + Lambda^-1/2 K_X Lambda^-1/2).

        Lambda is the noise of the remembered plays; `Discounted` overrides it by the gain of squared weights.
        """

    @property
    @abc.abstractmethod
    def statistics(self) -> SufficientStatistics:
        """Plays, with their weights, and sums of their values."""

    @abc.abstractmethod
    def replay(self, other: Any) -> None:
        """Observe the plays of another memory of this kind, perhaps of another prior; this one is empty."""

    def mean(self, cells: Ints | None) -> Floats:
        """Posterior mean for the next round, (A,)."""
        return self.innovation @ self.rows(cells)

    def variance(self, cells: Ints | None) -> Floats:
        """Posterior variance for the next round, (A,)."""
        rows = self.rows(cells)
        diagonal = self.gram.diagonal if cells is None else self.gram.diagonal[cells]
        return self.growth * diagonal - np.einsum("ka,ka->a", rows, rows)

    def weight_norm(self, cells: Ints | None) -> Floats:
        """|a_x| in the mean for the next round, (A,)."""
        return self.factor.weight_norm(self.rows(cells))

    def deviation(self, cells: Ints | None, rng: np.random.Generator) -> Floats:
        """Draw f - mean jointly for the next round, (A,); O(A^3)."""
        rows, place = self.rows(cells), np.arange(self.gram.size) if cells is None else cells
        covariance = self.growth * self.gram.between(place, place)
        covariance -= rows.T @ rows
        root, _ = pivoted_root(covariance, TOLERANCE * self.growth * float(self.gram.diagonal.max()))
        return white(rng, root) @ root
