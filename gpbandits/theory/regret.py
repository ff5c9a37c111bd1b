"""Upper bounds on cumulative regret and on violation, to draw beside measured curves.

Bounds on regret hold with probability 1 - delta (of the width) if k(x, x) <= 1, except for `bayesian_bound`,
which bounds the expected regret; `mvr_bound` bounds simple regret. `width` is w_T, and `gamma` is gamma_T or
the realised gain after T rounds. GP-TS has none here, since its theorem is an order of growth.

Those under long-term constraints (Shi & Eryilmaz 2022) hold at the ends of epochs, T = L S, for the paper's
algorithms (`reuse=False`): a fresh posterior in every epoch, lambda = 1 + 2/S, and penalised objectives of
RKHS norm below B, in the units of f and g.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from agents.options import Delta, PerTrial
from agents.widths.base import mean_width
from bandit_envs.basics.arguments import require_not_negative, require_positive
from bandit_envs.basics.options import Checked, not_negative, positive, whole
from bandit_envs.basics.types import Floats, Ints


@dataclass(frozen=True)
class Epochs(Checked):
    """The epochs hold the parameters of a run that both theorems use.

    Args:
        length: S.
        count: L of the whole run; delta is divided among the L epochs.
        gamma: largest information gain of S plays under any kernel of the run.
        bound: B, above the RKHS norm of every penalised objective.
        noise_std: R, the noise on f and on every g_j is R-sub-Gaussian.
        delta: probability that the bounds fail.
        num_constraints: m.
    """

    length: Annotated[int, whole(1, "it is the number of rounds S of an epoch")]
    count: Annotated[int, whole(1, "it is the number of epochs L")]
    gamma: Annotated[float, not_negative("it is an information gain")]
    bound: Annotated[float, not_negative("it bounds the RKHS norm of the penalised objectives")]
    noise_std: Annotated[float, not_negative("it bounds the sub-Gaussian noise")]
    delta: Delta = 0.1
    num_constraints: Annotated[int, whole(1, "it is the number of constraints m")] = 1

    def until(self, rounds: Ints) -> Floats:
        """Return the number of epochs begun by the end of these rounds, (T,)."""
        return np.ceil(rounds / self.length)

    def width(self, failures: int) -> float:
        """Return R sqrt(2 (gamma_S + 1 + log(failures / delta))); delta is divided among the failures."""
        return self.noise_std * float(np.sqrt(2.0 * (self.gamma + 1.0 + np.log(failures / self.delta))))

    @property
    def learning(self) -> float:
        """Return 4 sqrt((S + 2) gamma_S), the factor of the widths of an epoch."""
        return 4.0 * float(np.sqrt((self.length + 2.0) * self.gamma))


@dataclass(frozen=True)
class NoiselessBounds(Checked):
    """Theorem 1 bounds regret and violation of Algorithm 2.

    Args:
        gap: Delta = max f - f(x*), by which the best infeasible point exceeds the optimum.
        inverse: inverse of psi above 1: np.log for exp(x), y -> (y^(1/n) - 1) / c for (c x + 1)^n.
    """

    epochs: Epochs
    gap: Annotated[float, not_negative("the optimum of all points is at least that of the feasible")]
    inverse: Callable[[Floats], Floats] = np.log

    def regret(self, rounds: Ints) -> Floats:
        """Bound R_T <= L r, with r the regret of an epoch at kappa = 0 (from 21), (T,)."""
        return self.epochs.until(rounds) * self._epoch

    def violation(self, rounds: Ints) -> Floats:
        """Bound V_T <= sqrt(m) S psi_+^{-1}(1 + L Delta + L r / S) (from 22), (T,)."""
        length, number = self.epochs.length, self.epochs.until(rounds)
        largest = length * self.inverse(1.0 + number * (self.gap + self._epoch / length))
        return float(np.sqrt(self.epochs.num_constraints)) * largest

    @property
    def _epoch(self) -> float:
        """Bound R_S of IGP-UCB by (24) without the noise of costs, at delta / L."""
        return self.epochs.learning * (self.epochs.bound + self.epochs.width(self.epochs.count))


@dataclass(frozen=True)
class NoisyBounds(Checked):
    """Theorem 2 bounds regret and violation of Algorithm 3.

    The multipliers, and with them the bounds, are finite only if the slack of some point exceeds the noise
    and the learning of an epoch; else `multiplier` is infinite. A run's own norms can be given instead.

    Args:
        step: mu of the dual descent.
        reward_bound: Q >= |f|.
        cost_bound: M >= |g_j|.
        slack: epsilon, some point has g_j <= -epsilon for all j.
    """

    epochs: Epochs
    step: Annotated[float, positive("multipliers that never move bound nothing")]
    reward_bound: Annotated[float, not_negative("it bounds |f|")]
    cost_bound: Annotated[float, not_negative("it bounds |g|")]
    slack: Annotated[float, positive("Slater's condition asks for a strictly feasible point")]

    @property
    def multiplier(self) -> float:
        """Bound ||kappa^l|| in any epoch by (33), or infinity.

        A step changes kappa by (32) with 1 / sqrt(S), which follows from G_l; the paper prints 1 / S.
        """
        learning, noise = self.epochs.learning / self.epochs.length, self._mean_noise
        margin = self.slack - learning * self._width - noise
        if margin <= 0:
            return np.inf
        jump = self.step * (np.sqrt(self.epochs.num_constraints) * self.cost_bound + noise)
        rise = 2.0 * self.reward_bound + learning * (self.epochs.bound + self._width) + self._drift
        return float(jump + rise / margin)

    def regret(self, rounds: Ints, multiplier: PerTrial | None = None) -> Floats:
        """Bound R_T by the sum over epochs of (25) minus (28), whose telescoping terms are at most 0, (T,).

        The largest ||kappa^l|| of the run is by default the bound of the multiplier.
        """
        kappa = self.multiplier if multiplier is None else multiplier
        learning = self.epochs.learning * (self.epochs.bound + np.sqrt(1.0 + np.square(kappa)) * self._width)
        costs = self.epochs.length * (self._mean_noise * kappa + self._drift)
        return self.epochs.until(rounds) * (learning + costs)

    def violation(self, rounds: Ints, multiplier: PerTrial | None = None) -> Floats:
        """Bound V_T <= S ||kappa^{L+1}|| / mu + 2 R L (sqrt(4 m S) + sqrt(S log(2 L / delta))) (27), (T,).

        ||kappa|| after each of the rounds, () or (T,), is by default the bound of the multiplier.
        """
        kappa = self.multiplier if multiplier is None else multiplier
        noise = self.epochs.until(rounds) * self._mean_noise
        return self.epochs.length * (np.asarray(kappa) / self.step + noise)

    @property
    def _width(self) -> float:
        return self.epochs.width(2 * self.epochs.count)

    @property
    def _mean_noise(self) -> float:
        """Bound the norm of the mean noise of an epoch on the event G_l."""
        tail = np.sqrt(np.log(2.0 * self.epochs.count / self.epochs.delta))
        root = np.sqrt(4.0 * self.epochs.num_constraints) + tail
        return 2.0 * self.epochs.noise_std * float(root / np.sqrt(self.epochs.length))

    @property
    def _drift(self) -> float:
        """Return the cost a round of the squared steps, m mu M^2 + mu ||mean noise||^2 (28)."""
        return self.step * (self.epochs.num_constraints * self.cost_bound**2 + self._mean_noise**2)


def gp_ucb_bound(rounds: Ints, width: Floats, gamma: Floats, noise_variance: PerTrial) -> Floats:
    """Return sqrt(C_1 T beta_T gamma_T), C_1 = 8 / log(1 + 1/lambda) (Srinivas et al. 2010, Theorems 1, 3).

    beta_T = w_T^2 for any width that never falls, such as the self-normalised one; (T,) -> (T,).
    """
    return 2.0 * width * np.sqrt(rounds * sum_of_variances(gamma, noise_variance))


def bayesian_bound(rounds: Ints, num_arms: int, gamma: Floats, noise_variance: PerTrial) -> Floats:
    """Bound the *expected* regret by sqrt(C_1 (2 + 2 log(N / 2)) T gamma_T), (T,).

    C_1 = 2 / log(1 + 1/lambda).
    It holds for IRGP-UCB, PIMS and plain Thompson sampling on N arms if f ~ GP(0, k), k(x, x) <= 1, and the
    noise is Gaussian of variance lambda (Takeno et al. 2023, 2024); `gamma` bounds the mean realised gain.
    """
    square = mean_width(num_arms) ** 2
    return np.sqrt(rounds * square * sum_of_variances(gamma, noise_variance))


def mvr_bound(
    rounds: Ints,
    gain: Floats,
    noise_variance: PerTrial,
    *,
    bound: float,
    noise_std: float,
    num_arms: int,
    delta: float = 0.1,
) -> Floats:
    """Bound the *simple* regret of MVR by 2 w sqrt(C_1 g_T / T), C_1 = 2 / log(1 + 1/lambda), (T,).

    w = B + (R / sqrt(lambda)) sqrt(2 log(2 N / delta)): max sigma_T^2 is at most the mean variance at the
    plays, and the band at all N arms holds because plays do not depend on rewards (Vakili et al. 2021).
    """
    width = bound + noise_std * np.sqrt(2.0 * np.log(2.0 * num_arms / delta) / np.asarray(noise_variance))
    return 2.0 * width * np.sqrt(sum_of_variances(gain, noise_variance) / rounds)


def igp_ucb_bound(rounds: Ints, width: Floats, gamma: Floats) -> Floats:
    """Return 2 w_T sqrt(4 (T + 2) gamma_T), lambda = 1 + 2/T (Chowdhury & Gopalan 2017, Theorem 3), (T,)."""
    return 2.0 * width * np.sqrt(4.0 * (rounds + 2) * gamma)


def delayed_bound(
    rounds: Ints,
    width: Floats,
    gamma: Floats,
    noise_variance: PerTrial,
    *,
    window: int,
    reward_bound: float,
    arrival_probability: float,
) -> Floats:
    """Return (2 / rho_m) (C_1 beta_T sqrt(T gamma_T) + m B_y C_1^2 gamma_T) (Verma et al. 2022, Theorem 2).

    C_1 = sqrt(2 / log(1 + 1/lambda)), lambda > 1; `width` is beta_T, without the sum over the window.

    Args:
        window: m, the rounds within which feedback counts.
        reward_bound: B_y, at least every shifted |y|.
        arrival_probability: rho_m = P(delay <= m).
    """
    require_not_negative("window", window, "it is a number of rounds")
    require_not_negative("reward_bound", reward_bound, "it bounds |y|")
    require_positive("arrival_probability", arrival_probability, "it is P(delay <= window)")
    variances = sum_of_variances(gamma, noise_variance)
    return (
        2.0 / arrival_probability * (width * np.sqrt(rounds * variances) + window * reward_bound * variances)
    )


def sum_of_variances(gamma: Floats, noise_variance: PerTrial) -> Floats:
    """Bound sum_t sigma_{t-1}^2(x_t) <= 2 gamma_T / log(1 + 1/lambda) (Srinivas et al. 2010, Lemma 5.4)."""
    require_positive(
        "noise_variance", noise_variance, "it is the noise variance lambda that the model assumes"
    )
    return 2.0 * gamma / np.log1p(1.0 / np.asarray(noise_variance))
