"""What each part of `gp-agent` brings on real tasks: scores with one part left out, paired by trial.

    python benchmarks/real_ablation.py --write [TASK ...]

A score is 1 - loss relative to random play, as on the leaderboard; the difference to the whole agent has half
the width of its 95 % interval over trials, by Student's t. Parts that a task does not call for have no row.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one thread

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from scipy.special import stdtrit
from tables import write

from agents.real.choice import publishes
from bandit_envs import Setting
from bandit_envs.environment.registration import real_id
from bandit_envs.problems.real import halves
from gpbandits import evaluate
from gpbandits.report.entrants import REFERENCE
from gpbandits.report.standings import relative_losses

TASKS = (
    "digits-repeat",
    "digits-late",
    "digits-budget",
    "digits-limit",
    "digits-everything",
    "hpob-4796-23",
    "crossed-barrel",
    "conductive-film",
    "perovskite",
    "lcbench-1-datasets",
    "lcbench-4-changes",
    # of the confirmation half
    "kc1-repeat",
    "credit-g-late",
    "cifar100-budget",
    "segment-limit",
    "cifar10-everything",
    "hpob-5889-9971",
    "green-mixture",
    "lcbench-5-datasets",
    "lcbench-6-changes",
    "light",
)
HEADER = ["task", "half", "without", "trials", "score", "difference", "95 %"]
WHOLE = "the whole agent"


def priced(setting: Setting) -> bool:
    """Return whether plays have costs."""
    return setting.num_constraints > 0 or setting.budget is not None


# The parts of `gp-agent` that are not its defaults, and where a task calls for them.
LEFT_OUT: dict[str, tuple[dict[str, Any], Callable[[Setting], bool]]] = {
    WHOLE: ({}, lambda setting: True),
    "width 1": ({"score": "ucb"}, lambda setting: not priced(setting)),
    "expected improvement": ({"score": "ei"}, lambda setting: not priced(setting)),
    "values as they are": ({"alphas": [0.0]}, lambda setting: not (setting.has_contexts or priced(setting))),
    "all that may be learnt": ({"limits_share": 1.0}, lambda setting: setting.num_constraints > 0),
    "one noise for all arms": ({"noise_weight": 1e6}, lambda setting: True),
    "likeliest hyperparameters": (
        {"chains": 0},
        lambda setting: not (publishes(setting, {}) or priced(setting) or setting.has_contexts),
    ),
    "published model always kept": (
        {"refuted": math.inf},
        lambda setting: publishes(setting, {}) and not priced(setting),
    ),
    "published model a prior alone": (
        {"refuted": -math.inf},
        lambda setting: publishes(setting, {}) and not priced(setting),
    ),
    "pending plays ignored": ({"pending": False}, lambda setting: setting.max_delay > 0),
    "changes ignored": ({"alarm": math.inf}, lambda setting: setting.may_change),
    "one first play": ({"first": 1}, lambda setting: not (publishes(setting, {}) or priced(setting))),
}


def rows(task: str, trials: int, seed: int) -> list[list[str]]:
    """Return a row of the table for each part that a task calls for."""
    setting = gym.make(real_id(task)).unwrapped.setting
    entrants = {
        name: ("gp-agent", {"parts": parts})
        for name, (parts, applies) in LEFT_OUT.items()
        if applies(setting)
    }
    result = evaluate(real_id(task), {**entrants, REFERENCE: REFERENCE}, trials=trials, seed=seed)
    score = {name: 1.0 - loss for name, loss in relative_losses(result, REFERENCE).items()}
    found = []
    for name in entrants:
        gap = np.array(score[name] - score[WHOLE])
        width = stdtrit(trials - 1, 0.975) * gap.std(ddof=1) / math.sqrt(trials)
        more = ["", ""] if name == WHOLE else [f"{gap.mean():+.3f}", f"±{width:.3f}"]
        found.append([task, halves()[task], name, str(trials), f"{score[name].mean():.3f}", *more])
    return found


def findings(found: Sequence[Mapping[str, str]]) -> list[str]:
    """Return a line a part: the tasks on which its absence costs, and gains, by intervals without 0."""
    lines = []
    for part in [name for name in LEFT_OUT if name != WHOLE]:
        own = [row for row in found if row["without"] == part]
        gaps = {row["task"]: (float(row["difference"]), float(row["95 %"][1:])) for row in own}
        cells = [
            ", ".join(f"`{task}`" for task, (gap, width) in gaps.items() if sign * gap > width) or "-"
            for sign in (-1.0, 1.0)
        ]
        lines.append(f"| {part} | {len(gaps)} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=TASKS, help="names of measured tasks")
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    found = []
    for task in given.tasks:
        fresh = rows(task, given.trials, given.seed)
        found += fresh
        print(*map(", ".join, fresh), sep="\n", flush=True)
    print(*findings([dict(zip(HEADER, row, strict=True)) for row in found]), sep="\n")
    if given.write:
        write("real_ablation", HEADER, found)


if __name__ == "__main__":
    main()
