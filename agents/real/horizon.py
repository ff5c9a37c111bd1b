"""The rule for regret over a known number of rounds: online knowledge gradient with one change of the mean.

    E[z(x)] + w h s (u Phi(u) + phi(u)),     s = var / sqrt(var + noise),     u = (mu(x) - mu*) / s,

(Ryzhov, Powell & Frazier 2012): the value of a play now, and what it may improve in the h rounds that use its
feedback. mu* is the largest mean, or at its arm the second largest.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from bandit_envs.basics.types import Floats

SHARE = 0.5  # w: how much of what is learnt is used
LEAST_STD = 1e-12
MEMORY = 50.0  # rounds added to the rounds so far, in guesses of how long contexts and segments last


def knowledge_gradient(value: Floats, mean: Floats, variance: Floats, noise: Floats, use: float) -> Floats:
    """Return the scores of n arms by the formula above, (n,).

    Args:
        value: E[z], (n,).
        mean, variance: of the transformed values, with pending plays, (n,) each.
        noise: variance of one more play, (n,).
        use: h.
    """
    return value + SHARE * use * improvement(mean, variance, noise)


def improvement(mean: Floats, variance: Floats, noise: Floats) -> Floats:
    """Return s (u Phi(u) + phi(u)) at n arms, (n,)."""
    if len(mean) < 2:
        return np.zeros(len(mean))
    step = variance / np.sqrt(variance + noise)
    best = int(mean.argmax())
    rival = np.full(len(mean), mean[best])
    rival[best] = np.delete(mean, best).max()
    return expected_improvement(-np.abs(mean - rival), step)


def expected_improvement(gap: Floats, std: Floats) -> Floats:
    """Return s (u Phi(u) + phi(u)), u = gap / s, and where s = 0 the gap itself, if it is positive, (n,)."""
    s = np.maximum(std, LEAST_STD)
    u = gap / s
    found = s * (u * ndtr(u) + np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi))
    return np.where(std > 0.0, found, np.maximum(gap, 0.0))


def rounds_to_use(
    left: float, t: int, switches: int | None, visits: int, contexts: int, alarms: int
) -> float:
    """Return h, the rounds in which feedback of this round is expected to be of use.

    Args:
        left: rounds after its delivery.
        t: rounds so far.
        switches: how often the context changed; None without contexts.
        visits: rounds so far in this context, of Z contexts.
        alarms: changes detected so far; -1 where nothing changes.
    """
    rounds = max(left, 0.0)
    if switches is not None:
        rounds = min(rounds, max((t + MEMORY) / (switches + 1), rounds * (visits + 1) / (t + contexts)))
    if alarms >= 0:
        rounds = min(rounds, (t + MEMORY) / (alarms + 1))
    return rounds
