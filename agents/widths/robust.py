"""Widths for functions outside the space, for corrupted rewards, and for heavy tails."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require_not_negative, require_positive, require_probability
from bandit_envs.basics.types import Floats, Ints

from ..validation import PerTrial
from .base import BOUND_REMEDY, MODEL_REMEDY, Width
from .information_gain import Gamma, Realised


@dataclass(frozen=True)
class MisspecifiedWidth:
    """w_t + eps sqrt((t - 1) / lambda), for f_0 where |f - f_0| <= eps (EC-GP-UCB; Bogunovic & Krause 2021).

    It is valid with any valid w_t for f_0: sum_i n_i |S[x, i]| / lambda <= sqrt((t - 1) / lambda) sigma(x),
    by Cauchy-Schwarz and sum_i n_i S[x, i]^2 / lambda <= sigma(x)^2. The paper's bound is R_T =
    O(B sqrt(gamma_T T) + sqrt(T gamma_T (gamma_T + log(1 / delta))) + eps T sqrt(gamma_T)), from memory.
    """

    width: Width
    eps: PerTrial
    noise_variance: PerTrial

    def __post_init__(self) -> None:
        require_not_negative("eps", self.eps, "it bounds how far the function is from the kernel's space")
        require_positive("noise_variance", self.noise_variance, MODEL_REMEDY)

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        return self.width(t, gain) + self.eps * np.sqrt((t - 1) / self.noise_variance)


@dataclass(frozen=True)
class CorruptedWidth:
    """w_t + C / sqrt(lambda), for rewards changed by C in total (RGP-UCB; Bogunovic et al. 2020).

    It is valid with any valid w_t for clean rewards: one value changed by dy moves the mean by
    |S[x, i] dy| / lambda <= |dy| sigma(x) / sqrt(lambda). Regret O~(gamma_T sqrt(T) + C sqrt(gamma_T T)).
    """

    width: Width
    budget: PerTrial
    noise_variance: PerTrial

    def __post_init__(self) -> None:
        require_not_negative("budget", self.budget, "it bounds the corruption of all rewards together")
        require_positive("noise_variance", self.noise_variance, MODEL_REMEDY)

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        return self.width(t, gain) + self.budget / np.sqrt(self.noise_variance)


@dataclass(frozen=True)
class TruncatedWidth:
    """B + b_T / sqrt(lambda) (sqrt(1 + alpha) + sqrt(2 (g_{t-1} + log(1 / delta)))), for truncated rewards.

    For E|y|^(1 + alpha) <= v and values y 1[|y| <= b_s], b_s = v^(1 / (1 + alpha)) s^(1 / (2 (1 + alpha))):
    truncation biases the s-th value by at most v b_s^-alpha, all of them together by a vector of length at
    most sqrt(1 + alpha) b_T, and the remaining noise is b_T-sub-Gaussian. It holds for adaptive plays and all
    rounds. TGP-UCB of Ray Chowdhury & Gopalan (2019) has, from memory, B + 3 b_t / sqrt(lambda) sqrt(...),
    and R_T = O~(T^((2 + alpha) / (2 (1 + alpha)))). `largest` is b_T; moments of
    order 1 + alpha are finite, alpha in (0, 1].
    """

    bound: PerTrial
    largest: PerTrial
    alpha: float
    noise_variance: PerTrial
    delta: PerTrial = 0.1
    gamma: Gamma = Realised()

    def __post_init__(self) -> None:
        require_not_negative("bound", self.bound, BOUND_REMEDY)
        require_not_negative("largest", self.largest, "it is the truncation level of the last round")
        require_positive("noise_variance", self.noise_variance, MODEL_REMEDY)
        require_probability("delta", self.delta)

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        nats = self.gamma(t - 1, gain) + np.log(1.0 / self.delta)
        unit = self.largest / np.sqrt(self.noise_variance)
        return self.bound + unit * (np.sqrt(1.0 + self.alpha) + np.sqrt(2.0 * nats))
