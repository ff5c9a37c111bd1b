"""Agents under constraints on one bench and on the suite's constrained problems, by hard violation first.

The bench is the usual one: GP samples with a cost that holds on 30 % of 100 arms, SE kernels of length-scale
0.2, noise of deviation 0.1 on reward and cost. docs/constraints.md says what one sees.

    python examples/papers/constrained_bench.py --table docs/results/constraints.csv
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits import evaluate
from gpbandits.evaluation.statistics import bootstrap_interval, significant_signs

BENCH = "bench"
COMPARED = ("hard violation", "regret")
FIXED = ("two discs", "data rates", "two discs, a box")  # whose functions are the same in all trials
ENOUGH = 24  # trials of these
WORDS = {-1: "less", 1: "more", 0: "no significant difference"}
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
    """Return the lines of the first table: means over trials with 95 % intervals."""
    bench = [run for run in runs if run.problem == BENCH]
    return [_line((run.agent,), (run.hard[:, 0], run.hard[:, -1], *run[3:])) for run in bench]


def elsewhere_as_markdown(runs: list[Run]) -> list[str]:
    """Return the lines of the second table: final violations and regret with 95 % intervals."""
    return [_line(run[:2], _finals(run).values()) for run in runs if run.problem != BENCH]


def of_single_trials(runs: list[Run]) -> list[str]:
    """Name the trials on which marked figures rest, with the means of the others."""
    found: dict[tuple[str, str, int], list[str]] = {}
    for run in runs:
        for metric, values in _finals(run).items():
            if (trial := decisive_trial(values)) is not None:
                others = np.delete(values, trial).mean()
                said = f"`{run.agent}` {others:.3g}, there {values[trial]:.4g}"
                found.setdefault((run.problem, metric, trial), []).append(said)
    return [
        f"- {problem}, {metric} without trial {i}: {'; '.join(each)}"
        for (problem, metric, i), each in found.items()
    ]


def decisive_trial(values: Floats) -> int | None:
    """Return the trial without which the mean would have another sign or less than half its size, or None."""
    trial = int(np.argmax(np.abs(values - np.median(values))))
    mean, others = values.mean(), np.delete(values, trial).mean()
    return trial if others * np.sign(mean) < abs(mean) / 2 else None


def verdicts(runs: list[Run]) -> list[str]:
    """Say in how many problems config differs significantly from each other part, by sign flips with Holm."""
    found, (one, *others) = {run[:2]: _finals(run) for run in runs}, PARTS
    tests = [
        (other, of, name)
        for other in others
        for of in COMPARED
        for name in PROBLEMS
        if (name, other) in found
    ]
    signs = significant_signs([(found[name, one][of], found[name, other][of]) for other, of, name in tests])
    counted = Counter((*test[:2], sign) for test, sign in zip(tests, signs.tolist(), strict=True))
    return [
        f"`{one}` against `{other}`: "
        + "; ".join(
            f"{of} " + ", ".join(f"{word} {counted[other, of, sign]}" for sign, word in WORDS.items())
            for of in COMPARED
        )
        for other in others
    ]


def _finals(run: Run) -> dict[str, Floats]:
    """Return what is compared at T, (B,) each."""
    return {"hard violation": run.hard[:, -1], "soft violation": run.soft, "regret": run.regret}


def _line(names: Iterable[str], columns: Iterable[Floats]) -> str:
    return f"| {' | '.join((*names, *map(_text, columns)))} |"


def _text(values: Floats) -> str:
    mark = "" if decisive_trial(values) is None else " †"
    return "{:.3g} [{:.3g}, {:.3g}]".format(*map(float, bootstrap_interval(values))) + mark


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
    parser.add_argument("--trials", type=int, default=100, help="at most 24 where functions are fixed")
    parser.add_argument(
        "--table", type=Path, default=Path("constraints.csv"), help="what it holds is not played"
    )
    options = parser.parse_args()
    runs = read(options.table)
    for problem in [each for each in PROBLEMS if each not in {run.problem for run in runs}]:
        runs += play(problem, min(options.trials, ENOUGH) if problem in FIXED else options.trials)
        write(runs, options.table)
        print(problem, flush=True)
    print("\n".join([*bench_as_markdown(runs), *elsewhere_as_markdown(runs)]))
    print("\n".join([*of_single_trials(runs), *verdicts(runs)]))


if __name__ == "__main__":
    main()
