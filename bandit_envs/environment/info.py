"""The `info` dictionary: one schema at reset and at every step, and what an evaluator reads of it."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.rounds import RoundOutcome

__all__ = ["OnRound", "Round"]


class Round(NamedTuple):
    """Hold the truth of one round of B trials played as a batch, for evaluators, never for learners.

    The arrays are copies: a callback that changes them does not affect learners.

    Example:
        >>> import gymnasium as gym, bandit_envs
        >>> env = gym.make("GPBandit-GP-v0", horizon=100)
        >>> _ = env.reset(seed=0)
        >>> *_, info = env.step(3)
        >>> Round.of(info, "mine").round
        1
    """

    agent: str  # its label
    round: int  # counted from 1
    trial: Ints  # (B,) indices of the trials, or of the copies of a vector environment
    regret: Floats  # (B,) of the noiseless mean, charged when played
    violation: Floats  # (B,) norm of the positive parts of the mean costs; 0 without constraints

    @staticmethod
    def of(info: dict[str, Any], agent: str = "agent", trial: int | Sequence[int] | Ints = 0) -> "Round":
        """Return the round of a step's `info`, in a loop of your own.

        Args:
            info: of one environment, or of a vector environment whose trials are in the same round.
            trial: index of the trial, or one each.

        Raises:
            ValueError: `info` has no "oracle", or is of a reset.
        """
        if "oracle" not in info:
            remedy = "make the environment with oracle=True"
            raise ValueError(f'info must have "oracle", which has the regret; {remedy}')
        last = int(np.max(info["t"]))
        if last < 0:
            raise ValueError("info must be of a step, got that of a reset, which has no play")
        truth = [np.array(info["oracle"][key], dtype=np.float64, ndmin=1) for key in ("regret", "violation")]
        return Round(agent, last + 1, np.array(trial, dtype=np.int64, ndmin=1), truth[0], truth[1])


OnRound = Callable[[Round], object]

Info = dict[str, Any]


def info_of(outcome: RoundOutcome, oracle: bool) -> Info:
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


def _oracle(outcome: RoundOutcome) -> Info:
    cost = outcome.means[..., 1:].copy()
    truth = {
        "regret": outcome.regret,
        "mean": _number(outcome.means[..., 0]),
        "optimum": outcome.optimum,
        "cost_mean": cost,
        "violation": _violation(cost),
        "delay": outcome.delay,
        "segment": outcome.segment,
        "corruption": outcome.corruption,
    }
    if outcome.regrets.shape[-1]:
        strong, weak = outcome.regrets.max(axis=-1), outcome.regrets.min(axis=-1)
        truth |= {"strong_regret": _number(strong), "weak_regret": _number(weak)}
    if outcome.paid.shape[-1]:
        truth |= {"spent": outcome.spent, "rate": outcome.rate}
    if outcome.moved.shape[-1]:
        truth["moved"] = _number(outcome.moved[..., 0])
    return truth


def _violation(cost: Floats) -> Any:
    """Return the norm of the positive parts, (..., C) -> (...)."""
    if not cost.shape[-1]:
        return np.zeros(len(cost)) if cost.ndim > 1 else 0.0
    return _number(np.sqrt((np.maximum(cost, 0.0) ** 2).sum(axis=-1)))


def _number(value: Any) -> Any:
    """Return a copy of an array, and of one without axes a Python number."""
    return value.copy() if value.ndim else value.item()
