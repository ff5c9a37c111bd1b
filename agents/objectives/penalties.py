"""Penalties of costs in the objective, the moves of their multipliers, and the price Q_t of a violation."""

from __future__ import annotations

import abc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from bandit_envs.basics.options import Checked, at_least_one, not_negative, positive
from bandit_envs.basics.types import Floats, Ints

from ..options import PerTrial

LARGEST_EXPONENT = 700.0  # beyond it exp overflows
Factor = Annotated[float, positive("it scales the violation")]
Step = Annotated[float, not_negative("the theory takes O(1/sqrt(L))")]
Price = Annotated[float, not_negative("it is the penalty for a unit of violation")]
RHO = 10.0  # the code of EPBO takes 1, too little where a unit of cost matters more


class Weights(NamedTuple):
    """The objective w0 f - sum_j w_j h_j, equivalent to f - sum_j kappa_j h_j and bounded for any kappa."""

    reward: Floats  # (B,) w0 = 1 / (1 + sum kappa)
    cost: Floats  # (B, C) w_j = kappa_j / (1 + sum kappa)


class Penalty(abc.ABC):
    """Term that is subtracted from the reward for costs, with its multipliers."""

    union: int = 1  # failures that share delta in an epoch

    @abc.abstractmethod
    def transform(self, cost: Floats) -> Floats:
        """Return h_j of observed costs, (n, C) -> (n, C)."""

    @abc.abstractmethod
    def weights(self, multiplier: Floats) -> Weights:
        """Return the weights of the objective."""

    @abc.abstractmethod
    def moved(self, multiplier: Floats, mean: Floats, adaptive: Floats) -> Floats:
        """Return the next multipliers from the last epoch's mean costs and an adaptive step, (B, C) each."""

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
            words = f"psi overflows at a cost of {float(x.max()):g}; rescale the constraint"
            warnings.warn(words, RuntimeWarning, stacklevel=2)
        return np.expm1(np.minimum(logarithm, LARGEST_EXPONENT))


@dataclass(frozen=True)
class ExponentialPenalty(Checked, Psi):
    """exp(c x) for x > 0; the paper's experiments take c = 1."""

    c: Factor = 1.0

    def log(self, x: Floats) -> Floats:
        return self.c * np.maximum(x, 0.0)


@dataclass(frozen=True)
class Polynomial(Checked, Psi):
    """(c x + 1)^n for x > 0; sublinear violation needs n > 1."""

    c: Factor = 1.0
    n: Annotated[float, at_least_one("the theory needs more than 1")] = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n == 1:
            warnings.warn("psi n = 1 has no sublinear violation; take n > 1", UserWarning, stacklevel=3)

    def log(self, x: Floats) -> Floats:
        return self.n * np.log1p(self.c * np.maximum(x, 0.0))


@dataclass(frozen=True)
class Multiplicative(Penalty):
    """f - sum_j kappa_j (psi(g_j) - 1), kappa_j <- kappa_j psi(mean g_j), kappa^1 = 1 (Algorithm 2).

    The multipliers are kept as logarithms: kappa never decreases, and overflows.
    """

    psi: Psi = ExponentialPenalty()

    def transform(self, cost: Floats) -> Floats:
        return self.psi.excess(cost)

    def weights(self, multiplier: Floats) -> Weights:
        """Return (w0, w) = softmax(0, log kappa)."""
        top = multiplier.max(axis=1, initial=0.0)
        reward, cost = np.exp(-top), np.exp(multiplier - top[:, None])
        total = reward + cost.sum(axis=1)
        return Weights(reward / total, cost / total[:, None])

    def moved(self, multiplier: Floats, mean: Floats, adaptive: Floats) -> Floats:
        return multiplier + self.psi.log(mean)

    def noise_std(self, multiplier: Floats, reward_std: PerTrial, cost_std: Floats) -> Floats:
        """Return R of the reward alone: the algorithm is for noiseless constraints."""
        return np.broadcast_to(np.asarray(reward_std, dtype=np.float64), len(multiplier))


@dataclass(frozen=True)
class LinearDual(Checked, Penalty):
    """f - sum_j kappa_j g_j, kappa_j <- [kappa_j + step mean(g_j + noise)]^+, kappa^1 = 0 (Algorithm 3)."""

    step: Step | None = None  # of the dual descent; None for `adaptive_step`
    union = 2

    def transform(self, cost: Floats) -> Floats:
        return cost

    def weights(self, multiplier: Floats) -> Weights:
        total = 1.0 + multiplier.sum(axis=1)
        return Weights(1.0 / total, multiplier / total[:, None])

    def moved(self, multiplier: Floats, mean: Floats, adaptive: Floats) -> Floats:
        return np.maximum(multiplier + (adaptive if self.step is None else self.step) * mean, 0.0)

    def noise_std(self, multiplier: Floats, reward_std: PerTrial, cost_std: Floats) -> Floats:
        """Return sqrt(R_f^2 + sum_j kappa_j^2 R_j^2); sqrt(1 + sum kappa_j^2) R at equal levels."""
        return np.sqrt(np.square(reward_std) + (multiplier**2 * np.square(cost_std)).sum(axis=1))


