"""How well a tuner of many results asks with fewer candidates, beside all 512: the best of 20 questions.

    python benchmarks/crowded_boxes.py [--runs 12] [--write]

A tuner is given 700 random points, and asked 20 times. Values are medians over seeds, with quartiles, of the
simple regret of the best point asked for, without noise; both ways meet the same points and noise.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one core

from collections.abc import Iterator

import numpy as np
from box_optimisation import NOISE, PROBLEMS
from tables import measure

from agents import Linear, Tuner
from agents.box import search

PAST, ASKED = 700, 20
HEADER = ["problem", "noise", "512 candidates", "fewer"]
WAYS = (10**9, search.FULL)


def regret(problem: str, noisy: bool, full: int, seed: int) -> float:
    """Return the simple regret of the best point asked for."""
    function, dim, best, deviation = PROBLEMS[problem]
    rng, scale = np.random.default_rng(seed), NOISE * deviation * noisy
    search.FULL = full
    tuner = Tuner({f"x{i}": Linear(0, 1) for i in range(dim)}, seed=seed, budget=PAST + ASKED)

    def mean(parameters: dict[str, float]) -> float:
        return float(function(np.array([list(parameters.values())]))[0])

    for point in rng.random((PAST, dim)):
        past = {f"x{i}": float(x) for i, x in enumerate(point)}
        tuner.add(past, mean(past) + scale * rng.standard_normal())
    means = []
    for _ in range(ASKED):
        ticket, parameters = tuner.ask()
        means.append(mean(parameters))
        tuner.tell(ticket, means[-1] + scale * rng.standard_normal())
    return best - max(means)


def told(found: list[float]) -> str:
    """Return "median (lower quartile to upper)"."""
    low, middle, high = np.quantile(found, (0.25, 0.5, 0.75))
    return f"{middle:.1e} ({low:.1e} to {high:.1e})"


def rows(runs: int) -> Iterator[list[str]]:
    """Yield a row a problem, without noise and with it."""
    for problem in PROBLEMS:
        for noisy in (False, True):
            found = [[regret(problem, noisy, full, seed) for full in WAYS] for seed in range(runs)]
            yield [problem, "noisy" if noisy else "none", *map(told, map(list, zip(*found, strict=True)))]


if __name__ == "__main__":
    measure(__doc__, "crowded_boxes", HEADER, rows, 12)
