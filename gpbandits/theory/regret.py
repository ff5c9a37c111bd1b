"""Upper bounds on cumulative regret are drawn beside measured curves and tested against them.

They hold with probability 1 - delta (of the width) if k(x, x) <= 1, except for `bayesian_bound`, which bounds
the expected regret; `mvr_bound` bounds simple regret. `width` is w_T, and `gamma` is gamma_T or the realised
gain after T rounds. GP-TS has none here, since its theorem is an order of growth.
"""

import numpy as np

from agents.validation import PerTrial
from agents.widths.randomised import mean_width
from bandit_envs.basics.arguments import require_not_negative, require_positive
from bandit_envs.basics.types import Floats, Ints


def gp_ucb_bound(rounds: Ints, width: Floats, gamma: Floats, noise_variance: PerTrial) -> Floats:
    """Return sqrt(C_1 T beta_T gamma_T), C_1 = 8 / log(1 + 1/lambda) (Srinivas et al. 2010, Theorems 1, 3).

    beta_T = w_T^2 for any width that never falls, such as the self-normalised one; (T,) -> (T,).
    """
    return 2.0 * width * np.sqrt(rounds * sum_of_variances(gamma, noise_variance))


def compact_bound(rounds: Ints, width: Floats, gamma: Floats, noise_variance: PerTrial) -> Floats:
    """Return sqrt(C_1 T beta_T gamma_T) + 2 (Srinivas et al. 2010, Theorem 2); the proof's grids cost < 2."""
    return gp_ucb_bound(rounds, width, gamma, noise_variance) + 2.0


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
        rounds: T, (T,).
        width: beta_T, (T,).
        gamma: gamma_T, (T,).
        noise_variance: lambda.
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
