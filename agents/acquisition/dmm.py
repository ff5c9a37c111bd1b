"""DMM-UCB: the smallest of the upper confidence bounds of several regularisations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from bandit_envs.basics.arguments import require_not_negative, require_probability
from bandit_envs.basics.types import Bools, Floats

from ..beliefs.base import Belief
from ..beliefs.fits import Fit
from ..model.model import Model
from ..validation import PerTrial
from ..widths.base import BOUND_REMEDY, NOISE_REMEDY
from .candidates import Candidates


@dataclass(frozen=True)
class DMM:
    r"""min over a of mu_a + w_a sigma_a, bounds that hold simultaneously (Flynn & Reeb 2024, DMM-UCB).

    w_a^2 = (q_lambda + 2 R^2 (g_lambda + log(1 / delta)) + a B^2 - q_a) / a, q_a = a y' (K + a I)^-1 y,
    and mu_a, sigma_a are of the posterior with noise variance a. With a = lambda alone it is the AMM width.
    The proof is that of `AMMWidth`: its event does not depend on a, so delta need not be shared.

    Args:
        bound: B, at least the RKHS norm of f.
        noise_std: R: the noise is R-sub-Gaussian.
        delta: probability that the band fails at some point and round.
    """

    bound: PerTrial
    noise_std: PerTrial
    delta: PerTrial = 0.1

    def __post_init__(self) -> None:
        require_not_negative("bound", self.bound, BOUND_REMEDY)
        require_not_negative("noise_std", self.noise_std, NOISE_REMEDY)
        require_probability("delta", self.delta)

    def __call__(self, candidates: Candidates) -> Floats:
        """Return scores in the units of the reward, (B, A)."""
        each = (
            mean + (self.width(fit, candidates.gain) + candidates.bias)[:, None] * std
            for fit, mean, std in candidates.ridges
        )
        return reduce(np.minimum, each)

    def width(self, fit: Fit, gain: Floats) -> Floats:
        """Return w_a under one regularisation, 0 where it is refuted, (B,)."""
        return np.sqrt(np.maximum(self._slack(fit, gain), 0.0) / fit.noise)

    def refuted(self, belief: Belief) -> Bools:
        """Return where no function of norm B explains the observations at noise R and level delta, (B,)."""
        return np.any([self._slack(fit, belief.gain) < 0.0 for fit in belief.fits], axis=0)

    def _slack(self, fit: Fit, gain: Floats) -> Floats:
        nats = gain + np.log(1.0 / self.delta)
        noise = 2.0 * np.square(self.noise_std) * nats
        return noise + fit.noise * np.square(self.bound) - fit.misfit


def dmm(model: Model, *, delta: PerTrial) -> DMM:
    """Return the rule with a model's B and R."""
    return DMM(model.rkhs_bound, model.noise_std, delta)
