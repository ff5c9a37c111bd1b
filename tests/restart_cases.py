"""Restarts that keep some plays, and what an agent is shown that starts over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.restarts.base import Periodic

EVERY, FIRST, ROUNDS = 25, 14, 41


class KeepingSome(Periodic):
    @property
    def kept_from(self):
        return np.array([FIRST])


def shown_to(agent: Any, env: Any, rounds: int = ROUNDS, seed: Any = 1, **others: float) -> list[Any]:
    """Let an agent play; return what it was shown in each round, with others added to parts of its info."""
    observation, _ = env.reset(seed=seed)
    agent.reset([3] * env.num_envs if agent.num_trials else 3)
    shown = []
    for _ in range(rounds):
        action = agent.act(observation)
        following, reward, _, _, info = env.step(action)
        info |= {name: info[name] + more for name, more in others.items()}
        agent.update(observation, action, reward, info)
        shown.append((observation, action, info))
        observation = following
    return shown


def without_feedback_before(first: int, info: Mapping[str, Any]) -> dict[str, Any]:
    """The info in which earlier plays never had any feedback, and rounds count from the first one."""
    mask = info["feedback_mask"] & (info["feedback_step"] >= first)
    return {**info, "feedback_mask": mask, "feedback_step": info["feedback_step"] - first}
