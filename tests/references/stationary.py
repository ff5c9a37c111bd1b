"""GP-UCB and its widths, KernelUCB, DMM-UCB, exploitation and exploration, as their papers state them."""

import math

import numpy as np

from bandit_envs.basics.types import Floats

from .formulas import (
    amm_width,
    finite_set_width,
    improved_width,
    information_gain,
    posterior,
    self_normalised_width,
)
from .seen import Given, Seen


def gp_ucb(given: Given, seen: Seen, width: str | float = "finite-set", delta: float = 0.1) -> Floats:
    """mu_{t-1} + sqrt(beta_t) sigma_{t-1} (Srinivas et al. 2010, Algorithm 1), on what has arrived."""
    f, here = given.reward, seen.here
    mean, std = f.of(seen.played[here], seen.value[here])
    return mean + _width(given, seen, width, delta) * std


def _width(given: Given, seen: Seen, width: str | float, delta: float) -> float:
    """w_t; gamma_{t-1} is the realised gain 1/2 logdet(I + K / lambda) of what has arrived."""
    f, here = given.reward, seen.here
    size, gain = len(f.gram), information_gain(f.gram, f.noise, seen.played[here])
    match width:
        case "finite-set":  # Theorem 1: sqrt(2 log(|D| t^2 pi^2 / (6 delta)))
            return finite_set_width(size, seen.t, delta)
        case "improved":  # IGP-UCB, where k(x, x) <= 1: B + R sqrt(2 (gamma_{t-1} + 1 + ln(1 / delta)))
            return improved_width(f.bound, f.noise_std / f.scale, gain, delta)
        case "self-normalised":
            return self_normalised_width(f.bound, f.noise_std, f.noise, gain, delta)
        case "amm":
            return amm_width(f.bound, f.noise_std, f.noise, gain, delta)
        case "constant":
            return math.sqrt(2 + 2 * math.log(size / 2))
        case _:
            return float(width)


def kernel_ucb(given: Given, seen: Seen, eta: float = 1.0) -> Floats:
    """mu + eta / sqrt(lambda) sigma, where k(x, x) <= 1 (Valko et al. 2013)."""
    return gp_ucb(given, seen, eta * given.reward.scale / math.sqrt(given.reward.noise))


def dmm_ucb(given: Given, seen: Seen, ratios: tuple[float, ...], delta: float = 0.1) -> Floats:
    """min over a in A of mu_a + sigma_a sqrt([q_a0 + 2 R^2 (g_a0 + ln(1/delta)) + a B^2 - q_a]^+ / a).

    q_a = a y'(K + a I)^-1 y; mu_a, sigma_a, g_a of the posterior at lambda = a (Flynn & Reeb 2024).
    """
    f, x, y = given.reward, seen.played[seen.here], seen.value[seen.here]
    y = y - f.at(x)

    def q(a: float) -> float:
        return float(a * y @ np.linalg.solve(f.gram[np.ix_(x, x)] + a * np.eye(len(x)), y))

    radius = q(f.noise) + 2 * f.noise_std**2 * (information_gain(f.gram, f.noise, x) + math.log(1 / delta))
    bands = []
    for a in f.noise * np.array(ratios):
        mean, covariance = posterior(f.gram, a, x, y)
        width = math.sqrt(max(0.0, radius + a * f.bound**2 - q(a)) / a)
        bands.append(f.mean + mean + width * np.sqrt(np.diag(covariance)))
    return np.min(bands, axis=0)


def exploitation(given: Given, seen: Seen) -> Floats:
    """mu."""
    return gp_ucb(given, seen, 0.0)


def exploration(given: Given, seen: Seen) -> Floats:
    """sigma, the greedy experimental design (Srinivas et al. 2010, section 5.1)."""
    return given.reward.of(seen.played[seen.here], seen.value[seen.here])[1]
