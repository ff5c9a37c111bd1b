"""Rewards that drift: windows, resets, discounts and kernels over time."""

import math

import numpy as np

from bandit_envs.basics.types import Floats

from .formulas import aged_posterior, finite_set_width, wandering_posterior
from .seen import Given, Seen


def sw_gp_ucb(given: Given, seen: Seen, window: int, delta: float = 0.1) -> Floats:
    """GP-UCB on the last W plays (Zhou & Shroff 2021), width of Srinivas' Theorem 1 at round t."""
    mean, std = given.reward.of(seen.played[-window:], seen.value[-window:])
    return mean + finite_set_width(len(mean), seen.t, delta) * std


def r_gp_ucb(given: Given, seen: Seen, every: int, delta: float = 0.1) -> Floats:
    """GP-UCB, begun anew every H rounds with its round count (Zhou & Shroff 2021)."""
    start = (seen.t - 1) // every * every
    mean, std = given.reward.of(seen.played[start:], seen.value[start:])
    return mean + finite_set_width(len(mean), seen.t - start, delta) * std


def tv_gp_ucb(given: Given, seen: Seen, eps: float, delta: float = 0.1) -> Floats:
    """Covariance (1 - eps)^(|t - t'| / 2) k(x, x'), beta_t = 2 log(N pi^2 t^2 / (6 delta)) (Bogunovic)."""
    f, age = given.reward, np.arange(seen.t - 1)[::-1]
    noise = np.full(seen.t - 1, f.noise)
    values = seen.value - f.at(seen.played)
    mean, covariance = aged_posterior(f.gram, seen.played, age, values, noise, math.sqrt(1 - eps))
    return f.mean + mean + finite_set_width(len(mean), seen.t, delta) * np.sqrt(np.diag(covariance))


def w_gp_ucb(given: Given, seen: Seen, discount: float, delta: float = 0.1) -> Floats:
    """Observation s with noise lambda rho^-(t-1-s), w = B + R / sqrt(lambda) sqrt(2 (g + ln(1/delta))).

    Weighted ridge regression with weights rho^-s and lambda_t = lambda rho^-t (Deng et al. 2022), where g is
    1/2 logdet(I + W K W / lambda), W the weights rho^(t-1-s) themselves: those of the noise in the estimate.
    """
    f, age = given.reward, np.arange(seen.t - 1)[::-1]
    values = seen.value - f.at(seen.played)
    noise = f.noise * discount ** -age.astype(float)
    mean, covariance = aged_posterior(f.gram, seen.played, age, values, noise, 1.0)
    weight = f.noise / noise
    weighted = weight[:, None] * f.gram[np.ix_(seen.played, seen.played)] * weight
    gain = 0.5 * np.linalg.slogdet(np.eye(len(age)) + weighted / f.noise)[1]
    width = f.bound + f.noise_std / math.sqrt(f.noise) * math.sqrt(2 * (gain + math.log(1 / delta)))
    return f.mean + mean + width * np.sqrt(np.diag(covariance))


def ui_tvbo(given: Given, seen: Seen, rate: float, width: float = 2.0) -> Floats:
    """Covariance (1 + s^2 min(t, t')) k(x, x') (Brunzema et al. 2022)."""
    f, t = given.reward, np.arange(1, seen.t)
    values = seen.value - f.at(seen.played)
    mean, covariance = wandering_posterior(f.gram, seen.played, t, values, f.noise, rate, seen.t)
    return f.mean + mean + width * np.sqrt(np.diag(covariance))
