r"""Estimators of the mean reward V of a policy pi from the log of another, mu, and their intervals.

Row t has the weight w_t = pi(a_t | x_t) / p_t of its action, p_t = mu(a_t | x_t) its propensity, and v_t,
which is 1 where all rewards are delivered (see below). q is a model of the reward and
q_t(pi) = \sum_a pi(a | x_t) q(x_t, a).

- replay: the mean reward of accepted rows; a row is accepted with probability c w_t, c = 1 / max w (Li et
  al. 2011 with uniform mu, where a row is accepted if pi chooses the same action; Dudik et al. 2012 for
  others).
- ips: (1/n) \sum v_t w_t r_t, inverse propensities.
- snips: \sum v_t w_t r_t / \sum v_t w_t, self-normalised (Swaminathan & Joachims 2015).
- dr: (1/n) \sum [q_t(pi) + v_t w_t (r_t - q(x_t, a_t))], doubly robust (Dudik et al. 2014).
- switch: dr, whose correction leaves out rows of w_t > tau (SWITCH-DR of Wang et al. 2017). By default
  tau is the paper's choice, which minimises an estimate of the variance plus a bound on the squared bias.

The error of an estimate is the mean of n contributions psi_t of mean 0, so its variance is about s^2 / n with
s^2 their mean square, and the interval is the estimate plus or minus t s / sqrt(n). s^2 itself is uncertain,
most of all where a few rows have large weights: its relative variance is (k - 1) / n, k = E psi^4 / s^4 the
kurtosis, that of a chi-square variable of 2 n / (k - 1) degrees of freedom, which are those of t. Rows that
depend on what was logged before are no harm: in the right order the contributions are differences of a
martingale. The page on logs shows the coverage that was simulated.

Rewards that are delivered have weights v, where the log was closed before all of them were observed.

"delivered" weighs every delivered row by n / (number of delivered rows). It assumes that a reward and its
delay are independent: rows that are delivered by the end of the log are then as good as any.

"kaplan-meier" lets the delay depend on the reward. Row i has the delay D_i if it is delivered, and else is
censored at its age when the log was closed. With Y(t) rows of at least the delay or age t, and d(t)
deliveries at t, the estimate S(t) = \prod_{s <= t} (1 - d(s) / Y(s)) of the share of delays above t (Kaplan
& Meier 1958) falls at a delivered row's D_i by S(D_i-) / Y(D_i) on that row's account: this is its weight,
times n. A row with a long delay thus also counts for those that were played too late to be observed. It
assumes that delays and rewards do not change over time. Delays longer than the oldest row, which are never
observed, are taken to belong to rewards like the others: weights are divided by their sum over n.

Neither takes a reward that is not delivered for zero. Where only successes are ever reported, no method can
know: give failures a time of delivery, such as the end of the time in which a success counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Bools, Floats
from gpbandits.logs.log import PlayLog

FEWEST = 30  # delivered rows of every action, from which on each has delays of its own


def delivered_only(log: PlayLog) -> Floats:
    """Return n / (number of delivered rows) for each of these, else 0, (n,)."""
    return log.is_delivered * (len(log) / np.count_nonzero(log.is_delivered))


def kaplan_meier(log: PlayLog) -> Floats:
    """Return the weights of Kaplan and Meier, (n,), of each action by itself where all have enough rows."""
    counts = np.bincount(log.action[log.is_delivered], minlength=log.num_actions)
    played = np.bincount(log.action, minlength=log.num_actions) > 0
    alone = bool((counts[played] >= FEWEST).all())
    delay = np.where(log.is_delivered, log.delivered, log.until) - log.time
    weights = np.empty(len(log))
    for action in np.flatnonzero(played) if alone else [None]:
        rows = np.arange(len(log)) if action is None else np.flatnonzero(log.action == action)
        weights[rows] = of_delays(delay[rows], log.is_delivered[rows])
    return weights


def of_delays(delay: Floats, delivered: Bools) -> Floats:
    """Return weights of mean 1 from delays, or ages where nothing is delivered, (n,) each."""
    times, place = np.unique(delay, return_inverse=True)
    events = np.bincount(place, delivered, minlength=len(times))
    at_risk = len(delay) - np.concatenate([[0], np.cumsum(np.bincount(place, minlength=len(times)))[:-1]])
    survival = np.cumprod(np.concatenate([[1.0], 1.0 - events / at_risk]))[:-1]  # just before each time
    weights = delivered * (survival / at_risk)[place]
    return weights * (len(delay) / weights.sum())


DELAYS: dict[str, Callable[[PlayLog], Floats]] = {"kaplan-meier": kaplan_meier, "delivered": delivered_only}


def delivery_weights(log: PlayLog, delays: str) -> Floats:
    """Return the weight of each row's reward, (n,): 0 where it is not delivered, 1 on average."""
    require(log.is_delivered.any(), "log", "one with a delivered reward", "none")
    return np.ones(len(log)) if log.is_delivered.all() else DELAYS[delays](log)


