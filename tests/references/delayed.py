"""Delayed feedback: SDF's censored belief (Verma et al. 2022), GP-BUCB's hallucinated one, delivered ones."""

import numpy as np

from bandit_envs.basics.types import Floats

from .formulas import posterior
from .seen import Given, Seen


def sdf(
    given: Given, seen: Seen, window: float, beta: float = 1.0, reward_bound: float = 1.0
) -> tuple[Floats, Floats, float]:
    """mu_{t-1}, k_{t-1} and nu_t = B_y sum_{s=t-m}^{t-1} sigma_{t-1}(x_s) + beta (Algorithm 1, line 5).

    All plays are conditioned on: with y_s 1[d_s <= min(m, t - s - 1)], rewards measured from the least one.
    """
    f, least = given.reward, given.setting.reward_lower_bound
    s = np.arange(1, seen.t)
    in_time = seen.delay <= np.minimum(window, seen.t - s - 1)
    censored = np.where(in_time, seen.value - least, 0.0)
    mean, covariance = posterior(f.gram, f.noise, seen.played, censored)
    recent = seen.played[s >= seen.t - window]
    bias = reward_bound / f.scale**2 * np.sqrt(np.diag(covariance)[recent]).sum()
    return mean + least, covariance, bias + beta


def gp_ucb_sdf(given: Given, seen: Seen, **options: float) -> Floats:
    """mu_{t-1} + nu_t sigma_{t-1}."""
    mean, covariance, nu = sdf(given, seen, **options)
    return mean + nu * np.sqrt(np.diag(covariance))


def hallucinated(given: Given, seen: Seen) -> tuple[Floats, Floats]:
    """Mean from delivered feedback, covariance from all plays (Desautels et al. 2014)."""
    f, here = given.reward, seen.here
    mean, _ = f.of(seen.played[here], seen.value[here])
    return mean, posterior(f.gram, f.noise, seen.played, np.zeros(seen.t - 1))[1]


def gp_bucb(given: Given, seen: Seen, width: float = 1.0, start: int = 0) -> Floats:
    """mu delivered + w sigma of all plays; the first `start` rounds sigma alone."""
    mean, covariance = hallucinated(given, seen)
    std = np.sqrt(np.diag(covariance))
    return std if seen.t <= start else mean + width * std
