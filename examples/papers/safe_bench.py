"""The bench of safe agents: GP samples with a cost that holds on 40 % of 100 arms, from a safe seed on.

    python examples/papers/safe_bench.py --table docs/results/safe.csv

For bands of width 2 and 5.4 it prints the runs with an unsafe play, regret a round against the best arm that
is connected with the seed, and the share of the reachable arms that was certified or played. SE kernel of
length-scale 0.2, noise of deviation 0.1 on both, T = 200. docs/constraints.md says what one sees.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from bandit_envs import BanditVectorEnv
from bandit_envs.basics.types import Bools, Floats
from bandit_envs.problems import build
from gpbandits import evaluate
from gpbandits.evaluation.loop import trial_seeds
from gpbandits.evaluation.statistics import bootstrap_interval, wilson_interval

AGENTS = ("safe-ucb", "safeopt", "stageopt", "ise", "losbo")
WIDTHS = (2.0, 5.4)
BENCH = {
    "horizon": 200,
    "num_arms": 100,
    "length_scale": 0.2,
    "noise_std": 0.1,
    "constraints": {"law": "gp", "quantile": 0.4},
    "constraint_noise_std": 0.1,
    "safe_seed": True,
}


class Run(NamedTuple):
    """An agent with bands of one width, in each trial."""

    agent: str
    width: float
    unsafe: Floats  # (B,) unsafe plays
    regret: Floats  # (B,) a round, against the best arm that is connected with the seed
    coverage: Floats  # (B,) share of the reachable arms that was certified or played
    gap: Floats  # (B,) reward of the best feasible arm less that of the best connected one


def play(trials: int) -> list[Run]:
    """Return all agents on the same trials."""
    problem = build("gp", BENCH)
    gap = out_of_reach(problem, trials)
    field = {(name, w): (name, {"width": w, "cost_width": w}) for name in AGENTS for w in WIDTHS}
    labels = {key: f"{key[0]}, w = {key[1]}" for key in field}
    result = evaluate(problem, {labels[key]: spec for key, spec in field.items()}, trials=trials)
    return [
        Run(
            *key,
            result.unsafe_plays[label][:, -1].astype(float),
            result.regret[label][:, -1] / problem.horizon - gap,
            result.coverage[label],
            gap,
        )
        for key, label in labels.items()
    ]


def component(cost: Floats, seed: Bools, points: Floats, radius: float) -> Bools:
    """Return the points connected with a safe seed, (N,), where the cost, (N,), is <= 0.

    The radius is the largest distance of neighbours, such as a grid's spacing.
    """
    near = cdist(points, points) <= radius * (1.0 + 1e-9)
    before, reached = np.zeros_like(seed), seed
    while (before != reached).any():
        before, reached = reached, reached | ((cost <= 0.0) & near[reached].any(axis=0))
    return reached


def out_of_reach(problem, trials: int) -> Floats:
    """Return by what the best feasible arm is better than the best one connected with the seed, (B,)."""
    env = BanditVectorEnv(problem, trials, autoreset_mode="Disabled")
    env.reset(seed=[trial_seeds(0, i)[0] for i in range(trials)])
    gaps = []
    for trial in env.simulator.trials:
        reward, cost = trial.means[0]
        seed = np.isin(np.arange(len(cost)), trial.setting.safe_seed)
        connected = component(cost, seed, problem.decisions.points, 1 / 99)
        gaps.append(reward[cost <= 0].max() - reward[connected].max())
    return np.array(gaps)


def as_markdown(runs: list[Run]) -> list[str]:
    """Return a line an agent: share of unsafe runs, then means, with 95 % intervals, a column a width."""
    found = {run[:2]: run for run in runs}
    lines = []
    for agent in dict.fromkeys(run.agent for run in runs):
        own = [found[agent, width] for width in WIDTHS]
        shares = [wilson_interval(np.mean(run.unsafe > 0), len(run.unsafe)) for run in own]
        unsafe = [
            "{:.0f} % [{:.0f}, {:.0f}]".format(*(100.0 * float(end) for end in share)) for share in shares
        ]
        means = [_text(values) for values in (*(run.regret for run in own), *(run.coverage for run in own))]
        lines.append(f"| {' | '.join((agent, *unsafe, *means))} |")
    return lines


def reach(runs: list[Run]) -> str:
    """Say by how much of the reward the best feasible arm is better than the best connected one."""
    return f"better by {_text(runs[0].gap)} on average over the {len(runs[0].gap)} trials"


def _text(values: Floats) -> str:
    return "{:.3g} [{:.3g}, {:.3g}]".format(*map(float, bootstrap_interval(values)))


def write(runs: list[Run], path: Path) -> None:
    """Keep the numbers, a trial a line."""
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(("agent", "width", "trial", *Run._fields[2:]))
        for run in runs:
            for trial, values in enumerate(zip(*run[2:], strict=True)):
                lines.writerow((*run[:2], trial, *(f"{value:.5g}" for value in values)))


def read(path: Path) -> list[Run]:
    """Read what `write` wrote."""
    found: dict[tuple[str, float], list[list[float]]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for agent, width, _, *values in list(csv.reader(file))[1:]:
            found.setdefault((agent, float(width)), []).append(list(map(float, values)))
    return [Run(*key, *np.array(rows).T) for key, rows in found.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--table", type=Path, default=Path("safe.csv"))
    options = parser.parse_args()
    write(play(options.trials), options.table)
    runs = read(options.table)
    print("\n".join([reach(runs), *as_markdown(runs)]))


if __name__ == "__main__":
    main()
