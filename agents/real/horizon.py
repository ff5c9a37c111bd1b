"""The rules over a known number of rounds: for regret alone, and where plays have limits or prices.

Without costs it is the online knowledge gradient with one change of the mean,

    E[z(x)] + w h s (u Phi(u) + phi(u)),     s = var / sqrt(var + noise),     u = (mu(x) - mu*) / s,

(Ryzhov, Powell & Frazier 2012): the value of a play now, and what it may improve in the h rounds that use its
feedback. mu* is the largest mean, or at its arm the second largest.

With costs f is the reward over its unit, k the price of a play (1 without a budget), c the costs over theirs.
With F the arms that keep all limits with probability 1/2 or more (else those of the largest probability),

    rho = max_F f / k,    g = f - rho k,    g* = max_F g,
    pi = mean over the arms of (g* - g)+  /  mean over the arms of sum E[c+],
    score = -(g* - g)+ - pi sum E[c+] + w H P sum_j w_j EI(f - rho k_j; g*, s),

P the probability of keeping all, k_j the price at 0 and +-sqrt(3) stds of its logarithm (weights 2/3, 1/6,
1/6), s the std of f with pending plays, H the plays that are left, and w how much of what is learnt is used:
a quarter where there are limits, as what seems best often turns out to break them. So regret and violation
weigh alike, each in what a random arm has of it, and a reward is judged by what its price would earn
elsewhere. While no arm seems to keep all limits, what may be learnt is where less is violated,

    score = J + w H EI(J; max J, pi std(sum c+)),     J = -(g* - g)+ - pi sum E[c+].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from bandit_envs.basics.types import Floats

from .posterior import Predicted
from .values import Asinh, Logarithm

SHARE = 0.5  # w: how much of what is learnt is used
LEAST_STD = 1e-12
MEMORY = 50.0  # rounds added to the rounds so far, in guesses of how long contexts and segments last
REMAINING = 0.5  # of a segment, what is left of it in a round on average


def knowledge_gradient(value: Floats, mean: Floats, variance: Floats, noise: Floats, use: float) -> Floats:
    """Return the scores of n arms by the formula above, (n,).

    Args:
        value: E[z], (n,).
        mean, variance: of the transformed values, with pending plays, (n,) each.
        noise: variance of one more play, (n,).
        use: h.
    """
    return value + SHARE * use * improvement(mean, variance, noise)


def upper_bounds(value: Floats, mean: Floats, variance: Floats, noise: Floats, use: float) -> Floats:
    """Return upper bounds of width 1, (n,); for the arguments see `knowledge_gradient`."""
    return mean + np.sqrt(variance)


def improvement_upon_best(value: Floats, mean: Floats, variance: Floats, noise: Floats, use: float) -> Floats:
    """Return the expected improvement upon the largest mean, (n,); likewise."""
    return expected_improvement(mean - mean.max(), np.sqrt(variance))


SCORES = {"knowledge-gradient": knowledge_gradient, "ucb": upper_bounds, "ei": improvement_upon_best}


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
        rounds = min(rounds, REMAINING * (t + MEMORY) / (alarms + 1))
    return rounds


LIKELY = 0.5
UNLIKELY = 0.01  # probability that the likeliest arm keeps all limits, below which none seems to
SHARE_UNDER_LIMITS = 0.25  # w; 1 without
PRICE_NODES = ((0.0, 2.0 / 3.0), (math.sqrt(3.0), 1.0 / 6.0), (-math.sqrt(3.0), 1.0 / 6.0))


class Outlay(NamedTuple):
    """What plays of n arms cost, (n,) each."""

    kept: Floats  # P(all limits are kept), with pending plays' values as they are expected
    excess: Floats  # sum of E[c+], each cost in its own unit, whatever it is written in
    unsure: Floats  # std of the sum of c+, with pending plays
    price: Floats  # E k
    prices: list[Floats]  # k_j


def outlay(
    limits: Sequence[tuple[Asinh, Predicted]], price: tuple[Logarithm, Predicted] | Floats | None, size: int
) -> Outlay:
    """Return the costs of n arms.

    Args:
        limits: how each cost is written, and what is known of it.
        price: likewise; published prices, (n,); or None without a budget.
    """
    kept, excess, square = np.ones(size), np.zeros(size), np.zeros(size)
    for values, found in limits:
        kept = kept * ndtr(-found.mean / np.sqrt(np.maximum(found.known, 1e-12)))
        excess = excess + values.excess(found.mean, found.known)
        square = square + values.excess_variance(found.mean, found.variance)
    unsure = np.sqrt(square)
    if price is None or isinstance(price, np.ndarray):
        known = np.ones(size) if price is None else price
        return Outlay(kept, excess, unsure, known, [known] * len(PRICE_NODES))
    values, found = price
    middle, _ = values.moments(found.mean, found.known)
    each = [values.quantile(found.mean, found.known, stds) for stds, _ in PRICE_NODES]
    least = 1e-9 * values.size
    return Outlay(
        kept,
        excess,
        unsure,
        np.maximum(values.zero + values.size * middle, least),
        [np.maximum(one, least) for one in each],
    )


class ExchangeRates(NamedTuple):
    """What a round is worth at best, and the price of violations."""

    rate: float  # rho
    best: float  # g*
    price: float  # E k of the best arm
    violation: float  # pi


def exchange(now: Floats, costs: Outlay, budgeted: bool, spread: int | None = None) -> ExchangeRates:
    """Return rho, g* and pi over n arms; `now` is f, (n,).

    Args:
        spread: how many first arms pi is a mean over; None for all. On a box others are close to the best.
    """
    free = costs.kept >= min(LIKELY, float(costs.kept.max()))
    rate = float((now[free] / costs.price[free]).max()) if budgeted else 0.0
    gain = now - rate * costs.price
    place = np.flatnonzero(free)[gain[free].argmax()]
    gaps, violated = gain[place] - gain[:spread], costs.excess[:spread].mean()
    lost = np.maximum(gaps, 0.0).mean()
    if not lost:  # all other arms earn more: violations would be free
        lost = -gaps.mean() or 1.0
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
    if costs.kept.max() < UNLIKELY:
        least = -lost - worth.violation * costs.excess
        return least + plays * expected_improvement(least - least.max(), worth.violation * costs.unsure)
    gains = [
        weight * expected_improvement(mean - worth.rate * price - worth.best, std)
        for price, (_, weight) in zip(costs.prices, PRICE_NODES, strict=True)
    ]
    return -lost - worth.violation * costs.excess + plays * costs.kept * np.sum(gains, axis=0)
