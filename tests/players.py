"""Agents that tests need for something else than what they play, and the loop in which an agent plays."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


class FirstArm:
    def __init__(self, setting: Any):
        self.setting = setting

    def reset(self, seed: int) -> None:
        pass

    def act(self, observation: Any) -> int:
        return 0

    def update(self, observation: Any, action: Any, reward: Any, info: Any) -> None:
        pass


class UniformArms(FirstArm):
    """Plays arms at random, from a generator of its own."""

    def reset(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def act(self, observation: Any) -> int:
        return int(self.rng.integers(len(self.setting.arms)))


class Slow(FirstArm):
    """An agent that writes its process to the file $NOTES when it is reset, and plays for $PAUSE seconds."""

    def reset(self, seed: int) -> None:
        if "NOTES" in os.environ:
            with open(os.environ["NOTES"], "a") as notes:
                notes.write(f"{os.getpid()}\n")

    def act(self, observation: Any) -> int:
        time.sleep(float(os.environ.get("PAUSE", "0")))
        return 0


def ask_and_tell(tuner: Any, value: Any, rounds: int, **asked: Any) -> list[Any]:
    """Let a tuner ask, and tell it a function of the parameters, with costs of -1; return the questions."""
    questions = []
    for _ in range(rounds):
        ticket, parameters = tuner.ask(**asked)
        tuner.tell(ticket, value(parameters), dict.fromkeys(tuner.plan.constraints, -1.0))
        questions.append(parameters)
    return questions


def at_once(t: int, reward: Any, **more: Any) -> dict[str, Any]:
    """Return the info of a round whose reward, and its `std` or `spent`, are delivered at once."""
    given = {"reward": reward, **more}
    values = {f"feedback_{name}": np.full(1, value, dtype=float) for name, value in given.items()}
    return {"t": t, "feedback_mask": np.ones(1, dtype=bool), "feedback_step": np.array([t]), **values}


def each_round(
    env: Any, agent: Any, observation: Any, rounds: int, told: Callable[[Any], Any] | None = None
) -> Iterator[tuple[Any, ...]]:
    """Let an agent play; yield action, reward, info and the observation that follows, round by round.

    Where a function `told` is given, the agent is told of what it makes of the info.
    """
    for _ in range(rounds):
        action = agent.act(observation)
        following, reward, _, _, info = env.step(action)
        info = info if told is None else told(info)
        agent.update(observation, action, reward, info)
        observation = following
        yield action, reward, info, observation


def play(env: Any, agent: Any, observation: Any, rounds: int) -> tuple[list[Any], Any]:
    actions = []
    for action, *_, following in each_round(env, agent, observation, rounds):
        actions.append(action)
        observation = following
    return actions, observation


def started(agent: Any, seed: Any = 0) -> Any:
    """Return an agent after its reset."""
    agent.reset(seed)
    return agent
