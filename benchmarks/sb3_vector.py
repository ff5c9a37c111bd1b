"""Rounds a second on which stable-baselines3 trains: our vector environment beside its own wrappers.

    python benchmarks/sb3_vector.py [--rounds T] [--repeats R] [--write]

The same trials, from the same seeds, are stepped with the same actions and learnt from by the same PPO, over
`DummyVecEnv`, `SubprocVecEnv` (a process a copy, forked) and `SB3VectorEnv`.
Observations and rewards are checked to be the same. The ways are interleaved, repeat by repeat, and rates are
the best of the repeats. `--write` stores docs/results/sb3_vector.csv.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one core, as in a worker of a study

import argparse
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import tables
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnv

from agents.rl.vector import SB3VectorEnv
from bandit_envs import BanditEnv, BanditVectorEnv
from bandit_envs.environment.observations import make_summary
from bandit_envs.environment.wrappers import SummaryObservation

PROBLEM = {"num_arms": 30, "num_contexts": 4, "horizon": 50}
HEADER = ("work", "observation", "copies", "way", "rounds a second", "times DummyVecEnv")


class Single:
    """Makes one wrapped environment; in a class, to be sent to another process."""

    def __init__(self, observation: str):
        self.observation = observation

    def __call__(self) -> Any:
        env = BanditEnv("gp", **PROBLEM)
        return SummaryObservation(env, make_summary(self.observation, env.setting))


def ours(observation: str, copies: int) -> VecEnv:
    return SB3VectorEnv(BanditVectorEnv("gp", copies, autoreset_mode="SameStep", **PROBLEM), observation)


WAYS: dict[str, Callable[[str, int], VecEnv]] = {
    "DummyVecEnv": lambda observation, copies: DummyVecEnv([Single(observation)] * copies),
    "SubprocVecEnv": lambda observation, copies: SubprocVecEnv([Single(observation)] * copies, "fork"),
    "SB3VectorEnv": ours,
}


def stepping(env: VecEnv, rounds: int) -> tuple[float, Any]:
    """Seconds of so many rounds of each copy, and the sum of what was seen and earned."""
    rng, total = np.random.default_rng(0), 0.0
    env.seed(3)
    env.reset()
    start = time.perf_counter()
    for _ in range(rounds):
        seen, reward, *_ = env.step(rng.integers(PROBLEM["num_arms"], size=env.num_envs))
        total += float(reward.sum() + seen.sum())
    return time.perf_counter() - start, total


def training(env: VecEnv, rounds: int) -> tuple[float, Any]:
    """Seconds in which PPO learns from so many rounds of each copy, and its weights."""
    options: dict[str, Any] = {"n_steps": 50, "batch_size": 50 * env.num_envs // 4, "n_epochs": 4}
    model = PPO("MlpPolicy", env, seed=3, device="cpu", **options)
    start = time.perf_counter()
    model.learn(rounds * env.num_envs)
    return time.perf_counter() - start, float(sum(part.sum() for part in model.policy.state_dict().values()))


WORK = {"stepping": stepping, "training PPO": training}


def measure(work: Any, observation: str, copies: int, rounds: int, repeats: int) -> dict[str, float]:
    """Best rounds a second of each way; they see and learn the same."""
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(repeats):
        found = []
        for way, make in WAYS.items():
            env = make(observation, copies)
            took, result = work(env, rounds)
            env.close()
            seconds[way].append(took)
            found.append(result)
        assert np.allclose(found, found[0], rtol=1e-5), found  # SubprocVecEnv keeps rewards in float64
    return {way: rounds * copies / min(each) for way, each in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="store the table")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for (name, work), observation, copies in product(WORK.items(), ("none", "statistics"), (4, 16, 64)):
        rates = measure(work, observation, copies, options.rounds, options.repeats)
        for way, rate in rates.items():
            ratio = f"{rate / rates['DummyVecEnv']:.2g}"
            rows.append((name, observation, str(copies), way, f"{float(f'{rate:.2g}'):.0f}", ratio))
            print(*rows[-1], sep="\t", flush=True)
    if options.write:
        tables.write("sb3_vector", HEADER, rows)


if __name__ == "__main__":
    main()
