"""Simple regret and time on boxes: this package, a loop on scikit-learn, and BoTorch where it is installed.

    python benchmarks/box_optimisation.py --rounds 100 --seeds 3
    python benchmarks/box_optimisation.py --speed        # d = 6, T = 200, refit every 10
    python benchmarks/box_optimisation.py --table docs/results/boxes.csv

All model f by a Gaussian process with one length-scale a dimension, a learnt constant mean and learnt
noise (Matern 5/2; BoTorch its own default kernel and priors), and maximise (log) expected improvement, but
for `botorch-nei`, which is BoTorch with qLogNoisyExpectedImprovement. All refit every `--refit` rounds, begin
with the same random plays and meet the same noise. Two simple regrets, of the noiseless function: of the best
point *played*, and of the point that a method would *recommend* at the end, where its posterior mean is
largest in the box. Time is that of one thread, without the recommendation.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one core for everybody

import argparse
import csv
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from box_methods import METHODS, MODULES

from bandit_envs.problems.benchmarks import (
    ackley_values,
    branin_values,
    hartmann3_values,
    hartmann6_values,
)

# name -> function, d, largest value, noise as a share of a typical deviation
PROBLEMS = {
    "branin": (branin_values, 2, -0.39788736, 50.0),
    "ackley": (ackley_values, 2, 0.0, 3.0),
    "hartmann3": (hartmann3_values, 3, 3.86277979, 1.0),
    "hartmann6": (hartmann6_values, 6, 3.32236801, 0.4),
}
NOISE = 0.05  # of that deviation, in the noisy runs


class Run(NamedTuple):
    """What a method achieved."""

    played: float  # simple regret of the best point played
    recommended: float  # of the point of the largest posterior mean
    milliseconds: float  # of CPU a round


def play(method: str, problem: str, noisy: bool, rounds: int, refit: int, seed: int) -> Run:
    """One run of a method on a problem; all methods have the same first plays and the same noise."""
    function, dim, best, deviation = PROBLEMS[problem]
    noise = NOISE * deviation * np.random.default_rng([seed, 1]).standard_normal(rounds) * noisy
    first = np.random.default_rng([seed, 2]).random((2 * (dim + 1), dim))
    means: list[float] = []

    def value_of(point: np.ndarray) -> float:
        return float(function(np.asarray(point)[None])[0])

    def observe(point: np.ndarray) -> float:
        means.append(value_of(point))
        return means[-1] + noise[len(means) - 1]

    *_, last = METHODS[method](observe, first, rounds, refit, seed)
    return Run(best - max(means), best - value_of(last.recommend()), 1e3 * last.spent / rounds)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=100)
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--refit", type=int, default=10)
    options.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=list(PROBLEMS))
    options.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    options.add_argument("--noise", nargs="+", default=["none", "noisy"], choices=["none", "noisy"])
    options.add_argument("--speed", action="store_true", help="only this package, d = 6 and 200 rounds")
    options.add_argument("--table", type=Path, help="a CSV file for the medians, which docs/boxes.md prints")
    chosen = options.parse_args()
    if chosen.speed:
        chosen.rounds, chosen.problems, chosen.methods = 200, ["hartmann6"], ["gpbandits"]
    present = [name for name in chosen.methods if find_spec(MODULES[name])]
    for name in set(chosen.methods) - set(present):
        print(f"{name} is not installed: left out")
    warnings.simplefilter("ignore")  # the other libraries' advice on bounds and scaling
    found: dict[tuple[str, str], dict[str, list[Run]]] = {}
    print("median and worst simple regret of the best point played and of the recommended point")
    print(f"{'problem':<10} {'noise':<6} {'method':<13}{'played':>9} {'worst':>9}", end="")
    print(f"{'recommended':>12} {'worst':>9} {'ms/round':>9}")
    for problem in chosen.problems:
        for noise in chosen.noise:
            for method in present:
                seeds = range(chosen.seeds)
                runs = [
                    play(method, problem, noise == "noisy", chosen.rounds, chosen.refit, s) for s in seeds
                ]
                found.setdefault((problem, noise), {})[method] = runs
                print(f"{problem:<10} {noise:<6} {method:<13}{row(runs)}", flush=True)
    if chosen.table is not None:
        with chosen.table.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(table(found, present))


def row(runs: list[Run]) -> str:
    played, recommended, milliseconds = np.array(runs).T
    return (
        f"{np.median(played):>9.1e} {played.max():>9.1e}"
        f"{np.median(recommended):>12.1e} {recommended.max():>9.1e} {milliseconds.mean():>9.1f}"
    )


def table(found: dict[tuple[str, str], dict[str, list[Run]]], methods: list[str]) -> Iterator[list[str]]:
    """Medians of the played and of the recommended point, a line a problem; the last has milliseconds."""
    yield ["problem", "noise", *methods]
    for (problem, noise), runs in found.items():
        yield [problem, noise, *(medians(runs[method]) for method in methods)]
    cost = {
        method: [run.milliseconds for runs in found.values() for run in runs[method]] for method in methods
    }
    yield ["ms a round", "", *(f"{min(each):.0f}-{max(each):.0f}" for each in cost.values())]


def medians(runs: list[Run]) -> str:
    """Of the simple regrets, "3.3e-05 / 3.0e-06"."""
    played, recommended, _ = np.median(np.array(runs), axis=0)
    return f"{played:.1e} / {recommended:.1e}"


if __name__ == "__main__":
    main()
