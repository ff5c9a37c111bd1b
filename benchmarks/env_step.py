"""Steps a second of environments: one in our own loop, one through `gym.make`, and vectors of B trials.

    python benchmarks/env_step.py [--runs 30] [--write]

The problem has 100 arms and neither delays nor constraints; `info` holds the truth. Seconds are the
processor's; a row is the fastest of the runs.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np
from tables import measure

import bandit_envs  # noqa: F401  # registers the environments

ENV_ID, ARMS, STEPS = "GPBandit-GP-v0", 100, 100
HEADER = ["environment", "microseconds a step", "trials' steps a second"]


def fastest(step: Callable[[Any], object], action: Any, runs: int) -> float:
    """Seconds of one step, the least of the runs."""
    found = []
    for _ in range(runs):
        start = time.process_time()
        for _ in range(STEPS):
            step(action)
        found.append((time.process_time() - start) / STEPS)
    return min(found)


def row(label: str, seconds: float, trials: int = 1) -> list[str]:
    """One line of the table."""
    return [label, f"{1e6 * seconds:.0f}", f"{float(f'{trials / seconds:.2g}'):.0f}"]


def rows(runs: int) -> Iterator[list[str]]:
    """A row an environment."""
    keywords = {"num_arms": ARMS, "horizon": STEPS * runs}
    env = gym.make(ENV_ID, **keywords)
    for label, each in (("one, bare", env.unwrapped), ("one, `gym.make` with its checks", env)):
        env.reset(seed=0)
        yield row(label, fastest(each.step, 3, runs))
    for trials in (64, 1024):
        envs = gym.make_vec(ENV_ID, trials, vectorization_mode="vector_entry_point", **keywords)
        envs.reset(seed=0)
        yield row(f"{trials} together", fastest(envs.step, np.arange(trials) % ARMS, runs), trials)


if __name__ == "__main__":
    measure(__doc__, "env_step", HEADER, rows, 30)
