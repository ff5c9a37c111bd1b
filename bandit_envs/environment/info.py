"""Build the `info` dictionary: one schema at reset and at every step, for one trial and for a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Floats
from bandit_envs.problem.outcome import Outcome

Info = dict[str, Any]


def info_of(outcome: Outcome, oracle: bool) -> Info:
    """Return the info of a round: arrays and Python's numbers for one trial, batched arrays for several."""
    costs = outcome.values[..., 1:]
    info: Info = {
        "t": outcome.t,
        "feedback_mask": outcome.arrived,
        "feedback_step": outcome.step,
        "feedback_reward": outcome.values[..., 0].copy(),
    }
    if outcome.std.size:
        info["feedback_std"] = outcome.std.copy()
    if costs.shape[-1]:
        # Positive parts before the sum, as in safe-RL libraries: costs do not cancel.
        info["cost"] = _number(np.maximum(costs, 0.0).sum(axis=(-2, -1)))
        info["feedback_cost"] = costs.copy()
    if outcome.available.size:
        info["action_mask"] = outcome.available
    if outcome.paid.shape[-1]:
        info["feedback_spent"] = outcome.paid.copy()
        info["played"] = outcome.played
    if oracle:
        info["oracle"] = _oracle(outcome)
    return info


def with_masks(info: Info, present: Bools) -> Info:
    """Add Gymnasium's `_key` masks at every level: True for copies that have the key."""
    masked: Info = {}
    for key, value in info.items():
        masked[key] = with_masks(value, present) if isinstance(value, dict) else value
        masked[f"_{key}"] = present.copy()
    return masked


def _oracle(outcome: Outcome) -> Info:
    cost = outcome.means[..., 1:].copy()
    truth = {
        "regret": outcome.regret,
        "mean": _number(outcome.means[..., 0].copy()),
        "optimum": outcome.optimum,
        "cost_mean": cost,
        "violation": _violation(cost),
        "delay": outcome.delay,
        "segment": outcome.segment,
        "corruption": outcome.corruption,
    }
    return truth | {"spent": outcome.spent, "rate": outcome.rate} if outcome.paid.shape[-1] else truth


def _violation(cost: Floats) -> Any:
    """Return the norm of the positive parts, (..., C) -> (...)."""
    if not cost.shape[-1]:
        return _number(np.zeros(cost.shape[:-1]))
    return _number(np.sqrt((np.maximum(cost, 0.0) ** 2).sum(axis=-1)))


def _number(value: Any) -> Any:
    """Return an array as it is, and one without axes as a Python number."""
    return value if value.ndim else value.item()
