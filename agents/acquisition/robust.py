"""Upper confidence bounds over several regularisations; widths and bounds that allow for corruption."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Annotated

import numpy as np

from bandit_envs.basics.options import PER_TRIAL, Checked, PerTrial, not_negative
from bandit_envs.basics.types import Bools, Floats, Ints

from ..beliefs.base import Belief, Fit
from ..beliefs.points import Points
from ..beliefs.ridges import ObservationWeights
from ..model.model import Model
from ..widths.base import Bound, Deltas, NoiseStd, NoiseVariance, Width
from ..widths.information_gain import Gamma, Realised
from .candidates import Candidates, ConfidenceBand, Rule
from .rules import UCB

# Term that enlarges a valid half-width, (B, A), from the weights of the observations in the mean.
Extra = Callable[[list[ObservationWeights]], Floats]
Eps = Annotated[float, PER_TRIAL, not_negative("it bounds how far the function is from the kernel's space")]
Budget = Annotated[float, PER_TRIAL, not_negative("it bounds the corruption of all rewards together")]


@dataclass(frozen=True)
class DMM(Checked, Rule):
    r"""min over a of mu_a + w_a sigma_a, bounds that hold simultaneously (Flynn & Reeb 2024, DMM-UCB).

    w_a^2 = (q_lambda + 2 R^2 (g_lambda + log(1 / delta)) + a B^2 - q_a) / a, q_a = a y' (K + a I)^-1 y, and
    mu_a, sigma_a are of the posterior with noise variance a. With a = lambda alone it is the AMM width. The
    proof is that of `AMMWidth`, with its B and R: its event does not depend on a, so delta need not be
    shared.
    """

    bound: Bound
    noise_std: NoiseStd
    delta: Deltas = 0.1

    def __call__(self, candidates: Candidates) -> Floats:
        each = (
            mean + (self.width(fit, candidates.gain[:, 0])[:, None] + candidates.bias) * std
            for fit, mean, std in candidates.ridges
        )
        return reduce(np.minimum, each)

    def bands(self, belief: Belief, points: Points, t: Ints) -> list[ConfidenceBand]:
        each = [(self.width(fit, belief.gain) + belief.bias, *band) for fit, *band in points.ridges(belief)]
        return [ConfidenceBand(mean, w[:, None] * std, w) for w, mean, std in each]

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


def dmm(model: Model, *, delta: float) -> DMM:
    """Return the rule with a model's B and R."""
    return DMM(model.rkhs_bound, model.noise_std, delta)


@dataclass(frozen=True)
class Misspecification(Checked):
    """eps sum_i n_i |S[x, i]| / lambda: the largest error of the mean by m, |m| <= eps, f = f_0 + m.

    It is at most eps sqrt((t - 1) / lambda) sigma. For f itself eps must be added, which changes no play.
    """

    eps: Eps

    def __call__(self, weights: list[ObservationWeights]) -> Floats:
        return self.eps * np.array([np.abs(each.share).sum(axis=0) for each in weights])


@dataclass(frozen=True)
class ExactMisspecification(Misspecification):
    """eps (1 + sum_i n_i |S[x, i]| / lambda - 2 n_x S[x, x] / lambda): the exact worst case for f itself.

    m moves the mean by sum_i c_i(x) m(i), and f by m(x), which an arm's own plays share.
    """

    def __call__(self, weights: list[ObservationWeights]) -> Floats:
        own = np.array([each.own for each in weights])
        return super().__call__(weights) + self.eps * (1.0 - 2.0 * own)


@dataclass(frozen=True)
class CorruptedRewards(Checked):
    """C / lambda max_i |S[x, i]| <= C sigma(x) / sqrt(lambda): what corruption C can do to the mean."""

    budget: Budget

    def __call__(self, weights: list[ObservationWeights]) -> Floats:
        worst = [(np.abs(each.share) / each.plays[:, None]).max(axis=0, initial=0.0) for each in weights]
        return self.budget * np.array(worst)


@dataclass(frozen=True)
class RobustUCB(Rule):
    """mu + w sigma + extra, which allows for misspecification or corruption."""

    width: Width  # of the clean problem
    extra: Extra

    def __call__(self, candidates: Candidates) -> Floats:
        return UCB(self.width)(candidates) + self.extra(candidates.observation_weights)

    def bands(self, belief: Belief, points: Points, t: Ints) -> list[ConfidenceBand]:
        clean = ConfidenceBand.of_width(self.width, belief, points, t)
        return [clean._replace(half=clean.half + self.extra(points.observation_weights(belief)))]


@dataclass(frozen=True)
class MisspecifiedWidth(Checked):
    """w_t + eps sqrt((t - 1) / lambda), for f_0 where |f - f_0| <= eps (EC-GP-UCB; Bogunovic & Krause 2021).

    It is valid with any valid w_t for f_0: sum_i n_i |S[x, i]| / lambda <= sqrt((t - 1) / lambda) sigma(x),
    by Cauchy-Schwarz and sum_i n_i S[x, i]^2 / lambda <= sigma(x)^2. The paper's bound is R_T =
    O(B sqrt(gamma_T T) + sqrt(T gamma_T (gamma_T + log(1 / delta))) + eps T sqrt(gamma_T)), from memory.
    """

    width: Width
    eps: Eps
    noise_variance: NoiseVariance

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        return self.width(t, gain) + self.eps * np.sqrt((t - 1) / self.noise_variance)


@dataclass(frozen=True)
class CorruptedWidth(Checked):
    """w_t + C / sqrt(lambda), for rewards changed by C in total (RGP-UCB; Bogunovic et al. 2020).

    It is valid with any valid w_t for clean rewards: one value changed by dy moves the mean by
    |S[x, i] dy| / lambda <= |dy| sigma(x) / sqrt(lambda). Regret O~(gamma_T sqrt(T) + C sqrt(gamma_T T)).
    """

    width: Width
    budget: Budget
    noise_variance: NoiseVariance

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        return self.width(t, gain) + self.budget / np.sqrt(self.noise_variance)


@dataclass(frozen=True)
class TruncatedWidth(Checked):
    """B + b_T / sqrt(lambda) (sqrt(1 + alpha) + sqrt(2 (g_{t-1} + log(1 / delta)))), for truncated rewards.

    For E|y|^(1 + alpha) <= v and values y 1[|y| <= b_s], b_s = v^(1 / (1 + alpha)) s^(1 / (2 (1 + alpha))):
    truncation biases the s-th value by at most v b_s^-alpha, all of them together by a vector of length at
    most sqrt(1 + alpha) b_T, and the remaining noise is b_T-sub-Gaussian. It holds for adaptive plays and all
    rounds. TGP-UCB of Ray Chowdhury & Gopalan (2019) has, from memory, B + 3 b_t / sqrt(lambda) sqrt(...),
    and R_T = O~(T^((2 + alpha) / (2 (1 + alpha)))). `largest` is b_T; moments of
    order 1 + alpha are finite, alpha in (0, 1].
    """

    bound: Bound
    largest: Annotated[PerTrial, not_negative("it is the truncation level of the last round")]
    alpha: float
    noise_variance: NoiseVariance
    delta: Deltas = 0.1
    gamma: Gamma = Realised()

    def __call__(self, t: Ints, gain: Floats) -> Floats:
        nats = self.gamma(t - 1, gain) + np.log(1.0 / self.delta)
        unit = self.largest / np.sqrt(self.noise_variance)
        return self.bound + unit * (np.sqrt(1.0 + self.alpha) + np.sqrt(2.0 * nats))
