"""Widths whose constants are tuned: fixed, logarithmic, GP-UCB-CPD's and KernelUCB's."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require_at_least_one, require_not_negative, require_positive
from bandit_envs.basics.types import Floats, Ints

from ..validation import PerTrial
from .base import MODEL_REMEDY

PAPER_CONSTANT = 0.02


@dataclass(frozen=True)
class FixedWidth:
    """A constant width w, for which nothing is proved."""

    value: PerTrial = 1.0  # or (B,)

    def __post_init__(self) -> None:
        require_not_negative("value", self.value, "it multiplies a standard deviation")

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        return np.full(t.shape, self.value, dtype=np.float64)


@dataclass(frozen=True)
class LogarithmicWidth:
    """sqrt(beta_t), beta_t = scale log(factor t) (Bogunovic et al. 2016, section 5: 0.8 log(4 t))."""

    scale: PerTrial = 0.8
    factor: PerTrial = 4.0

    def __post_init__(self) -> None:
        require_positive("scale", self.scale, "the paper uses 0.8")
        require_at_least_one("factor", self.factor, "the paper uses 4")

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        return np.sqrt(self.scale * np.log(self.factor * t))


@dataclass(frozen=True)
class ChangePointWidth:
    """sqrt(beta_t), beta_t = D t^(d(d+1) / (2a + d(d+1))) log^4 T (Avanesov 2020, equation 3.7).

    t counts the plays since the last restart, before this one; T is the horizon of the whole run; a is the nu
    of a Matern kernel, or inf; and D is 0.02 in the paper's experiments.
    """

    horizon: int
    dim: int
    smoothness: float = 2.5
    constant: PerTrial = PAPER_CONSTANT

    def __post_init__(self) -> None:
        require_at_least_one("horizon", self.horizon, "it is the number of rounds of the whole run")
        require_at_least_one("dim", self.dim, "it is the number of features of a point")
        require_not_negative("constant", self.constant, "it is the D of beta_t; the paper takes 0.02")
        if not self.smoothness > 0:
            raise ValueError(f"smoothness must be positive, got {self.smoothness}; use inf for SE kernels")

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        order = self.dim * (self.dim + 1)
        power = order / (2.0 * self.smoothness + order)
        beta = self.constant * (t - 1.0) ** power * math.log(self.horizon) ** 4
        return np.sqrt(beta)


@dataclass(frozen=True)
class KernelUCBWidth:
    """eta / sqrt(lambda), lambda in squares of the prior std, the width of KernelUCB (Valko et al. 2013)."""

    eta: PerTrial
    noise_variance: PerTrial

    def __post_init__(self) -> None:
        require_not_negative("eta", self.eta, "it multiplies a standard deviation")
        require_positive("noise_variance", self.noise_variance, MODEL_REMEDY)

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        return np.full(t.shape, self.eta / np.sqrt(self.noise_variance), dtype=np.float64)
