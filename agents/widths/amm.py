"""AMM-UCB's width, the narrowest single-number width here for functions of bounded norm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require_probability
from bandit_envs.basics.types import Floats, Ints

from ..validation import PerTrial
from .bounded_norm import BoundedNorm
from .information_gain import Gamma, Realised


@dataclass(frozen=True)
class AMMWidth(BoundedNorm):
    """sqrt(B^2 + (2 R^2 / lambda) (g_{t-1} + log(1 / delta))) (Flynn & Reeb 2024, AMM-UCB).

    It holds where the self-normalised width holds: for every lambda > 0, R-sub-Gaussian noise, adaptive plays
    and all rounds at once, with the realised gain or any upper bound on it. It is never larger, because it is
    sqrt(a^2 + b^2) in place of a + b.

    Proof: for g ~ GP(0, (R^2 / lambda) k) the mean over g of exp((|y - f|^2 - |y - g|^2) / (2 R^2)) is a
    supermartingale, so with probability 1 - delta, for all t,

        |y - f|^2 <= lambda y' (K + lambda I)^-1 y + 2 R^2 (g_t + log(1 / delta)),

    and |y - f|^2 + lambda |f|_H^2 = lambda y' (K + lambda I)^-1 y + |f - mu|^2 in the norm of
    Phi'Phi + lambda I, in which no |f - mu|(x) is more than sigma(x) / sqrt(lambda) a unit.

    Args:
        bound, noise_std, noise_variance: B, R and lambda, see `BoundedNorm`.
        gamma: the information gain.
        delta: probability that the band fails at some point and round.
    """

    gamma: Gamma = Realised()
    delta: PerTrial = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_probability("delta", self.delta)

    @classmethod
    def of_known_variances(cls, bound: PerTrial, delta: PerTrial = 0.1) -> AMMWidth:
        """Return sqrt(B^2 + 2 (g_{t-1} + log(1 / delta))), for plays with noise stds R_i of their own.

        The posterior and g = 1/2 logdet(I + D^-1/2 K D^-1/2) must have D = diag(R_i^2) in place of lambda I:
        the i-th observation divided by R_i is one with R = lambda = 1.
        """
        return cls(bound, 1.0, 1.0, delta=delta)

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        """Return the width, (B,)."""
        nats = self.gamma(t - 1, gain) + np.log(1.0 / self.delta)
        return np.sqrt(np.square(self.bound) + 2.0 * np.square(self.noise_std) / self.noise_variance * nats)
