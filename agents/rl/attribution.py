"""A replay buffer that credits each delayed reward to its own action."""

from __future__ import annotations

from typing import Any

import numpy as np
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm


class AttributedReplayBuffer(ReplayBuffer):
    """Replay buffer that stores a transition when the reward of its own round is delivered.

    The reward argument of `add` is the sum of rewards delivered in a round, of any earlier rounds;
    `info["feedback_step"]` has their rounds. Transitions without feedback are never stored. One environment.
    `penalty` is the price of the positive parts of the costs delivered with a reward.
    """

    def __init__(self, *arguments: Any, penalty: float = 0.0, **keywords: Any):
        super().__init__(*arguments, **keywords)
        self.penalty = penalty
        self._pending: dict[int, tuple[Any, ...]] = {}  # round -> its transition, all but the reward

    def add(
        self,
        obs: np.ndarray,
        next_obs: np.ndarray,
        action: np.ndarray,
        reward: np.ndarray,
        done: np.ndarray,
        infos: list[dict[str, Any]],
    ) -> None:
        """Hold a transition, and store those whose rewards are in its `info`."""
        (info,) = infos
        self._pending[info["t"]] = (np.array(obs), np.array(next_obs), np.array(action), done, infos)
        for slot in np.flatnonzero(info["feedback_mask"]).tolist():
            seen, following, played, ended, noted = self._pending.pop(int(info["feedback_step"][slot]))
            earned = np.array([self._value(info, slot)], dtype=np.float32)
            super().add(seen, following, played, earned, ended, noted)

    def _value(self, info: dict[str, Any], slot: int) -> float:
        cost = info["feedback_cost"][slot] if "feedback_cost" in info else np.zeros(0)
        return float(info["feedback_reward"][slot] - self.penalty * np.maximum(cost, 0.0).sum())


def wait_for_feedback(model: OffPolicyAlgorithm) -> None:
    """Let a model train only after the first delivery, because an empty buffer cannot be sampled."""
    train = model.train

    def train_on_feedback(*arguments: Any, **keywords: Any) -> None:
        assert model.replay_buffer is not None
        if model.replay_buffer.size():
            train(*arguments, **keywords)

    model.train = train_on_feedback  # type: ignore[method-assign]