PSI: dict[str, Callable[..., Psi]] = {"exponential": ExponentialPenalty, "polynomial": Polynomial}


class Multipliers:
    """kappa of B trials and C constraints, with the costs delivered since their last move, every S rounds."""

    def __init__(self, penalty: Penalty, num_trials: int, num_constraints: int, epoch: int):
        self.penalty, self.epoch = penalty, epoch
        shape = num_trials, num_constraints
        self.value: Floats = np.zeros(shape)  # as `Penalty.weights` takes them: kappa, or its logarithm
        self.weights: Weights = penalty.weights(self.value)
        self._sum, self._count = np.zeros(shape), np.zeros(num_trials)
        self._size = np.zeros(shape)  # root of the sum of all squared means

    def add(self, trial: Ints, cost: Floats) -> None:
        """Store observed costs, (n, C), until the epoch ends."""
        np.add.at(self._sum, trial, cost)
        np.add.at(self._count, trial, 1.0)

    def end_round(self, rounds: int, spread: Callable[[], Floats]) -> bool:
        """Move the multipliers if round number `rounds` = 1, 2, ... ends an epoch; return True if it does.

        The mean is over the costs delivered since the last move; without any, the multipliers stay.
        """
        if rounds % self.epoch:
            return False
        mean = self._sum / np.maximum(self._count, 1.0)[:, None]
        self._size = np.hypot(self._size, mean)
        moved = self.penalty.moved(self.value, mean, adaptive_step(spread(), self._size))
        self.value = np.where(self._count[:, None] > 0, moved, self.value)
        self.weights = self.penalty.weights(self.value)
        self._sum[:], self._count[:] = 0.0, 0.0
        return True

    def forget(self, trial: Ints) -> None:
        """Restart the multipliers of some trials, (n,)."""
        self.value = self.value.copy()
        self.value[trial] = 0.0
        self.weights = self.penalty.weights(self.value)
        self._sum[trial], self._count[trial], self._size[trial] = 0.0, 0.0, 0.0


def adaptive_step(spread: Floats, size: Floats) -> Floats:
    r"""Return (s_f / s_j) / sqrt(s_j^2 + sum_{i <= l} m_ij^2), a step of the dual per constraint, (B, C).

    m_ij is the mean cost of epoch i, `size` the root of their sum of squares, (B, C), s_f and s_j are the
    stds of the reward and of the cost. After l epochs of subgradients m a dual ascent is within D^2 / (2 a l)
    + a m^2 / 2 of its optimum, which is least at a = D / (m sqrt(l)), D the size of the multiplier: the
    paper's O(1 / sqrt(L)). A multiplier has the unit s_f / s_j, which is taken for D; the sum estimates m and
    l (Duchi et al. 2011), with s_j^2 for the noise of a small first mean. So the multiplier moves by at most
    D an epoch, and ever less, in any units.
    """
    cost = spread[:, 1:]
    return spread[:, :1] / cost / np.hypot(cost, size)


@dataclass(frozen=True)
class Schedule(Checked):
    """One Q a trial and constraint, Q_1 = `first`, in prior stds of the reward per prior std of a cost.

    An infinite one lets no arm be played that cannot be feasible (CONFIG, Xu et al. 2023); the theory
    [memory] of a constant rho (EPBO, Lu & Paulson 2022) needs it above all optimal multipliers. One that
    `grows` is Q_{t+1} = max(Q_t + [c_t]^+, sqrt t), Q_1 = 1 (RPOL, Guo et al. 2023). The paper has one
    constraint and no delay: one Q for each constraint, and the sum of costs delivered in one round, are our
    readings. Noise alone makes Q grow linearly on the border, where RPOL becomes CONFIG.
    """

    first: Price = np.inf
    grows: bool = False

    def moved(self, charge: Floats, violation: Floats, t: Ints) -> Floats:
        """Return Q_{t+1} from Q_t, (B, C) each.

        Args:
            violation: [c]^+ of the costs delivered in the round, summed.
            t: rounds since the trial's start or restart, (B, 1).
        """
        return np.maximum(charge + violation, np.sqrt(t)) if self.grows else charge


UNLIMITED, GROWING = Schedule(), Schedule(1.0, grows=True)
