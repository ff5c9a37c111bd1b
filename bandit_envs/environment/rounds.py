"""Report regret and violation of a round to an evaluator, for callbacks of any loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints

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
    def of(info: dict[str, Any], agent: str = "agent", trial: int | Sequence[int] | Ints = 0) -> Round:
        """Return the round of a step's `info`, in a loop of your own.

        Args:
            info: of one environment, or of a vector environment whose trials are in the same round.
            agent: label of the agent.
            trial: index of the trial, or one each.

        Raises:
            ValueError: `info` has no "oracle", or is of a reset.
        """
        if "oracle" not in info:
            raise ValueError(
                'info must have "oracle", which has the regret; make the environment with oracle=True'
            )
        last = int(np.max(info["t"]))
        if last < 0:
            raise ValueError("info must be of a step, got that of a reset, which has no play")
        truth = [np.array(info["oracle"][key], dtype=np.float64, ndmin=1) for key in ("regret", "violation")]
        return Round(agent, last + 1, np.array(trial, dtype=np.int64, ndmin=1), truth[0], truth[1])


OnRound = Callable[[Round], object]
