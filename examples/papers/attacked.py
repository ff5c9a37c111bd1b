"""Agents under attack: regret where somebody spends a budget of 10 on the rewards of plays near the best.

    python examples/papers/attacked.py --table docs/results/attacked.csv

docs/elimination.md says what one sees.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits import evaluate
from gpbandits.evaluation.statistics import bootstrap_interval

ENVIRONMENT: dict[str, Any] = {
    "kernel": "rbf",
    "rkhs_norm": 2.0,
    "num_arms": 100,
    "points": "grid",
    "noise_std": 0.1,
    "horizon": 2000,
    "corruption": {"law": "near-optimal", "budget": 10.0},
}
EXTRAS = ("heuristic", "sharp", "paper")  # of rgp-pe: what its half-widths allow for corruption
AGENTS: dict[str, Any] = {
    "rgp-ucb": "rgp-ucb",
    "AMM-UCB": ("gp-ucb", {"width": "amm"}),
    **{f"rgp-pe, {extra}": ("rgp-pe", {"extra": extra}) for extra in EXTRAS},
    "random": "random",
}


def play(trials: int) -> dict[str, Floats]:
    """Regret of each agent at the end of the same trials, (B,) each."""
    result = evaluate("GPBandit-RKHS-v0", AGENTS, trials=trials, env_kwargs=ENVIRONMENT)
    return {label: result.regret[label][:, -1] for label in AGENTS}


def as_markdown(regret: dict[str, Floats]) -> list[str]:
    """A line an agent: mean with its 95 % interval, median with the middle 80 % of the trials."""
    return [f"| {label} | {_mean(values)} | {_median(values)} |" for label, values in regret.items()]


def _mean(values: Floats) -> str:
    return "{:.3g} [{:.3g}, {:.3g}]".format(*map(float, bootstrap_interval(values)))


def _median(values: Floats) -> str:
    return "{:.3g} [{:.3g}, {:.3g}]".format(*np.quantile(values, (0.5, 0.1, 0.9)))


def write(regret: dict[str, Floats], path: Path) -> None:
    """Keep the numbers, a trial a line."""
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(("agent", "trial", "regret"))
        for label, values in regret.items():
            lines.writerows((label, trial, f"{value:.5g}") for trial, value in enumerate(values))


def read(path: Path) -> dict[str, Floats]:
    """Read what `write` wrote."""
    found: dict[str, list[float]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for label, _, value in list(csv.reader(file))[1:]:
            found.setdefault(label, []).append(float(value))
    return {label: np.array(values) for label, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--table", type=Path, default=Path("attacked.csv"))
    options = parser.parse_args()
    regret = play(options.trials)
    write(regret, options.table)
    print("\n".join(as_markdown(regret)))


if __name__ == "__main__":
    main()
