"""Microseconds a round of the change-point test beside those of the GP-UCB step it accompanies.

    python benchmarks/change_detection.py [--rounds T] [--repeats R]

T rounds without an alarm, the most expensive case: sqrt(3 T) of them are uniform, and after each of these
all even tails are tested. The setting is that of Avanesov (2020): Matern 5/2, l = 1, 1000 points of [0, 5].
Detector and step are interleaved, repeat by repeat, so that a change of the machine's load hits both alike.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one core, as in a worker of a study

import argparse
import math
import statistics
import time

import numpy as np

from agents.posteriors import posterior
from agents.restarts.detection import ChangePointDetector
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel

NOISE_STD, XI_SQUARED, WIDTH, SEED = 0.05, 3, 2.0, 0


def detection(gram: Gram, truth: Floats, rounds: int) -> float:
    """Seconds that a detector takes in a run of T rounds, all of the same function."""
    rng = np.random.default_rng(SEED)
    samples = math.isqrt(XI_SQUARED * rounds)
    point = rng.integers(gram.size, size=samples)
    value = truth[point] + NOISE_STD * rng.standard_normal(samples)
    detector = ChangePointDetector.on_points(gram, theta=math.inf)
    start = time.perf_counter()
    for x, y in zip(point.tolist(), value, strict=True):
        detector.append(x, y)
    return time.perf_counter() - start


def steps(gram: Gram, truth: Floats, rounds: int) -> float:
    """Seconds that T rounds of argmax(mean + 2 std) take in the fastest representation."""
    rng = np.random.default_rng(SEED)
    noise = NOISE_STD * rng.standard_normal(rounds)
    model, trial = posterior(gram, NOISE_STD**2, 1, rounds), np.zeros(1, dtype=np.int64)
    start = time.perf_counter()
    for t in range(rounds):
        score = model.mean_at(None) + WIDTH * np.sqrt(np.maximum(model.variance_at(None), 0.0))
        point = score.argmax(axis=1)
        model.observe(trial, point, truth[point] + noise[t])
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=2700, help="T (2700)")
    parser.add_argument(
        "--repeats", type=int, default=7, help="interleaved runs of which the median is taken"
    )
    options = parser.parse_args()
    gram = Gram(make_kernel("matern52", 1.0), np.linspace(0.0, 5.0, 1000)[:, None])
    truth = np.random.default_rng(SEED).standard_normal(len(gram.root)) @ gram.root
    times = [(f(gram, truth, options.rounds)) for _ in range(options.repeats) for f in (detection, steps)]
    print(f"T = {options.rounds}, {options.repeats} repeats, one BLAS thread; microseconds a round")
    for name, seconds in (("detector", times[::2]), ("GP-UCB step", times[1::2])):
        micro = [1e6 * each / options.rounds for each in seconds]
        print(f"{name:<12}{statistics.median(micro):>8.1f}  {min(micro):.1f}-{max(micro):.1f}")


if __name__ == "__main__":
    main()
