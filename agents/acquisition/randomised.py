r"""Rules that explore at random, for f ~ GP(0, k) and Gaussian noise of variance lambda.

The expected regret of IRGP-UCB, PIMS and plain Thompson sampling on N arms is bounded by
`gpbandits.theory.regret.bayesian_bound`: f* exceeds mu at its own point by at most max Z posterior stds, Z =
(f - mu) / sigma, whose square is stochastically below zeta of mean 2 + 2 log(N / 2); IRGP-UCB draws zeta, and
PIMS plays argmax mu + xi sigma with xi = min_x (m - mu) / sigma <= max Z of its own sample.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.options import Checked, count, one_of
from bandit_envs.basics.types import Floats, Ints

from ..kernels.amplitude import unit_kernel
from ..model.model import Model
from ..widths.base import OnBox
from .candidates import Candidates, Rule, Slopes
from .improvement import improvement_climbed, log_expected_improvement, standardised_slopes

ON_BOX = 512  # usual number of candidates of a round


@dataclass(frozen=True)
class FiniteSize(Checked):
    """log N for N arms."""

    count: Annotated[int, count("it is the number of arms")]

    def __call__(self, t: Ints) -> Floats:
        return np.full(t.shape, math.log(self.count))


@dataclass(frozen=True)
class CompactSize(OnBox):
    """d log(b d r t^2 (sqrt(log(a d)) + sqrt(pi) / 2)), of the grids of Takeno et al. (2023) on [0, r]^d.

    The formula is from memory, neither confirmed nor proved here.
    """

    def __call__(self, t: Ints) -> Floats:
        steepness = math.sqrt(math.log(self.a * self.dim)) + math.sqrt(math.pi) / 2.0
        side = self.b * self.dim * self.diameter * steepness * np.square(t, dtype=np.float64)
        return self.dim * np.log(np.maximum(side, 1.0))


def squared_width(log_size: Floats, exponential: Floats) -> Floats:
    """Return zeta = 2 log(|D| / 2) + 2 E, at least 0; E is exponential of mean 1, (B,) each -> (B,).

    P(max_x Z_x > c) <= (|D| / 2) exp(-c^2 / 2) for standard normal Z_x, so the square of the largest is
    stochastically below zeta (Takeno et al. 2023, IRGP-UCB).
    """
    return np.maximum(2.0 * (log_size - math.log(2.0) + exponential), 0.0)


@dataclass(frozen=True)
class IRGPUCB(Rule):
    """mu + sqrt(zeta) sigma, zeta = 2 log(N / 2) + E drawn in every round (Takeno et al. 2023).

    E is exponential of mean 2; zeta is at least 0. The bias of pending feedback is added to the root.
    """

    log_size: FiniteSize | CompactSize  # log |D_t|, of the points among which round t seeks its maximiser
    draws = True

    def __call__(self, candidates: Candidates) -> Floats:
        return candidates.mean + self._width(candidates) * candidates.std

    def slopes(self, candidates: Candidates) -> Slopes:
        """Return 1 and the width, which is the same for all candidates of a round."""
        mean = np.ones_like(candidates.mean)
        return Slopes(mean, self._width(candidates) * mean)

    def _width(self, candidates: Candidates) -> Floats:
        exponential = np.array([rng.standard_exponential() for rng in candidates.rngs])
        size = self.log_size(candidates.t[:, 0])
        return np.sqrt(squared_width(size, exponential))[:, None] + candidates.bias


@dataclass(frozen=True)
class PIMS(Rule):
    """(mu - m) / sigma, m the largest value of one joint sample of the posterior (Takeno et al. 2024).

    It ranks like the probability of improvement on m. Where sigma = 0 it is 0 for mu = m and else minus
    infinity: a known value cannot exceed m, up to rounding.
    """

    unitless = True
    draws = True

    def __call__(self, candidates: Candidates) -> Floats:
        """Return scores in standard deviations, (B, A)."""
        gap, std = _over_sample(candidates), candidates.std
        known = std <= 0.0
        return np.where(known, np.where(gap < 0.0, -np.inf, 0.0), gap / np.where(known, 1.0, std))

    def slopes(self, candidates: Candidates) -> Slopes:
        """Return 1 / sigma and -gap / sigma^2; 0 where sigma is 0."""
        return Slopes(*standardised_slopes(_over_sample(candidates), candidates.std))


@dataclass(frozen=True)
class EIMS(Rule):
    """log E[max(f - m, 0)], m the largest value of one joint sample of the posterior (Takeno et al. 2025).

    Its expected regret is sublinear by the paper's abstract, arXiv 2507.09828; the constants are not
    confirmed here.
    """

    unitless = True
    draws = True

    def __call__(self, candidates: Candidates) -> Floats:
        """Return scores that are logarithms, -inf where no improvement is possible, (B, A)."""
        return log_expected_improvement(_over_sample(candidates), candidates.std)

    def slopes(self, candidates: Candidates) -> Slopes:
        scores, in_mean, in_std = improvement_climbed(_over_sample(candidates), candidates.std)
        return Slopes(in_mean, in_std, scores)


@dataclass(frozen=True)
class OfSize(Checked):
    """IRGP-UCB of N = `size`; None is the number of arms, on a box of candidates; "compact" grows with t."""

    size: Annotated[int, count()] | Annotated[str, one_of("compact")] | None = None

    def __call__(self, model: Model) -> IRGPUCB:
        setting = model.setting
        if self.size == "compact":
            possible = setting.continuous and not setting.has_contexts
            require(possible, "size", "a number or None but on a box without contexts", "compact")
            bounds = np.column_stack([setting.low, setting.high])  # type: ignore[list-item]
            return IRGPUCB(CompactSize.for_kernel(unit_kernel(model.kernel, model.prior_std), bounds))
        own = ON_BOX if setting.continuous else setting.decisions.num_arms
        return IRGPUCB(FiniteSize(own if self.size is None else int(self.size)))


def _over_sample(candidates: Candidates) -> Floats:
    return candidates.mean - candidates.sampled_maximum()
