"""Optimisers of other libraries and agents of ours on the same trials, time a round included.

    pip install ".[peers]"
    python benchmarks/optimisers.py --table docs/results/optimisers.csv

No agent is given the kernel or the noise: ours learn hyperparameters from feedback too, every five rounds.
Libraries that are not installed are left out. Time is that of `act` and `update`, the median over trials, on
one thread.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one core for everybody

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from agents.registry import names, resolve_agent
from gpbandits import evaluate
from gpbandits.evaluation.formats import text
from gpbandits.evaluation.statistics import bootstrap_interval

LEARNING = {"initial": 5, "refit_every": 5}  # kernel and noise, as Tuner does
OURS = {name: (name, LEARNING) for name in ("gp-ei", "gp-ucb", "gp-bucb", "gp-ts")} | {"random": "random"}
OURS["gp-bucb, width 2"] = ("gp-bucb", {"width": 2.0, **LEARNING})  # what a Tuner with contexts asks
UNTOLD: dict[str, Any] = {"dim": 2, "kernel": "matern52", "length_scale": 0.3, "publish_model": False}
ENVIRONMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "100 arms": ("GPBandit-GP-v0", {**UNTOLD, "num_arms": 100}),
    "box": ("GPBandit-GP-v0", {**UNTOLD, "continuous": True}),
    "100 arms, late": (
        "GPBandit-Delayed-v0",
        {**UNTOLD, "num_arms": 100, "delay": {"law": "poisson", "mean": 5}},
    ),
}
HEADER = ("environment", "agent", "regret a round", "simple regret", "ms a round")


def entrants() -> dict[str, Any]:
    """Our agents, and those of other libraries that are installed."""
    others = [name for name in names() if hasattr(resolve_agent(name).make, "requires")]
    return OURS | {name: name for name in others if not resolve_agent(name).missing}


def rows(environment: str, horizon: int, trials: int) -> Iterator[list[str]]:
    """A line for each entrant, the least regret first."""
    env_id, keywords = ENVIRONMENTS[environment]
    agents = entrants()
    result = evaluate(env_id, agents, trials=trials, seed=0, env_kwargs={**keywords, "horizon": horizon})
    for name in sorted(agents, key=lambda name: result.regret[name][:, -1].mean()):
        milliseconds = 1e3 * float(np.median(result.seconds[name])) / horizon
        intervals = [
            text(bootstrap_interval(values[:, -1]))
            for values in (result.regret[name] / horizon, result.simple_regret[name])
        ]
        yield [environment, name, *intervals, text(float(f"{milliseconds:.2g}"))]


def main() -> None:
    """Play, print and keep."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--horizon", type=int, default=30)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--table", type=Path, help="a CSV file to write")
    given = parser.parse_args()
    found: list[list[str]] = [list(HEADER)]
    for environment in ENVIRONMENTS:
        for row in rows(environment, given.horizon, given.trials):
            found.append(row)
            print("| " + " | ".join(row) + " |", flush=True)
        if given.table is not None:
            with given.table.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows(found)


if __name__ == "__main__":
    main()