TAUS = 21  # thresholds among which switch chooses, between these quantiles of the weights
QUANTILES = (0.05, 0.95)


class WeightedRows(NamedTuple):
    """Hold what estimators read of n rows, (n,) each."""

    reward: Floats  # 0 where it is not delivered
    weight: Floats  # w
    delivery: Floats  # v, 0 where it is not delivered
    uniform: Floats  # in [0, 1), for the acceptance of replay
    model_value: Floats | None = None  # q_t(pi); None without a model
    model_reward: Floats | None = None  # q(x_t, a_t)


class Contributions(NamedTuple):
    """Hold an estimate and what each row contributes to its error."""

    value: float
    influence: Floats  # (m,) with mean 0: the std of their mean is that of the estimate
    tau: float | None = None  # of switch


def ips(rows: WeightedRows) -> Contributions:
    """Return the estimate of inverse propensities."""
    return _of_mean(rows.delivery * rows.weight * rows.reward)


def snips(rows: WeightedRows) -> Contributions:
    """Return the self-normalised estimate."""
    return _of_ratio(rows.delivery * rows.weight, rows.reward)


def switch(rows: WeightedRows) -> Contributions:
    """Return SWITCH-DR with the threshold of least estimated squared error."""
    positive = rows.weight[rows.weight > 0.0]
    if not len(positive):  # the policy plays nothing of the log: no threshold leaves out a row
        return switch_at(rows, np.inf)
    extent = float(np.ptp(rows.reward[rows.delivery > 0.0]))
    low, high = np.quantile(positive, QUANTILES)
    taus = np.geomspace(low, high, TAUS)
    return min((switch_at(rows, tau) for tau in (*taus, np.inf)), key=lambda x: _error(rows, x, extent))


def switch_at(rows: WeightedRows, tau: float) -> Contributions:
    """Return SWITCH-DR with a given threshold; infinity is the doubly robust estimate."""
    assert rows.model_value is not None
    assert rows.model_reward is not None
    kept = rows.delivery * np.where(rows.weight <= tau, rows.weight, 0.0)
    return _of_mean(rows.model_value + kept * (rows.reward - rows.model_reward))._replace(tau=float(tau))


def replay(rows: WeightedRows) -> Contributions:
    """Return the mean over accepted rows."""
    return _of_ratio(rows.delivery[accepted(rows)], rows.reward[accepted(rows)])


def accepted(rows: WeightedRows) -> Bools:
    """Return the rows that replay accepts, (n,), each with probability w / max w."""
    return rows.uniform * rows.weight.max() < rows.weight


def _error(rows: WeightedRows, found: Contributions, extent: float) -> float:
    """Return estimated variance plus squared bound on the bias, extent times E_pi[w > tau]."""
    assert found.tau is not None
    left_out = float(np.where(rows.weight > found.tau, rows.weight, 0.0).mean())
    return float(found.influence.var() / len(rows.reward) + (extent * left_out) ** 2)


def _of_mean(terms: Floats) -> Contributions:
    value = float(terms.mean())
    return Contributions(value, terms - value)


def _of_ratio(weight: Floats, reward: Floats) -> Contributions:
    """Return sum(weight reward) / sum(weight), with the influence to first order."""
    total = weight.sum()
    if total <= 0.0:
        return Contributions(np.nan, np.zeros(len(weight)))
    value = float((weight * reward).sum() / total)
    return Contributions(value, weight * (reward - value) * (len(weight) / total))


ESTIMATORS: dict[str, Callable[[WeightedRows], Contributions]] = {
    "replay": replay,
    "ips": ips,
    "snips": snips,
    "dr": partial(switch_at, tau=np.inf),
    "switch": switch,
}
WITH_MODEL = ("dr", "switch")

LEVEL = 0.95


def interval(value: float, influence: Floats, level: float = LEVEL) -> tuple[float, float]:
    """Return lower and upper end; infinite where contributions do not differ and show no spread."""
    freedom = degrees_of_freedom(influence)
    if not math.isfinite(value) or freedom < 1.0:
        return -math.inf, math.inf
    std = math.sqrt(float(np.square(influence).mean()) / (len(influence) - 1))
    half = float(student.ppf(0.5 + level / 2.0, freedom)) * std
    return value - half, value + half


def degrees_of_freedom(influence: Floats) -> float:
    """Return 2 n / (k - 1), at most n - 1; 0 of contributions that do not differ."""
    square = np.square(influence)
    size = float(square.mean()) if len(square) > 1 else 0.0
    if size == 0.0:
        return 0.0
    kurtosis = float(np.square(square / size).mean())
    return min(2.0 * len(square) / max(kurtosis - 1.0, 1e-12), len(square) - 1.0)
