"""Experience whose reward is that of its own action, however late it arrives."""

from __future__ import annotations

from typing import Any

import numpy as np
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm


class AttributedReplayBuffer(ReplayBuffer):
    """A replay buffer that holds a transition back until the reward of its own round arrives.

    The reward that `add` is given sums over what arrives in a round, whichever round earned it;
    `info["feedback_step"]` says which. What never arrives is never learnt from. One environment.

    Args:
        penalty: of the positive parts of the costs that arrive with a reward.
        *arguments, **keywords: of `ReplayBuffer`.
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
        """Keep a transition, and store those whose rewards are in its `info`."""
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
    """Let a model train only once something has arrived: an empty buffer cannot be sampled."""
    train = model.train

    def train_on_feedback(*arguments: Any, **keywords: Any) -> None:
        assert model.replay_buffer is not None
        if model.replay_buffer.size():
            train(*arguments, **keywords)

    model.train = train_on_feedback  # type: ignore[method-assign]
