"""The `info` dictionary: one schema at reset and at every step, for one trial and for a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools
from bandit_envs.problem.simulator import Outcome

Info = dict[str, Any]


def batched_info(outcome: Outcome, oracle: bool) -> Info:
    """Arrays with a leading trial axis, without the masks of vector environments."""
    rewards, costs = outcome.values[:, :, 0], outcome.values[:, :, 1:]
    info: Info = {
        "t": outcome.t,
        "feedback_mask": outcome.arrived,
        "feedback_step": outcome.step,
        "feedback_reward": rewards.copy(),
    }
    if outcome.deviation.size:
        info["feedback_std"] = outcome.deviation.copy()
    if costs.shape[2]:
        # Positive parts before the sum, as safe-RL libraries count: costs do not cancel.
        info["cost"] = np.maximum(costs, 0.0).sum(axis=(1, 2))
        info["feedback_cost"] = costs.copy()
    if oracle:
        info["oracle"] = _oracle(outcome)
    return info


def single_info(outcome: Outcome, oracle: bool) -> Info:
    """Python scalars and arrays of the only trial of an outcome."""
    return _first(batched_info(outcome, oracle))


def with_masks(info: Info, present: Bools) -> Info:
    """Add Gymnasium's `_key` masks at every level: which copies have the key."""
    masked: Info = {}
    for key, value in info.items():
        masked[key] = with_masks(value, present) if isinstance(value, dict) else value
        masked[f"_{key}"] = present.copy()
    return masked


def _oracle(outcome: Outcome) -> Info:
    cost = outcome.means[:, 1:].copy()
    return {
        "regret": outcome.regret,
        "mean": outcome.means[:, 0].copy(),
        "optimum": outcome.optimum,
        "cost_mean": cost,
        "violation": np.sqrt((np.maximum(cost, 0.0) ** 2).sum(axis=1)),
        "delay": outcome.delay,
        "segment": outcome.segment,
        "corruption": outcome.corruption,
    }


def _first(info: Info) -> Info:
    return {key: _first(value) if isinstance(value, dict) else _row(value) for key, value in info.items()}


def _row(value: Any) -> Any:
    return value[0] if value.ndim > 1 else value.item()
