"""Penalties for costs, and the moves of their multipliers between epochs (Shi & Eryilmaz 2022)."""

from __future__ import annotations

import abc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.arguments import require_not_negative, require_positive
from bandit_envs.basics.types import Floats

from ..validation import PerTrial

LARGEST_EXPONENT = 700.0  # beyond it exp overflows


class Weights(NamedTuple):
    """The objective w0 f - sum_j w_j h_j, equivalent to f - sum_j kappa_j h_j and bounded for any kappa."""

    reward: Floats  # (B,) w0 = 1 / (1 + sum kappa)
    cost: Floats  # (B, C) w_j = kappa_j / (1 + sum kappa)


class Penalty(abc.ABC):
    """Term that is subtracted from the reward for costs, with its multipliers."""

    union: int = 1  # failures that share delta in an epoch

    @abc.abstractmethod
    def start(self, num_trials: int, num_constraints: int) -> Floats:
        """Return the multipliers of the first epoch, in the form of `weights` and `moved`, (B, C)."""

    @abc.abstractmethod
    def transform(self, cost: Floats) -> Floats:
        """Return h_j of observed costs, (n, C) -> (n, C)."""

    @abc.abstractmethod
    def weights(self, multiplier: Floats) -> Weights:
        """Return the weights of the objective."""

    @abc.abstractmethod
    def moved(self, multiplier: Floats, mean: Floats, adaptive: Floats) -> Floats:
        """Return the multipliers of the next epoch, given the mean observed costs of the last, (B, C) each.

        Args:
            multiplier, mean: of this epoch.
            adaptive: the step estimated from observations, (B, C).
        """

    @abc.abstractmethod
    def noise_std(self, multiplier: Floats, reward_std: PerTrial, cost_std: Floats) -> Floats:
        """Return R_l of the observed objective in units of w0 f, (B,); `cost_std` is (C,) or (B, 1)."""


class Psi(abc.ABC):
    """A convex function with psi(x) = 1 for x <= 0."""

    @abc.abstractmethod
    def log(self, x: Floats) -> Floats:
        """Return log psi(x), which does not overflow."""

    def excess(self, x: Floats) -> Floats:
        """Return psi(x) - 1; beyond exp(700) it is clipped with a warning."""
        logarithm = self.log(x)
        if logarithm.max(initial=0.0) > LARGEST_EXPONENT:
            warnings.warn(
                f"psi overflows at a cost of {float(x.max()):g}; rescale the constraint",
                RuntimeWarning,
                stacklevel=2,
            )
        return np.expm1(np.minimum(logarithm, LARGEST_EXPONENT))


@dataclass(frozen=True)
class Exponential(Psi):
    """exp(c x) for x > 0; the paper's experiments take c = 1."""

    c: float = 1.0

    def __post_init__(self) -> None:
        require_positive("c", self.c, "it scales the violation")

    def log(self, x: Floats) -> Floats:
        """Return c max(x, 0)."""
        return self.c * np.maximum(x, 0.0)


@dataclass(frozen=True)
class Polynomial(Psi):
    """(c x + 1)^n for x > 0; sublinear violation needs n > 1."""

    c: float = 1.0
    n: float = 2.0

    def __post_init__(self) -> None:
        require_positive("c", self.c, "it scales the violation")
        if not self.n >= 1:
            raise ValueError(f"psi n must be at least 1, got {self.n}; the theory needs more than 1")
        if self.n == 1:
            warnings.warn("psi n = 1 has no sublinear violation; take n > 1", UserWarning, stacklevel=3)

    def log(self, x: Floats) -> Floats:
        """Return the logarithm of the power, n log1p(c x) for x > 0."""
        return self.n * np.log1p(self.c * np.maximum(x, 0.0))


@dataclass(frozen=True)
class Multiplicative(Penalty):
    """f - sum_j kappa_j (psi(g_j) - 1), kappa_j <- kappa_j psi(mean g_j), kappa^1 = 1 (Algorithm 2).

    The multipliers are kept as logarithms: kappa never decreases, and overflows.
    """

    psi: Psi = Exponential()

    def start(self, num_trials: int, num_constraints: int) -> Floats:
        """Return log 1."""
        return np.zeros((num_trials, num_constraints))

    def transform(self, cost: Floats) -> Floats:
        """Return psi(g_j) - 1."""
        return self.psi.excess(cost)

    def weights(self, multiplier: Floats) -> Weights:
        """Return (w0, w) = softmax(0, log kappa)."""
        top = multiplier.max(axis=1, initial=0.0)
        reward, cost = np.exp(-top), np.exp(multiplier - top[:, None])
        total = reward + cost.sum(axis=1)
        return Weights(reward / total, cost / total[:, None])

    def moved(self, multiplier: Floats, mean: Floats, adaptive: Floats) -> Floats:
        """Return log kappa_j + log psi(mean g_j)."""
        return multiplier + self.psi.log(mean)

    def noise_std(self, multiplier: Floats, reward_std: PerTrial, cost_std: Floats) -> Floats:
        """Return R of the reward alone: the algorithm is for noiseless constraints."""
        return np.broadcast_to(np.asarray(reward_std, dtype=np.float64), len(multiplier))


@dataclass(frozen=True)
class LinearDual(Penalty):
    """f - sum_j kappa_j g_j, kappa_j <- [kappa_j + step mean(g_j + noise)]^+, kappa^1 = 0 (Algorithm 3).

    Args:
        step: of the dual descent; None for `adaptive_step`.
    """

    step: float | None = None
    union = 2

    def __post_init__(self) -> None:
        if self.step is not None:
            require_not_negative("step", self.step, "the theory takes O(1/sqrt(L))")

    def start(self, num_trials: int, num_constraints: int) -> Floats:
        """Return zeros."""
        return np.zeros((num_trials, num_constraints))

    def transform(self, cost: Floats) -> Floats:
        """Return g_j."""
        return cost

    def weights(self, multiplier: Floats) -> Weights:
        """Return (1, kappa) / (1 + sum kappa)."""
        total = 1.0 + multiplier.sum(axis=1)
        return Weights(1.0 / total, multiplier / total[:, None])

    def moved(self, multiplier: Floats, mean: Floats, adaptive: Floats) -> Floats:
        """Return [kappa_j + step mean]^+."""
        return np.maximum(multiplier + (adaptive if self.step is None else self.step) * mean, 0.0)

    def noise_std(self, multiplier: Floats, reward_std: PerTrial, cost_std: Floats) -> Floats:
        """Return sqrt(R_f^2 + sum_j kappa_j^2 R_j^2); sqrt(1 + sum kappa_j^2) R at equal levels."""
        return np.sqrt(np.square(reward_std) + (multiplier**2 * np.square(cost_std)).sum(axis=1))


PSI: dict[str, Callable[..., Psi]] = {"exponential": Exponential, "polynomial": Polynomial}
