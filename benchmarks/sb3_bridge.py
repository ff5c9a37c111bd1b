"""Microseconds a round that the inversion of control costs a learner of stable-baselines3.

    python benchmarks/sb3_bridge.py [--rounds T] [--repeats R]

The same learner, from the same seed, plays the same environment twice: stepping it itself, as
stable-baselines3 is used, and through the bridge in a loop of ours. The actions are checked to be the same.
The "idle" learner plays without learning: its rounds are the cheapest, so the difference shows best there.
Both ways are interleaved, repeat by repeat, and times are the least of the repeats: a busy machine adds to
wall time whenever a thread waits, and to processor time through cold caches, but never takes away.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one core, as in a worker of a study

import argparse
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import gymnasium as gym
import torch
from stable_baselines3 import A2C
from stable_baselines3.common.utils import set_random_seed

import agents
from agents.agent.generators import preserved_generators
from agents.rl.learner import SB3Agent, one_word
from bandit_envs import BanditEnv

SEED = 3
Clock = Callable[[], float]
CLOCKS: dict[str, Clock] = {"wall": time.perf_counter, "processor": time.process_time}


class Idle(A2C):
    """Draws from its first policy for ever."""

    def train(self) -> None:
        pass


LEARNERS: dict[str, dict[str, Any]] = {
    "idle": {"algorithm": Idle, "gamma": 0.0},
    "a2c": {"algorithm": "a2c"},
    "dqn": {"algorithm": "dqn"},
}


class Noted(gym.Wrapper):
    """Keeps the actions; every trial is the same."""

    def __init__(self, env: gym.Env):
        super().__init__(env)
        self.plays: list[int] = []

    def reset(self, **keywords: Any) -> Any:
        return self.env.reset(seed=SEED)

    def step(self, action: Any) -> Any:
        self.plays.append(int(action))
        return self.env.step(action)


def directly(env: BanditEnv, agent: SB3Agent, clock: Clock) -> tuple[float, list[int]]:
    """Seconds of `learn` on the environment, and what it played."""
    noted = Noted(env)
    set_random_seed(one_word(SEED))
    model = agent.recipe.model(noted)
    model.action_space.seed(one_word(SEED))
    start = clock()
    model.learn(agent.setting.horizon)
    return clock() - start, noted.plays[: agent.setting.horizon]


def through_the_bridge(env: BanditEnv, agent: SB3Agent, clock: Clock) -> tuple[float, list[int]]:
    """Seconds of the loop that `evaluate` runs, and what the agent played."""
    observation, _ = env.reset(seed=SEED)
    agent.reset(SEED)
    plays, done, start = [], False, clock()
    while not done:
        action = agent.act(observation)
        following, reward, _, done, info = env.step(action)
        agent.update(observation, action, reward, info)
        plays.append(action)
        observation = following
    return clock() - start, plays


def measure(rounds: int, repeats: int, options: dict[str, Any], clock: Clock) -> tuple[float, float, float]:
    """Least microseconds a round: directly, through the bridge, and the difference."""
    env = BanditEnv("gp", num_arms=30, horizon=rounds)
    env.reset(seed=SEED)
    agent = agents.sb3(env.setting, **options)
    ways = (directly, through_the_bridge)
    times = []
    for _ in range(repeats):
        with preserved_generators():
            (alone, plays), (bridged, same) = (way(env, agent, clock) for way in ways)
        assert plays == same
        times.append((alone, bridged))
    alone, bridged = (1e6 * min(column) / rounds for column in zip(*times, strict=True))
    return alone, bridged, bridged - alone


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"T = {options.rounds}, {options.repeats} repeats; least microseconds a round")
    print(f"{'learner':<10}{'clock':<10}{'directly':>12}{'bridged':>12}{'difference':>12}")
    for (name, learner), (kind, clock) in product(LEARNERS.items(), CLOCKS.items()):
        alone, bridged, difference = measure(options.rounds, options.repeats, learner, clock)
        print(f"{name:<10}{kind:<10}{alone:>12.0f}{bridged:>12.0f}{difference:>12.0f}", flush=True)


if __name__ == "__main__":
    main()
