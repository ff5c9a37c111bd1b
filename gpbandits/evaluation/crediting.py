"""This check detects agents that credit delayed rewards to the wrong rounds."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.rehearsal import AgentCheckError

STREAMS = 6  # of rewards, each with its own seed of the agent, since actions may agree by chance


class Redelivered(gym.Wrapper):
    """The wrapper delivers prescribed values, one a round, as those of the round `delay` before.

    Other feedback is equal for all plays: the noise std of the setting and the least cost.

    Args:
        env: environment of one trial, whose own feedback is removed.
        values: reward and costs delivered in each round, (T, 1 + C); none before `start`.
        delay: number of rounds from the play to its feedback.
        start: first round with feedback, at least `delay`.
    """

    def __init__(self, env: gym.Env, values: Floats, delay: int, start: int):
        super().__init__(env)
        self.values, self.delay, self.start = values, delay, start
        setting = env.get_wrapper_attr("setting")
        self.constant = {"feedback_std": setting.noise_std, "feedback_spent": setting.cost_min or 1.0}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play an action, and deliver this round's value as that of the round `delay` before."""
        observation, _, terminated, truncated, info = self.env.step(action)
        shown = _without_feedback(info)
        late = info["t"] >= self.start
        value = self.values[info["t"]] if late else np.zeros_like(self.values[0])
        if late:
            shown["feedback_mask"][self.delay] = True
            shown["feedback_step"][self.delay] = info["t"] - self.delay
            shown["feedback_reward"][self.delay] = value[0]
            for key in self.constant.keys() & shown.keys():
                shown[key][self.delay] = self.constant[key]
        if late and "feedback_cost" in shown:
            shown["cost"] = float(np.maximum(value[1:], 0.0).sum())
            shown["feedback_cost"][self.delay] = value[1:]
        return observation, float(value[0]), terminated, truncated, shown


def check_crediting(env: gym.Env, seed: int, play: Callable[[gym.Env, int], np.ndarray]) -> None:
    """Raise if an agent's actions depend on the delivered rewards, but never on the rounds of these.

    The same rewards are delivered in the same rounds, as those of `max_delay` rounds before, of the round
    itself, or of any between. An agent that credits them to the arm just played acts the same in all cases;
    an agent that reads the round does not. Agents whose actions hardly depend on rewards pass: opposite
    rewards must change the actions in most streams.

    Args:
        env: environment of one trial, with delays.
        seed: seed of the environment from which rewards are taken.
        play: runs a new agent of a given seed in an environment, and returns its actions.
    """
    last = env.get_wrapper_attr("setting").max_delay
    arrivals, horizon = _arrivals(env, seed)
    if not len(arrivals):
        return
    opposite = arrivals.max(axis=0) + arrivals.min(axis=0) - arrivals

    @cache
    def actions(stream: int, lag: int, turned: bool = False) -> np.ndarray:
        order = np.random.default_rng(stream).integers(len(arrivals), size=horizon)
        values = (opposite if turned else arrivals)[order]
        return play(Redelivered(env, values, lag, last), stream)

    def depends_on_round(lag: int) -> bool:
        return any(not np.array_equal(actions(i, last), actions(i, lag)) for i in range(STREAMS))

    def depends_on_rewards() -> bool:
        changed = [not np.array_equal(actions(i, last), actions(i, last, True)) for i in range(STREAMS)]
        return sum(changed) > STREAMS / 2

    if depends_on_round(0) or not depends_on_rewards():
        return
    if not any(depends_on_round(lag) for lag in range(1, last)):
        raise AgentCheckError(*LATE)


LATE = (
    "late rewards",
    "what is learnt from a reward to depend on the round that earned it",
    "the actions changed with the delivered rewards, and not with the rounds that they belong to, as if "
    "the arm just played had earned them",
    'keep the arm of every round, and credit info["feedback_reward"][k] to that of the round '
    'info["feedback_step"][k]; the argument reward is the sum of all delivered rewards of any rounds',
)


def _arrivals(env: gym.Env, seed: int) -> tuple[Floats, int]:
    """Return the rewards and costs delivered under uniform plays, (n, 1 + C), and the number of rounds."""
    env.reset(seed=seed)
    env.action_space.seed(seed)
    values, done = [], False
    while not done:
        _, _, terminated, truncated, info = env.step(env.action_space.sample())
        mask = info["feedback_mask"]
        cost = info["feedback_cost"][mask] if "feedback_cost" in info else np.empty((mask.sum(), 0))
        values.append(np.column_stack([info["feedback_reward"][mask], cost]))
        done = terminated or truncated
    return np.concatenate(values), env.get_wrapper_attr("setting").horizon  # a budget may end it earlier


def _without_feedback(info: dict[str, Any]) -> dict[str, Any]:
    of_values = dict.fromkeys(("feedback_reward", "feedback_cost", "feedback_std", "feedback_spent"), 0.0)
    neutral = {"feedback_mask": False, "feedback_step": -1, **of_values}
    kept = {key: np.full_like(info[key], value) for key, value in neutral.items() if key in info}
    return info | kept | ({"cost": 0.0} if "cost" in info else {})
