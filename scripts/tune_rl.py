"""Finds the presets of the reinforcement-learning agents, on trials that no evaluation can contain.

    python scripts/tune_rl.py [--algorithms a2c dqn] [--trials 3] [--horizon 200] [--out tuning.csv]

Every configuration plays the same trials of two small problems, 30 arms without contexts and with four, where
learners for boxes play the nearest arm. Regret is printed as a share of that of uniform plays, averaged over
trials and problems. The presets of `agents/rl/recipe.py` were the best of earlier runs. The seeds of the
environments are at least 2^32, those of evaluations below (`TrainingSeeds`). With --delay every reward comes
five rounds late. docs/reinforcement.md shows what docs/results/presets.csv and presets_late.csv hold.
"""

import argparse
import csv
import json
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

import bandit_envs  # noqa: F401 (registers the ids)
from agents.rl.recipe import TUNED, WITH_REPLAY
from bandit_envs.environment.making import TrainingSeeds
from gpbandits import evaluate

PROBLEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "arms": ("GPBandit-GP-v0", {"num_arms": 30}),
    "contexts": ("GPBandit-GP-v0", {"num_arms": 30, "num_contexts": 4}),
}
GRIDS: dict[str, dict[str, list[Any]]] = {
    "ppo": {"n_steps": [4, 8, 16], "learning_rate": [3e-3, 1e-2, 3e-2], "n_epochs": [4, 10]},
    "a2c": {"n_steps": [1, 4, 8], "learning_rate": [1e-3, 3e-3, 1e-2]},
    "dqn": {"learning_rate": [1e-3, 3e-3], "gradient_steps": [1, 4], "exploration_fraction": [0.1, 0.2, 0.4]},
    "sac": {"learning_rate": [3e-3, 1e-2], "ent_coef": ["auto", 0.1, 0.02], "learning_starts": [10, 30]},
    "td3": {"learning_rate": [1e-3, 3e-3], "action_noise": [0.1, 0.3], "learning_starts": [10, 30]},
    "trpo": {"n_steps": [8, 16, 32], "target_kl": [0.01, 0.05, 0.2]},
    "qr-dqn": {"learning_rate": [1e-3, 3e-3], "exploration_fraction": [0.1, 0.2, 0.4]},
    "recurrent-ppo": {"n_steps": [8, 16], "learning_rate": [3e-3, 1e-2], "n_epochs": [4, 10]},
}
FIXED: dict[str, dict[str, Any]] = {
    "dqn": {"learning_starts": 10, "train_freq": 1},
    "qr-dqn": {"learning_starts": 10, "train_freq": 1},
    "sac": {"batch_size": 32},
    "td3": {"batch_size": 32},
}
DELAY = {"law": "constant", "rounds": 5}
LATE: list[dict[str, Any]] = [*({"gamma": gamma} for gamma in (0.0, 0.5, 0.8, 0.9)), {"attribute": True}]


def configurations(algorithm: str, delay: bool) -> Iterator[dict[str, Any]]:
    """Every point of the grid of an algorithm; with delay, what the preset does about that."""
    if delay:
        yield from LATE if algorithm in WITH_REPLAY else LATE[:-1]
        return
    names, values = zip(*GRIDS[algorithm].items(), strict=True)
    for choice in product(*values):
        chosen = {**FIXED.get(algorithm, {}), **dict(zip(names, choice, strict=True))}
        rollout = chosen.get("n_steps")  # an update takes the whole rollout, as they are short
        yield chosen if rollout is None or algorithm == "a2c" else chosen | {"batch_size": rollout}


def shares(agent: Any, trials: int, horizon: int, delay: bool) -> dict[str, float]:
    """Regret of an agent as a share of that of uniform plays, by problem."""
    found = {}
    for label, (env_id, keywords) in PROBLEMS.items():
        given = {**keywords, "horizon": horizon, "delay": DELAY if delay else None}

        def make(env_id: str = env_id, given: dict[str, Any] = given) -> gym.Env:
            return TrainingSeeds(gym.make(env_id, **given))

        regret = evaluate(make, {"it": agent, "random": "random"}, trials=trials).regret
        found[label] = float(regret["it"][:, -1].mean() / regret["random"][:, -1].mean())
    return found


def read(path: Path) -> dict[str, list[tuple[dict[str, Any], float]]]:
    """Return the options and the mean share of each line, by algorithm."""
    found: dict[str, list[tuple[dict[str, Any], float]]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for algorithm, options, *_, mean in csv.reader(file):
            found.setdefault(algorithm, []).append((json.loads(options), float(mean)))
    return found


def as_markdown(found: dict[str, list[tuple[dict[str, Any], float]]]) -> list[str]:
    """Return the lines of the table of presets: library, preset and least share of the grid."""
    lines = []
    for algorithm, ((_, library), *grid) in found.items():
        preset = next(mean for options, mean in grid if options == TUNED[algorithm])
        options = ", ".join(f"{name}={value!r}" for name, value in TUNED[algorithm].items())
        shares = f"{library:.2f} | {preset:.2f} | {min(mean for _, mean in grid):.2f}"
        lines.append(f"| `sb3-{algorithm}` | {len(grid)} | {shares} | `{options}` |")
    return lines


def late_as_markdown(found: dict[str, list[tuple[dict[str, Any], float]]]) -> list[str]:
    """Return the lines of the table of discounts under delay."""
    lines = []
    for algorithm, (_, *grid) in found.items():
        cells = [f"`sb3-{algorithm}`", *(f"{mean:.2f}" for _, mean in grid), ""]
        lines.append(f"| {' | '.join(cells[: len(LATE) + 1])} |")
    return lines


def main() -> None:
    """Print and write one line a configuration."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--algorithms", nargs="+", default=list(GRIDS), choices=list(GRIDS))
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--horizon", type=int, default=200)
    parser.add_argument("--delay", action="store_true", help="every reward comes five rounds late")
    parser.add_argument("--out", default="tuning.csv")
    options = parser.parse_args()
    with open(options.out, "a", newline="") as file:
        writer = csv.writer(file)
        for algorithm in options.algorithms:
            candidates = [{"preset": "library"}, *configurations(algorithm, options.delay)]
            for candidate in candidates:
                start = time.process_time()
                found = shares(
                    (f"sb3-{algorithm}", candidate), options.trials, options.horizon, options.delay
                )
                mean, seconds = float(np.mean(list(found.values()))), time.process_time() - start
                numbers = [f"{share:.3f}" for share in (*found.values(), mean)]
                writer.writerow([algorithm, json.dumps(candidate), *numbers])
                file.flush()
                shown = "  ".join(f"{label} {share:.2f}" for label, share in found.items())
                print(f"{algorithm:<14}{mean:.3f}  {shown}  {seconds:5.1f} s  {candidate}", flush=True)


if __name__ == "__main__":
    main()
