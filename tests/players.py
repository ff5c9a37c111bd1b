"""Agents that tests need for something else than what they play, and the loop in which an agent plays."""

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


def ask_and_tell(tuner: Any, value: Any, rounds: int, **asked: Any) -> list[Any]:
    """Let a tuner ask, and tell it a function of the parameters, with costs of -1; return the questions."""
    questions = []
    for _ in range(rounds):
        ticket, parameters = tuner.ask(**asked)
        tuner.tell(ticket, value(parameters), dict.fromkeys(tuner.plan.constraints, -1.0))
        questions.append(parameters)
    return questions


def play(env: Any, agent: Any, observation: Any, rounds: int) -> tuple[list[Any], Any]:
    """Let an agent play; return its actions and the observation after them."""
    actions = []
    for _ in range(rounds):
        action = agent.act(observation)
        following, reward, _, _, info = env.step(action)
        agent.update(observation, action, reward, info)
        actions.append(action)
        observation = following
    return actions, observation
