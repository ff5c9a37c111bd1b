"""Improvement on an incumbent, in forms that stay accurate however unlikely it is."""

import math

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from bandit_envs.basics.types import Floats

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
ERFCX_LIMIT = 50.0  # beyond it erfcx loses 1e-12 to cancellation, and the series is exact to 1e-13


def log_expected_improvement(gap: Floats, std: Floats) -> Floats:
    """Log E[max(gap + std Z, 0)] = log(std) + log h(gap / std), Z ~ N(0, 1), both of one shape.

    With std = 0 it is log(max(gap, 0)); -inf says that no improvement is possible.
    """
    known = std <= 0.0
    with np.errstate(divide="ignore", over="ignore"):  # log 0 is meant; a z that overflows has h = 0
        uncertain = np.log(std) + log_mean_positive_part(gap / np.where(known, 1.0, std))
        return np.where(known, np.log(np.maximum(gap, 0.0)), uncertain)


def standardised_improvement(gap: Floats, std: Floats) -> Floats:
    """Gap / std, of which P(gap + std Z > 0) is an increasing function; with std = 0 it is inf or -inf.

    An improvement of exactly 0 is none: gap = std = 0 gives -inf.
    """
    known = std <= 0.0
    certain = np.where(gap > 0.0, np.inf, -np.inf)
    return np.where(known, certain, gap / np.where(known, 1.0, std))


def log_improvement_slopes(gap: Floats, std: Floats) -> tuple[Floats, Floats]:
    """Slopes of `log_expected_improvement` in gap and std: (Phi(z), phi(z)) / (h(z) std), z = gap / std.

    Both ratios stay finite where all three underflow, and exact where the logarithms of all three are huge.
    With std = 0 it is (1 / gap, 0) where gap > 0, and 0 where no improvement is possible.
    """
    known = std <= 0.0
    scale = np.where(known, 1.0, std)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # beyond z = -1e154 there is no h
        z = np.where(known, 0.0, gap) / scale
        cumulative, density = _over_mean_positive_part(z)
        in_gap, in_std = cumulative / scale, density / scale
    certain = np.where(gap > 0.0, 1.0 / np.where(gap > 0.0, gap, 1.0), 0.0)
    return np.where(known, certain, in_gap), np.where(known, 0.0, in_std)


def log_mean_positive_part(z: Floats) -> Floats:
    """Log h(z), h(z) = E[max(z + Z, 0)] = phi(z) + z Phi(z), of any shape.

    For z < -1 the two terms cancel, and h(z) = phi(z) (1 - x m(x)) is used, x = -z, m the Mills ratio
    Phi(-x) / phi(x) = sqrt(pi / 2) erfcx(x / sqrt 2); for large x, 1 - x m(x) by its asymptotic series
    (the idea of Ament et al. 2023, LogEI).
    """
    near, far = z > -1.0, z < -ERFCX_LIMIT
    log_h = np.empty(z.shape)
    middle = ~(near | far)
    log_h[near] = _log_direct(z[near])
    log_h[middle] = _log_by_mills_ratio(-z[middle])
    log_h[far] = _log_by_series(-z[far])
    return log_h


def _over_mean_positive_part(z: Floats) -> tuple[Floats, Floats]:
    """Phi(z) / h(z) and phi(z) / h(z), of any shape: m / (1 - x m) and 1 / (1 - x m) at x = -z > 1."""
    near, x = z > -1.0, np.maximum(-z, 1.0)
    log_h = log_mean_positive_part(np.where(near, z, 0.0))
    mills = mills_ratio(x)
    rest = np.where(x > ERFCX_LIMIT, _rest_by_series(x), 1.0 - x * mills)
    cumulative = np.where(near, np.exp(log_ndtr(z) - log_h), mills / rest)
    return cumulative, np.where(near, np.exp(-0.5 * z**2 - LOG_SQRT_2PI - log_h), 1.0 / rest)


def mills_ratio(x: Floats) -> Floats:
    """m(x) = Phi(-x) / phi(x), infinite where it overflows."""
    return math.sqrt(math.pi / 2.0) * erfcx(x / math.sqrt(2.0))


def _rest_by_series(x: Floats) -> Floats:
    """1 - x m(x) for large x, see `_log_by_series`."""
    u = x**-2.0
    return u * (1.0 + _series(u))


def _log_direct(z: Floats) -> Floats:
    return np.log(np.exp(-0.5 * z**2 - LOG_SQRT_2PI) + z * ndtr(z))


def _log_by_mills_ratio(x: Floats) -> Floats:
    return np.log1p(-x * mills_ratio(x)) - 0.5 * x**2 - LOG_SQRT_2PI


def _log_by_series(x: Floats) -> Floats:
    """1 - x m(x) = x^-2 (1 - 3 x^-2 + 15 x^-4 - 105 x^-6 + 945 x^-8 - ...)."""
    return np.log1p(_series(x**-2.0)) - 2.0 * np.log(x) - 0.5 * x**2 - LOG_SQRT_2PI


def _series(u: Floats) -> Floats:
    return u * (-3.0 + u * (15.0 + u * (-105.0 + u * 945.0)))
