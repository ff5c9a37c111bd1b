"""Functions a second that resets draw, one environment at a time and B together, beside the draw itself.

    python benchmarks/resets.py [--runs 5] [--write]

A reset draws a function, its optimum, and the noise of 100 rounds. The bare draw is z @ R and its largest
value, R the root of the covariance. Seconds are the processor's; a row is the median of the runs.
"""

import time
from collections.abc import Callable, Iterator

import gymnasium as gym
import numpy as np
from tables import measure

import bandit_envs  # noqa: F401  # registers the environments

HORIZON = 100
RNG = np.random.default_rng(0)
HEADER = ["problem", "functions a second, one environment", "64 together", "512 together", "the bare draw"]
CASES = [
    (env_id, {"num_arms": arms, **more})
    for env_id, more in [
        ("GPBandit-GP-v0", {}),
        ("GPBandit-RKHS-v0", {}),
        ("GPBandit-Constrained-v0", {}),
        ("GPBandit-Contextual-v0", {"num_contexts": 10}),
    ]
    for arms in (100, 1000)
]


def rate(reset: Callable[[int], object], functions: int, runs: int) -> str:
    """Functions a second of a reset that draws so many."""
    reset(0)
    times = -(-512 // functions)
    found = []
    for run in range(runs):
        start = time.process_time()
        for i in range(times):
            reset(1 + run * times + i)
        found.append((time.process_time() - start) / (times * functions))
    return f"{float(f'{1.0 / np.median(found):.2g}'):.0f}"


def rows(runs: int) -> Iterator[list[str]]:
    """A row a problem."""
    for env_id, given in CASES:
        keywords = {"horizon": HORIZON, **given}
        env = gym.make(env_id, **keywords).unwrapped
        cells = [rate(lambda seed, env=env: env.reset(seed=seed), 1, runs)]
        for count in (64, 512):
            envs = gym.make_vec(env_id, count, vectorization_mode="vector_entry_point", **keywords)
            cells.append(rate(lambda seed, envs=envs: envs.reset(seed=seed), count, runs))
        root = env.problem.gram.root  # type: ignore[attr-defined]
        cells.append(rate(lambda _, root=root: (RNG.standard_normal(len(root)) @ root).max(), 1, runs))
        name = env_id.removeprefix("GPBandit-").removesuffix("-v0")
        yield [f"`{name}` " + ", ".join(f"{key}={value}" for key, value in given.items()), *cells]


if __name__ == "__main__":
    measure(__doc__, "resets", HEADER, rows, 5)
