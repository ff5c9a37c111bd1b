"""How often the interval of what a tuner recommends misses the truth.

    python benchmarks/tuner_intervals.py --write

Each run asks the default agent for 40 experiments; after some of them, what is recommended is compared with
the true mean value there. Of 40 runs, two misses are what 95 % says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from joblib import Parallel, delayed
from tables import measure

from agents import Linear, Tuner

AFTER = (5, 10, 20, 40)
HEADER = ["function", "noise", *(f"{n} values" for n in AFTER)]


def wave(x: float, y: float) -> float:
    return float(np.sin(5 * x) + np.cos(4 * y))


def flat(x: float, y: float) -> float:
    return 7.0


TASKS: dict[str, tuple[Callable[..., float], float]] = {
    "a wave of std 1, noise 0.1": (wave, 0.1),
    "no trend, noise 1": (flat, 1.0),
}


def misses(function: Callable[..., float], noise: float, told: bool, seed: int) -> list[bool]:
    """Whether the interval of what is recommended misses the truth there, after so many values."""
    rng = np.random.default_rng([seed, 1])
    space = {"x": Linear(0, 1), "y": Linear(0, 1)}
    tuner = Tuner(space, seed=seed, noise_std=noise if told else None)
    found = []
    for number in np.diff((0, *AFTER)).tolist():
        tuner.optimise(lambda x, y: function(x, y) + noise * rng.standard_normal(), number)
        advice = tuner.recommend()
        low, high = advice.interval
        found.append(not low <= function(**advice.parameters) <= high)
    return found


def rows(runs: int) -> Iterator[list[str]]:
    """A line for each function, with the noise unknown and known."""
    for title, (function, noise) in TASKS.items():
        for told in (False, True):
            found = Parallel(n_jobs=2)(delayed(misses)(function, noise, told, seed) for seed in range(runs))
            counts = np.array(found).sum(axis=0).tolist()
            yield [title, f"`noise_std={noise:g}`" if told else "learnt", *map(str, counts)]


if __name__ == "__main__":
    measure(__doc__, "tuner_intervals", HEADER, rows, 40)
