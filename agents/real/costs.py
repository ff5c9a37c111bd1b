"""The rule where plays have costs: limits that they should keep, prices that a budget pays, or both.

f is the reward over its unit, k the price of a play (1 without a budget), c the costs over theirs. With F the
arms that keep all limits with probability 1/2 or more (else those of the largest probability),

    rho = max_F f / k,    g = f - rho k,    g* = max_F g,
    pi = mean over the arms of (g* - g)+  /  mean over the arms of sum E[c+],
    score = -(g* - g)+ - pi sum E[c+] + w H P sum_j w_j EI(f - rho k_j; g*, s),

P the probability of keeping all, k_j the price at 0 and +-sqrt(3) stds of its logarithm (weights 2/3, 1/6,
1/6), s the std of f with pending plays, H the plays that are left, and w how much of what is learnt is used:
a quarter where there are limits, as what seems best often turns out to break them. So regret and violation
weigh alike, each in what a random arm has of it, and a reward is judged by what its price would earn
elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from bandit_envs.basics.types import Floats

from .horizon import expected_improvement
from .posterior import Predicted
from .values import Asinh, Logarithm

LIKELY = 0.5
SHARE_UNDER_LIMITS = 0.25  # w; 1 without
PRICE_NODES = ((0.0, 2.0 / 3.0), (math.sqrt(3.0), 1.0 / 6.0), (-math.sqrt(3.0), 1.0 / 6.0))


class Outlay(NamedTuple):
    """What plays of n arms cost, (n,) each."""

    kept: Floats  # P(all limits are kept), with pending plays' values as they are expected
    excess: Floats  # sum of E[c+], each cost in its own unit, whatever it is written in
    price: Floats  # E k
    prices: list[Floats]  # k_j


def outlay(
    limits: Sequence[tuple[Asinh, Predicted]], price: tuple[Logarithm, Predicted] | Floats | None, size: int
) -> Outlay:
    """Return the costs of n arms.

    Args:
        limits: how each cost is written, and what is known of it.
        price: likewise; published prices, (n,); or None without a budget.
        size: n.
    """
    kept, excess = np.ones(size), np.zeros(size)
    for values, found in limits:
        kept = kept * ndtr(-found.mean / np.sqrt(np.maximum(found.known, 1e-12)))
        excess = excess + values.excess(found.mean, found.known)
    if price is None or isinstance(price, np.ndarray):
        known = np.ones(size) if price is None else price
        return Outlay(kept, excess, known, [known] * len(PRICE_NODES))
    values, found = price
    middle, _ = values.moments(found.mean, found.known)
    each = [values.quantile(found.mean, found.known, stds) for stds, _ in PRICE_NODES]
    least = 1e-9 * values.size
    return Outlay(
        kept,
        excess,
        np.maximum(values.zero + values.size * middle, least),
        [np.maximum(one, least) for one in each],
    )


class ExchangeRates(NamedTuple):
    """What a round is worth at best, and the price of violations."""

    rate: float  # rho
    best: float  # g*
    price: float  # E k of the best arm
    violation: float  # pi


def exchange(now: Floats, costs: Outlay, budgeted: bool) -> ExchangeRates:
    """Return rho, g* and pi over n arms; `now` is f, (n,)."""
    free = costs.kept >= min(LIKELY, float(costs.kept.max()))
    rate = float((now[free] / costs.price[free]).max()) if budgeted else 0.0
    gain = now - rate * costs.price
    place = np.flatnonzero(free)[gain[free].argmax()]
    lost, violated = np.maximum(gain[place] - gain, 0.0).mean(), costs.excess.mean()
    if not lost:  # all other arms earn more: violations would be free
        lost = (gain - gain[place]).mean()
    return ExchangeRates(
        rate, float(gain[place]), float(costs.price[place]), lost / violated if violated > 0.0 else 0.0
    )


def scores(
    now: Floats, mean: Floats, std: Floats, costs: Outlay, worth: ExchangeRates, plays: float
) -> Floats:
    """Return the scores of n arms.

    Args:
        now: f as expected, (n,).
        mean, std: of f, with pending plays, (n,) each.
        costs: of the arms.
        worth: as `exchange` returned it.
        plays: w H, how many plays are left to use what is learnt.
    """
    lost = np.maximum(worth.best - (now - worth.rate * costs.price), 0.0)
    gains = [
        weight * expected_improvement(mean - worth.rate * price - worth.best, std)
        for price, (_, weight) in zip(costs.prices, PRICE_NODES, strict=True)
    ]
    return -lost - worth.violation * costs.excess + plays * costs.kept * np.sum(gains, axis=0)
