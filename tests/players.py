"""Agents that tests need for something else than what they play."""

from __future__ import annotations

from typing import Any


class FirstArm:
    """Plays arm 0, and learns nothing."""

    def __init__(self, setting: Any):
        self.setting = setting

    def reset(self, seed: int) -> None:
        pass

    def act(self, observation: Any) -> int:
        return 0

    def update(self, observation: Any, action: Any, reward: Any, info: Any) -> None:
        pass
