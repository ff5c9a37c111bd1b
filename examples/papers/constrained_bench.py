"""Agents under constraints on one bench and on the suite's constrained problems, by hard violation first.

The bench is the usual one: GP samples with a cost that holds on 30 % of 100 arms, SE kernels of length-scale
0.2, noise of deviation 0.1 on reward and cost. docs/constraints.md says what one sees.

    python examples/papers/constrained_bench.py --table docs/results/constraints.csv
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits import evaluate
from gpbandits.evaluation.statistics import Interval, bootstrap_interval, paired_difference

BENCH = "bench"
PARTS = ("config", "rpol", "pdcbo", "dual", "multiplicative")
ON_BENCH: dict[str, Any] = {
    "config": "config",
    "rpol": "rpol",
    "epbo, rho = 10": "epbo",
    "epbo, rho = 1": ("epbo", {"rho": 1.0}),
    "pdcbo": "pdcbo",
    "ckb-ucb": "ckb",
    "ckb-random": ("ckb", {"rule": "random"}),
    "ckb-ts": ("ckb", {"rule": "ts"}),
    "dual": ("gp-agent", {"constraint": "dual"}),
    "unconstrained": ("gp-ucb", {"width": 3.0}),
}
ELSEWHERE: dict[str, Any] = {name: ("gp-agent", {"constraint": name}) for name in PARTS}
PROBLEMS: dict[str, tuple[str, dict[str, Any]]] = {
    BENCH: (
        "GPBandit-GP-v0",
        {
            "horizon": 1000,
            "num_arms": 100,
            "length_scale": 0.2,
            "noise": {"law": "gaussian", "std": 0.1},
            "constraints": {"law": "gp", "quantile": 0.3},
            "constraint_noise_std": 0.1,
        },
    ),
    "Constrained": ("GPBandit-Constrained-v0", {"num_arms": 200}),
    "Constrained, noisy costs": ("GPBandit-Constrained-v0", {"num_arms": 200, "constraint_noise_std": 0.1}),
    "Constrained, three costs": ("GPBandit-Constrained-v0", {"num_arms": 200, "num_constraints": 3}),
    "two discs": ("GPBandit-SmallFeasibleRegion-v0", {}),
    "data rates": ("GPBandit-DataRateAllocation-v0", {}),
    "two discs, a box": ("GPBandit-SmallFeasibleRegion-v0", {"continuous": True, "horizon": 100}),
}


class Run(NamedTuple):
    """An agent on a problem, in each trial."""

    problem: str
    agent: str
    hard: Floats  # (B, 4) hard violation at T/8, T/4, T/2 and T
    soft: Floats  # (B,) violation of the summed costs at T
    positive: Floats  # (B,) R+, the regret of rounds that are worse than the best feasible arm
    regret: Floats  # (B,) R_T


def play(problem: str, trials: int) -> Iterator[Run]:
    """All agents on the same trials."""
    name, keywords = PROBLEMS[problem]
    result = evaluate(name, ON_BENCH if problem == BENCH else ELSEWHERE, trials=trials, env_kwargs=keywords)
    rounds = result.horizon
    at = [rounds * share // 8 - 1 for share in (1, 2, 4, 8)]
    for label in result.agents:
        regret = result.regret[label]
        gains = np.maximum(np.diff(regret, axis=1, prepend=0.0), 0.0).sum(axis=1)
        hard, soft = result.hard_violation[label][:, at], result.violation[label][:, -1]
        yield Run(problem, label, hard, soft, gains, regret[:, -1])


def bench_as_markdown(runs: list[Run]) -> list[str]:
    """The lines of the first table: means over trials."""
    lines = []
    for run in (run for run in runs if run.problem == BENCH):
        hard = " | ".join(f"{value:.1f}" for value in run.hard.mean(axis=0))
        soft, positive, regret = (values.mean() for values in run[3:])
        lines.append(f"| {run.agent} | {hard} | {soft:.1f} | {positive:.1f} | {regret:.0f} |")
    return lines


def elsewhere_as_markdown(runs: list[Run]) -> list[str]:
    """The lines of the second table: final hard violation and regret, with 95 % intervals."""
    return [
        f"| {run.problem} | {run.agent} | {_text(bootstrap_interval(run.hard[:, -1]))} "
        f"| {_text(bootstrap_interval(run.soft))} | {_text(bootstrap_interval(run.regret))} |"
        for run in runs
        if run.problem != BENCH
    ]


def verdict(runs: list[Run], one: str, other: str) -> str:
    """Where one agent has less hard violation than another, and less regret, by paired 95 % intervals."""
    found = {run[:2]: run for run in runs}
    said = []
    for word, of in (("hard violation", lambda run: run.hard[:, -1]), ("regret", lambda run: run.regret)):
        counts = {"less": 0, "more": 0, "no significant difference": 0}
        for problem in PROBLEMS:
            mine, theirs = found.get((problem, one)), found.get((problem, other))
            if mine is not None and theirs is not None:
                difference = paired_difference(of(mine), of(theirs))
                sign = "less" if difference.high < 0 else "more" if difference.low > 0 else None
                counts[sign or "no significant difference"] += 1
        said.append(f"{word} {', '.join(f'{how} {count}' for how, count in counts.items())}")
    return f"`{one}` against `{other}`: {'; '.join(said)}"


def _text(interval: Interval) -> str:
    return "{:.3g} [{:.3g}, {:.3g}]".format(*map(float, interval))


def write(runs: list[Run], path: Path) -> None:
    """Keep the numbers, a trial a line."""
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        eighths = [f"hard at {share}/8" for share in (1, 2, 4, 8)]
        lines.writerow(("problem", "agent", "trial", *eighths, "soft", "positive", "regret"))
        for run in runs:
            for trial, (hard, *others) in enumerate(zip(*run[2:], strict=True)):
                lines.writerow((*run[:2], trial, *(f"{value:.5g}" for value in (*hard, *others))))


def read(path: Path) -> list[Run]:
    """Read what `write` wrote."""
    found: dict[tuple[str, str], list[list[float]]] = {}
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            for problem, agent, _, *values in list(csv.reader(file))[1:]:
                found.setdefault((problem, agent), []).append(list(map(float, values)))
    return [_run(key, np.array(rows).T) for key, rows in found.items()]


def _run(key: tuple[str, str], columns: Floats) -> Run:
    *hard, soft, positive, regret = columns
    return Run(*key, np.transpose(hard), soft, positive, regret)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=24)
    parser.add_argument(
        "--table", type=Path, default=Path("constraints.csv"), help="what it holds is not played"
    )
    options = parser.parse_args()
    runs = read(options.table)
    for problem in [each for each in PROBLEMS if each not in {run.problem for run in runs}]:
        runs += play(problem, options.trials)
        write(runs, options.table)
        print(problem, flush=True)
    print("\n".join([*bench_as_markdown(runs), *elsewhere_as_markdown(runs)]))
    print("\n".join(verdict(runs, "config", other) for other in PARTS[1:]))


if __name__ == "__main__":
    main()
