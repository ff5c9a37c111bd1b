r"""Weights of delivered rewards, where the log was closed before all of them were observed.

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

from collections.abc import Callable

import numpy as np

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
