"""Microseconds of one GP-UCB step, posterior and rule, in each representation and by the usual means.

    python benchmarks/posterior_step.py [--quick] [--rounds T] [--repeats R]

A run plays T rounds of argmax(mean + 2 std) on a fixed function of [0, 1] with noise variance 0.025.
The naive posterior solves with K_t + lambda I again in each round and scikit-learn fits again; they
are timed at a few rounds spread over the same run, whose average is that of the whole run. All are
interleaved, repeat by repeat, so that a change of the machine's load hits them alike.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one core, as in a worker of a study

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor

from agents.posteriors import TABLES, posterior
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import DENSE_LIMIT, Gram
from bandit_envs.kernels.kernels import make_kernel

NOISE, WIDTH, SEED = 0.025, 2.0, 0
KERNELS = {"SE": "rbf", "Matern 5/2": "matern52"}
PROBES = 5  # rounds of a run at which the slow ways are timed
DENSE_BYTES = 2**31  # of all trials' covariances: above, the dense form is skipped


def truth(gram: Gram) -> Floats:
    """The function that is played, (N,); no draw of the prior, which needs the root of K."""
    x = gram.points[:, 0]
    return np.sin(9.0 * x) * np.cos(23.0 * x)


def play(gram: Gram, form: str, num_trials: int, rounds: int) -> tuple[float, Ints]:
    """Return microseconds a trial-step, and the points that trial 0 played, (T,)."""
    rng = np.random.default_rng(SEED)
    mean, noise = truth(gram), np.sqrt(NOISE) * rng.standard_normal((rounds, num_trials))
    model, trial = posterior(gram, NOISE, num_trials, rounds, form), np.arange(num_trials)
    score, played = np.empty((num_trials, gram.size)), np.empty((rounds, num_trials), dtype=np.int64)
    start = time.perf_counter()
    for t in range(rounds):
        np.sqrt(np.maximum(model.variance, 0.0, out=score), out=score)
        score *= WIDTH
        score += model.mean
        point = played[t] = score.argmax(axis=1)
        model.observe(trial, point, mean[point] + noise[t])
    return 1e6 * (time.perf_counter() - start) / (rounds * num_trials), played[:, 0]


def resolve(gram: Gram, point: Ints, value: Floats) -> tuple[Floats, Floats]:
    """Mean and variance from scratch, (N,) each, by one solve with K_t + lambda I; O(t^3 + t^2 N)."""
    cross = gram.columns(point)
    solved = np.linalg.solve(cross[:, point] + NOISE * np.eye(len(point)), np.column_stack([value, cross]))
    return cross.T @ solved[:, 0], gram.diagonal - np.einsum("tn,tn->n", cross, solved[:, 1:])


def refit(gram: Gram, point: Ints, value: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation by scikit-learn, (N,) each."""
    model = GaussianProcessRegressor(gram.kernel, alpha=NOISE, optimizer=None)
    mean, std = model.fit(gram.points[point], value).predict(gram.points, return_std=True)
    return np.asarray(mean), np.asarray(std)


def probe(gram: Gram, step: Callable[[Gram, Ints, Floats], tuple[Floats, Floats]], played: Ints) -> float:
    """Return microseconds a step of one trial, averaged over rounds at the middles of equal parts."""
    rounds = (np.arange(PROBES) + 0.5) * len(played) / PROBES
    start = time.perf_counter()
    for t in rounds.astype(int):
        mean, spread = step(gram, played[:t], truth(gram)[played[:t]])
        (mean + WIDTH * spread).argmax()
    return 1e6 * (time.perf_counter() - start) / PROBES


def reason_to_skip(form: str, kernel: str, num_points: int, num_trials: int) -> str | None:
    """Why a representation cannot play a problem of this size, or None."""
    if form == "dense" and (num_points > DENSE_LIMIT or 8 * num_trials * num_points**2 > DENSE_BYTES):
        return f"skipped: {8e-9 * num_trials * num_points**2:.1f} GB of covariances"
    if form == "weight-space" and kernel != "SE" and num_points > 100:
        return f"skipped: full rank, (r, r) is ({num_points}, {num_points})"
    if form == "plays" and num_points > DENSE_LIMIT:
        return "skipped: columns of no grid, computed anew"
    return None


def measure(kernel: str, num_points: int, num_trials: int, rounds: int, repeats: int) -> Iterator[str]:
    """Yield one line a way of computing: median, range, and ratio to the fastest."""
    gram = Gram(make_kernel(KERNELS[kernel]), np.linspace(0.0, 1.0, num_points)[:, None])
    skipped = {form: reason_to_skip(form, kernel, num_points, num_trials) for form in TABLES}
    times: dict[str, list[float]] = {form: [] for form in TABLES if not skipped[form]}
    times |= {"naive re-solve": [], "scikit-learn": []}
    play(gram, "factor", num_trials, 10)  # warm up: columns of K, BLAS
    for _ in range(repeats):
        played = np.zeros(0, dtype=np.int64)
        for form in (form for form in TABLES if not skipped[form]):
            microseconds, played = play(gram, form, num_trials, rounds)
            times[form].append(microseconds)
        times["naive re-solve"].append(probe(gram, resolve, played))
        times["scikit-learn"].append(probe(gram, refit, played))
    fastest = min(statistics.median(values) for values in times.values())
    head = f"{kernel:<11}{num_points:>6}{num_trials:>4}"
    for name, values in times.items():
        median = statistics.median(values)
        spread = f"{min(values):.1f}-{max(values):.1f}"
        yield f"{head}  {name:<15}{median:>12.1f}{median / fastest:>10.1f}  {spread}"
    for form, reason in skipped.items():
        if reason:
            yield f"{head}  {form:<15}{'':>12}{'':>10}  {reason}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="200 rounds and 3 repeats unless given")
    parser.add_argument("--rounds", type=int, help="T (1000)")
    parser.add_argument("--repeats", type=int, help="interleaved runs of which the median is taken (5)")
    options = parser.parse_args()
    rounds = options.rounds or (200 if options.quick else 1000)
    repeats = options.repeats or (3 if options.quick else 5)
    print(f"T = {rounds}, {repeats} repeats, one BLAS thread; microseconds a trial-step")
    print(f"{'kernel':<11}{'N':>6}{'B':>4}  {'way':<15}{'median':>12}{'x fastest':>10}  range")
    for kernel, num_points, num_trials in product(KERNELS, (100, 1000, 10_000), (1, 25)):
        for line in measure(kernel, num_points, num_trials, rounds, repeats):
            print(line, flush=True)


if __name__ == "__main__":
    main()
