"""A round of GP-UCB on finite sets: this package, a bare numpy loop, and the same loop compiled by numba.

    pip install numba
    python benchmarks/compiled.py [--runs R] [--write]

The compiled loop says what an extra with compiled rounds could gain at most: no objects, no checks, and each
pass over the points does all that it can. Sums are made in another order than by numpy, and so may differ in
the last bit. Times are of the processor; compiling is not counted.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from bare_loops import DELTA, Trial, low_rank_ucb
from numba import njit
from step import CASES, play, time_agent
from tables import measure

from bandit_envs.basics.types import Floats, Ints

HEADER = ["case", "gpbandits", "numpy", "numba", "gpbandits / numpy", "same arms"]
ROUNDS = 1000
SIZES = (100, 1000)  # numbers of arms


@njit
def low_rank(root: Floats, noise: float, first: int, mean_of: Floats, drawn: Floats, union: float) -> Ints:
    """GP-UCB with the covariance S of r weights, as `bare_loops.low_rank_ucb`."""
    rank, size = root.shape
    covariance, weight = np.eye(rank), np.empty(rank)
    mean, variance, played = np.zeros(size), np.zeros(size), np.empty(len(drawn), np.int64)
    for i in range(rank):
        variance += root[i] ** 2
    x = first
    for t in range(len(drawn)):
        if t:
            x = best(mean, variance, math.sqrt(union + 4 * math.log(t + 1)))
        scale = noise
        for i in range(rank):
            weight[i] = 0.0
            for j in range(rank):
                weight[i] += covariance[i, j] * root[j, x]
            scale += weight[i] * root[i, x]
        scale = math.sqrt(scale)
        weight /= scale
        for i in range(rank):
            for j in range(rank):
                covariance[i, j] -= weight[i] * weight[j]
        u = np.zeros(size)
        for i in range(rank):
            u += weight[i] * root[i]
        learn(mean, variance, u, (mean_of[x] + drawn[t] - mean[x]) / scale)
        played[t] = x
    return played


@njit
def best(mean: Floats, variance: Floats, width: float) -> int:
    """Return the first point of the largest upper bound, in one pass."""
    x, highest = 0, -np.inf
    for i in range(len(mean)):
        bound = mean[i] + width * math.sqrt(max(variance[i], 0.0))
        if bound > highest:
            x, highest = i, bound
    return x


@njit
def learn(mean: Floats, variance: Floats, u: Floats, innovation: float) -> None:
    """Update both tables in one pass."""
    for i in range(len(mean)):
        mean[i] += u[i] * innovation
        variance[i] -= u[i] * u[i]


def compiled(trial: Trial) -> Ints:
    """Play a trial in the compiled loop."""
    gram, noise, first, mean_of, drawn, _ = trial
    union = 2 * math.log(gram.size * math.pi**2 / (6 * DELTA))
    return low_rank(
        np.ascontiguousarray(gram.root), noise, first, mean_of, np.ascontiguousarray(drawn), union
    )


def seconds(call: Callable[..., Any], given: Any) -> float:
    """Processor's seconds of one call."""
    start = time.process_time()
    call(given)
    return time.process_time() - start


def rows(repeats: int) -> Iterator[list[str]]:
    """A row a number of arms; the three in turns, the least of the repeats."""
    for size in SIZES:
        case = CASES["GP-UCB, SE"]
        played = play(case._replace(keywords=case.keywords | {"num_arms": size}), ROUNDS)
        (trial,) = played.trials
        alike = np.mean(compiled(trial) == np.array(played.actions))  # compiled here
        taken = [
            (time_agent(played), seconds(low_rank_ucb, trial), seconds(compiled, trial))
            for _ in range(repeats)
        ]
        agent, loop, fast = (1e6 * least / ROUNDS for least in np.min(taken, axis=0).tolist())
        times = [f"{each:.1f}" for each in (agent, loop, fast)]
        yield [f"GP-UCB, SE, {size} arms", *times, f"{agent / loop:.2f}", f"{alike:.0%}"]


if __name__ == "__main__":
    measure(__doc__, "compiled", HEADER, rows, 10)
