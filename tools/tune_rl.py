"""Finds the presets of the reinforcement-learning agents, on trials that no evaluation can contain.

    python tools/tune_rl.py [--algorithms a2c dqn] [--trials 3] [--horizon 200] [--out tuning.csv]
    python tools/tune_rl.py --against docs/results/presets.csv --trials 20 --out fresh.csv
    python tools/tune_rl.py --ranking --trials 10 --out docs/results/presets_ranked.csv

Every configuration plays the same trials of two small problems, 30 arms without contexts and with four, where
learners for boxes play the nearest arm. Regret is printed as a share of that of uniform plays, averaged over
trials and problems. The seeds of the environments are at least 2^32, those of evaluations below
(`TrainingSeeds`). With --delay every reward comes five rounds late. With --against, the preset plays fresh
trials beside the options of the least share in a stored table, if these are others. With --ranking the
presets play fresh trials, each with a function, a noise and a seed of the learner of its own.
docs/reinforcement.md shows what docs/results/presets.csv, presets_late.csv, presets_fresh.csv and
presets_ranked.csv hold.
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
from agents.rl.recipe import GAMMA_IF_LATE, TUNED, WITH_REPLAY
from bandit_envs.basics.types import Floats
from bandit_envs.environment.envs import TrainingSeeds
from gpbandits import evaluate
from gpbandits.evaluation.statistics import bootstrap_interval, paired_difference, sign_flip_test

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
FRESH = 1  # seed of trials that chose no preset
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
        regret = played(env_id, keywords, {"it": agent}, trials, horizon, delay)
        found[label] = float(regret["it"].mean() / regret["random"].mean())
    return found


def played(
    env_id: str,
    keywords: dict[str, Any],
    agents: dict[str, Any],
    trials: int,
    horizon: int,
    delay: bool,
    seed: int = 0,
) -> dict[str, Floats]:
    """Return the regret at the horizon of agents and of uniform plays, (B,) each."""

    def make() -> gym.Env:
        late = DELAY if delay else None
        return TrainingSeeds(gym.make(env_id, **keywords, horizon=horizon, delay=late))

    regret = evaluate(make, {**agents, "random": "random"}, trials=trials, seed=seed).regret
    return {label: curves[:, -1] for label, curves in regret.items()}


def least(algorithm: str, grid: list[tuple[dict[str, Any], float]], delay: bool) -> dict[str, Any] | None:
    """Return the options of the least share of a stored grid; None if they are the preset's."""
    preset = {"gamma": GAMMA_IF_LATE} if delay else TUNED[algorithm]
    options, _ = min((each for each in grid if "attribute" not in each[0]), key=lambda each: each[1])
    return None if options == preset else options


def compare(algorithm: str, other: dict[str, Any], trials: int, horizon: int, delay: bool) -> list[str]:
    """Return both shares on fresh trials, their difference with its interval, and the p-value."""
    agents = {"preset": f"sb3-{algorithm}", "other": (f"sb3-{algorithm}", other)}
    found = [
        played(env_id, keywords, agents, trials, horizon, delay, FRESH)
        for env_id, keywords in PROBLEMS.values()
    ]
    preset, rival = (
        np.mean([regret[label] / regret["random"].mean() for regret in found], axis=0) for label in agents
    )
    difference = paired_difference(rival, preset)
    numbers = (preset.mean(), rival.mean(), *map(float, difference), sign_flip_test(rival, preset))
    return [f"{number:.3g}" for number in numbers]


def ranking(algorithm: str, trials: int, horizon: int, delay: bool) -> list[str]:
    """Return the preset's share on fresh trials, each with another seed of the learner, and its interval."""
    found = [
        played(env_id, keywords, {"preset": f"sb3-{algorithm}"}, trials, horizon, delay, FRESH)
        for env_id, keywords in PROBLEMS.values()
    ]
    share = np.mean([regret["preset"] / regret["random"].mean() for regret in found], axis=0)
    return [str(trials), *(f"{number:.3f}" for number in map(float, bootstrap_interval(share)))]


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
        shares = f"{library:.2f} | {preset:.2f} | {min(mean for _, mean in grid):.2f}"
        lines.append(f"| `sb3-{algorithm}` | {len(grid)} | {shares} |")
    return lines


def fresh_as_markdown(path: Path) -> list[str]:
    """Return the lines of the table of fresh trials: both shares, and their difference with its interval."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = [(algorithm, *map(float, numbers)) for algorithm, _, *numbers in csv.reader(file)]
    return [
        f"| `sb3-{algorithm}` | {preset:.2f} | {other:.2f} | {mean:+.2f} [{low:+.2f}, {high:+.2f}] |"
        for algorithm, preset, other, mean, low, high, _ in rows
    ]


def ranking_as_markdown(path: Path) -> list[str]:
    """Return the lines of the ranking, the least share first, with its interval over trials."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = sorted((tuple(map(float, each[2:])), each[0]) for each in csv.reader(file))
    return [f"| `sb3-{name}` | {mean:.2f} [{low:.2f}, {high:.2f}] |" for (mean, low, high), name in rows]


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
    parser.add_argument(
        "--against", type=Path, help="play the preset beside the least of this table, on fresh trials"
    )
    parser.add_argument("--ranking", action="store_true", help="play the presets alone, on fresh trials")
    parser.add_argument("--out", default="tuning.csv")
    options = parser.parse_args()
    with open(options.out, "a", newline="") as file:
        writer = csv.writer(file)
        stored = read(options.against) if options.against else {}
        for algorithm, (_, *grid) in stored.items():
            other = least(algorithm, grid, options.delay) if algorithm in options.algorithms else None
            if other is not None:
                numbers = compare(algorithm, other, options.trials, options.horizon, options.delay)
                writer.writerow([algorithm, json.dumps(other), *numbers])
                file.flush()
                print(algorithm, other, *numbers, flush=True)
        for algorithm in options.algorithms if options.ranking else ():
            numbers = ranking(algorithm, options.trials, options.horizon, options.delay)
            writer.writerow([algorithm, *numbers])
            file.flush()
            print(algorithm, *numbers, flush=True)
        for algorithm in () if stored or options.ranking else options.algorithms:
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
