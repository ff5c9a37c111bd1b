"""Cautions: what in a log speaks against an estimate from it."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from bandit_envs.basics.types import Bools, Floats
from gpbandits.logs.log import PlayLog

LEAST = 0.01  # propensity below which a row is worth a caution
ERRORS = 4.0  # standard errors by which the mean weight may differ from 1
FEWEST = 100.0  # effective number of rows
LEVEL = 0.001  # of all tests of drift together
SHARE = 1e-3  # of the policy's plays that are worth a caution


def require_propensities(log: PlayLog) -> None:
    """Raise unless the logging policy chose at random with known propensities."""
    remedy = 'log an agent that chooses at random, such as "epsilon-greedy" (see agents.with_propensities())'
    if np.isnan(log.propensity).any():
        row = int(np.flatnonzero(np.isnan(log.propensity))[0]) + 1
        what = "its agent chose with certainty, or did not say with what probability"
        raise ValueError(
            f"the log supports no counterfactual: row {row} has no propensity ({what}); {remedy}"
        )
    if log.num_actions > 1 and (log.propensity == 1.0).all():
        raise ValueError(
            "the log supports no counterfactual: every action was chosen with certainty (propensity 1), so "
            f"nothing is known of what another would have earned; {remedy}"
        )


def of_propensities(log: PlayLog, least: float) -> list[str]:
    """Warn of propensities below a bound."""
    low = log.propensity < least
    if not low.any():
        return []
    smallest = float(log.propensity.min())
    words = f"{np.count_nonzero(low)} of {len(log)} rows have a propensity below {least:g}, the least"
    return [f"{words} {smallest:.3g}: such a reward counts up to {1.0 / smallest:.3g} times"]


def of_support(log: PlayLog, probabilities: Floats) -> list[str]:
    """Warn of actions that the policy plays and the log never has."""
    absent = np.bincount(log.action, minlength=log.num_actions) == 0
    shares = np.array([probabilities[:, a].mean() if absent[a] else 0.0 for a in range(log.num_actions)])
    if shares.sum() <= SHARE:
        return []
    names = ", ".join(log.actions[a] for a in np.flatnonzero(shares > 0.0)[:5])
    words = f"{shares.sum():.1%} of the policy's plays are actions that the log never has ({names})"
    return [f"{words}: ips counts them as 0, snips as the others, dr and switch by the model alone"]


def of_weights(weight: Floats) -> list[str]:
    """Warn where few rows decide, and where the mean weight shows that propensities are wrong."""
    total, square = float(weight.sum()), float(np.square(weight).sum())
    if total == 0.0:
        return ["the policy never plays an action of the log: there is nothing to estimate from"]
    found, number, mean = [], total**2 / square, total / len(weight)
    if number < FEWEST:
        found.append(f"the weights are worth {number:.0f} equal rows: intervals may be too short")
    error = float(weight.std()) / np.sqrt(len(weight))
    if abs(mean - 1.0) > ERRORS * error + 1e-6:
        words = f"the mean weight is {mean:.3g} where it should be 1 (standard error {error:.2g})"
        found.append(f"{words}: propensities are wrong, or the policy plays what the log cannot")
    return found


def of_drift(log: PlayLog, now: PlayLog | None = None) -> list[str]:
    """Warn where contexts, or rewards of an action, differ between two halves of the log, or log and now."""
    first = np.arange(len(log)) < len(log) // 2
    found = [f"{each} between the first and the second half of the log" for each in _drift(log, log, first)]
    if now is not None:
        found += [f"{each} between the log and now" for each in _drift(log, now, None)]
    return [f"{each}: what was earned then may not be earned again" for each in found]


def _drift(log: PlayLog, other: PlayLog, first: Bools | None) -> list[str]:
    one = np.ones(len(log), dtype=bool) if first is None else first
    two = np.ones(len(other), dtype=bool) if first is None else ~first
    pairs = {
        f"context feature {i} differs": (log.context[one, i], other.context[two, i])
        for i in range(min(log.context.shape[1], other.context.shape[1]))
    }
    for action, same in _shared_actions(log, other):
        pairs[f"the reward of action {log.actions[action]} differs"] = (
            log.reward[one & log.is_delivered & (log.action == action)],
            other.reward[two & other.is_delivered & (other.action == same)],
        )
    large = [(name, pair) for name, pair in pairs.items() if min(map(len, pair)) >= 30]
    limit = float(norm.isf(LEVEL / (2.0 * max(len(large), 1))))
    return [name for name, pair in large if _difference(*pair) > limit]


def _shared_actions(log: PlayLog, other: PlayLog) -> list[tuple[int, int]]:
    """Return the indices of each action in both logs: by label, or by order where one has indices alone."""
    if any(each.actions == tuple(map(str, range(each.num_actions))) for each in (log, other)):
        return [(a, a) for a in range(min(log.num_actions, other.num_actions))]
    known = {label: code for code, label in enumerate(other.actions)}
    return [(code, known[label]) for code, label in enumerate(log.actions) if label in known]


def _difference(x: Floats, y: Floats) -> float:
    """Return the absolute difference of two means in its standard errors."""
    variance = float(x.var()) / len(x) + float(y.var()) / len(y)
    gap = abs(float(x.mean() - y.mean()))
    if variance == 0.0:
        return np.inf if gap > 0.0 else 0.0
    return gap / float(np.sqrt(variance))
