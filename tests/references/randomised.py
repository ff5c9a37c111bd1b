"""Rules that draw: Thompson sampling on each belief, IRGP-UCB, PIMS and EIMS, as the law of the next play."""

import math

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from .delayed import hallucinated, sdf
from .formulas import expected_improvement, improved_width, information_gain, posterior
from .seen import Given, Seen

Rng = np.random.Generator


def sampled(mean: Floats, covariance: Floats, count: int, rng: Rng) -> Floats:
    """Joint samples of N(mean, covariance), (count, N)."""
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return mean + rng.standard_normal((count, len(mean))) @ root.T


def delivered(given: Given, seen: Seen) -> tuple[Floats, Floats]:
    """Mean and covariance from what has arrived."""
    f, x = given.reward, seen.played[seen.here]
    mean, covariance = posterior(f.gram, f.noise, x, seen.value[seen.here] - f.at(x))
    return f.mean + mean, covariance


def asy_ts(given: Given, seen: Seen, count: int, rng: Rng) -> Ints:
    """Argmax of a sample of N(mu, k) of what has arrived (Kandasamy et al. 2018)."""
    return sampled(*delivered(given, seen), count, rng).argmax(axis=1)


def gp_ts(given: Given, seen: Seen, count: int, rng: Rng, delta: float = 0.1) -> Ints:
    """The same of N(mu, v_t^2 k), v_t = B + R sqrt(2 (gamma_{t-1} + 1 + ln(2 / delta))) (Chowdhury 2017)."""
    f = given.reward
    v = improved_width(
        f.bound, f.noise_std / f.scale, information_gain(f.gram, f.noise, seen.played[seen.here]), delta / 2
    )
    mean, covariance = delivered(given, seen)
    return sampled(mean, v**2 * covariance, count, rng).argmax(axis=1)


def gp_bts(given: Given, seen: Seen, count: int, rng: Rng) -> Ints:
    """The same of N(mu delivered, k of all plays)."""
    return sampled(*hallucinated(given, seen), count, rng).argmax(axis=1)


def gp_ts_sdf(given: Given, seen: Seen, count: int, rng: Rng, **options: float) -> Ints:
    """The same of N(mu, nu_t^2 k), the censored belief (Verma et al. 2022)."""
    mean, covariance, nu = sdf(given, seen, **options)
    return sampled(mean, nu**2 * covariance, count, rng).argmax(axis=1)


def irgp_ucb(given: Given, seen: Seen, count: int, rng: Rng) -> Ints:
    """mu + sqrt(zeta) sigma, zeta = 2 ln(N / 2) + E, E exponential of mean 2 (Takeno et al. 2023)."""
    mean, covariance = delivered(given, seen)
    zeta = 2 * math.log(len(mean) / 2) + rng.exponential(2.0, count)
    return (mean + np.sqrt(zeta)[:, None] * np.sqrt(np.diag(covariance))).argmax(axis=1)


def over_maximum(given: Given, seen: Seen, count: int, rng: Rng, expected: bool) -> Ints:
    """(mu - m) / sigma (PIMS), or E[(f - m)^+] (EIMS), m = max of a sample (Takeno et al. 2024, 2025)."""
    mean, covariance = delivered(given, seen)
    m, std = sampled(mean, covariance, count, rng).max(axis=1)[:, None], np.sqrt(np.diag(covariance))
    return (expected_improvement(mean, std, m) if expected else (mean - m) / std).argmax(axis=1)
