"""Long runs of GP-UCB: seconds and peak memory, beside a bare loop over the same mathematics.

    python benchmarks/long_run.py [--part 1.0] [--write]

Each line is a process of its own, so that its peak memory is its own; `--part 0.1` plays a tenth of the
rounds. The bare loop is GP-UCB in weight space without environment, delays or checks; it says how fast the
machine is just now. Seconds are of the processor, so that other work counts less. `--write` stores the table
of `docs/performance.md`.
"""

import argparse
import multiprocessing
import resource
import time
from typing import Any, NamedTuple

import numpy as np
from tables import write

from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel
from gpbandits import evaluate
from gpbandits.evaluation.record import Checkpoints

NOISE, ARMS = 0.1, 100
HEADER = ["run", "rounds", "seconds", "of it the agent", "microseconds a round", "peak (MB)"]


class Run(NamedTuple):
    """Trials of one problem and agent."""

    rounds: int
    trials: int
    problem: dict[str, Any]
    options: dict[str, Any]


LINE, SQUARE = {"num_arms": ARMS}, {"num_arms": 10**6, "dim": 2}
RUNS = {
    "bare loop": Run(10**6, 1, LINE, {}),
    "one trial, 100 arms": Run(10**6, 1, LINE, {}),
    "the same, `repeat=2`": Run(10**6, 1, LINE, {"repeat": 2.0}),
    "25 trials, 100 arms": Run(30_000, 25, LINE, {}),
    "25 trials, `repeat=2`": Run(30_000, 25, LINE, {"repeat": 2.0}),
    "one trial, 1000 x 1000 points": Run(10**5, 1, SQUARE, {}),
}


def played(run: Run) -> list[str]:
    """Play trials that keep checkpoints; return the cells of a row from seconds on."""
    keywords = {**run.problem, "horizon": run.rounds, "noise_std": NOISE}
    start = time.process_time()
    result = evaluate(
        "GPBandit-GP-v0",
        {"it": ("gp-ucb", run.options)},
        trials=run.trials,
        env_kwargs=keywords,
        checkpoints=Checkpoints().rounds,
    )
    taken = time.process_time() - start
    return [f"{taken:.1f}", f"{result.seconds['it'].sum():.1f}", f"{1e6 * taken / run.rounds:.1f}"]


def bare(run: Run) -> list[str]:
    """Play the same rule in a few lines of numpy."""
    gram = Gram(make_kernel("rbf", 0.2), np.linspace(0, 1, ARMS)[:, None])
    rng, root = np.random.default_rng(0), gram.root
    reward, noise = rng.standard_normal(len(root)) @ root, NOISE * rng.standard_normal(run.rounds)
    covariance, mean, variance = np.eye(len(root)), np.zeros(ARMS), gram.diagonal.copy()
    start = time.process_time()
    for t in range(run.rounds):
        width = np.sqrt(2 * np.log(ARMS * (t + 1) ** 2 * np.pi**2 / 0.6))
        x = int((mean + width * np.sqrt(np.maximum(variance, 0.0))).argmax())
        weight = covariance @ root[:, x]
        scale = np.sqrt(NOISE**2 + root[:, x] @ weight)
        weight /= scale
        covariance -= np.multiply.outer(weight, weight)
        step = weight @ root
        mean += step * ((reward[x] + noise[t] - mean[x]) / scale)
        variance -= step * step
    taken = time.process_time() - start
    return [f"{taken:.1f}", "", f"{1e6 * taken / run.rounds:.1f}"]


def row(label: str, run: Run) -> list[str]:
    """Return a line of the table, with the peak memory of this process."""
    cells = bare(run) if label == "bare loop" else played(run)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [label, str(run.rounds), *cells, f"{peak:.0f}"]


def main() -> None:
    """Print a line a process."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", type=float, default=1.0, help="share of the rounds")
    parser.add_argument("--write", action="store_true", help="store the table")
    given, rows = parser.parse_args(), []
    for label, run in RUNS.items():
        shorter = run._replace(rounds=max(int(given.part * run.rounds), 1))
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            rows.append(pool.apply(row, (label, shorter)))
        print(" | ".join(rows[-1]), flush=True)
    if given.write:
        write("long_run", HEADER, rows)


if __name__ == "__main__":
    main()
