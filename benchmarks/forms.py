"""Which form of the posterior is chosen by the model of costs, beside the one that is measured to be fastest.

    python benchmarks/forms.py [--quick] [--rounds T] [--repeats R] [--write]

Each form plays GP-UCB for T rounds on the same function, interleaved, and the fastest of its repeats counts.
`u?` and `u` are the distinct points that a trial is expected to play, and played. The last column is what the
choice loses: its time over that of the best. `--write` stores the table of `docs/large.md`.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one core, as in a worker of a study

import argparse
import time
from typing import NamedTuple

import numpy as np
from tables import write

from agents.posteriors import TABLES, posterior
from agents.posteriors.select import best_form, costs_of, expected_distinct
from bandit_envs.kernels.gram import DENSE_LIMIT, Gram
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.problem.decisions import unit_grid

NOISE, WIDTH, SEED = 0.025, 3.0, 0
HEADER = ["kernel", "N", "d", "B", "T", "r", "u?", "u", *TABLES, "best", "choice", "ratio"]


class Case(NamedTuple):
    """A prior, and how long how many trials play on it."""

    kernel: str
    size: int
    dim: int
    trials: int
    rounds: int


CASES = [
    Case(kernel, size, dim, trials, rounds)
    for kernel in ("rbf", "matern52")
    for size, dim in ((100, 1), (300, 1), (500, 1), (1000, 1), (2500, 2), (10_000, 2))
    for trials in (1, 16)
    for rounds in (300, 2000)
    if trials * size * rounds <= 2e7
]
CASES += [Case(kernel, 200**2, 2, 1, 300) for kernel in ("rbf", "matern52")]  # a grid without a root


def play(gram: Gram, form: str, case: Case) -> tuple[float, float]:
    """Microseconds a round and trial, and the distinct points that a trial played."""
    rng = np.random.default_rng(SEED)
    truth = np.sin(9.0 * gram.points).prod(axis=1) * np.cos(23.0 * gram.points).sum(axis=1)
    noise = np.sqrt(NOISE) * rng.standard_normal((case.rounds, case.trials))
    model, trial = posterior(gram, NOISE, case.trials, case.rounds, form), np.arange(case.trials)
    start = time.process_time()
    for each in noise:
        score = WIDTH * np.sqrt(np.maximum(model.variance_at(None), 0.0)) + model.mean_at(None)
        point = score.argmax(axis=1)
        model.observe(trial, point, truth[point] + each)
    seconds = time.process_time() - start
    return 1e6 * seconds / noise.size, np.mean([len(model.played(i)) for i in trial])


def forms_of(gram: Gram, case: Case, costs: dict[str, tuple[float, float]]) -> list[str]:
    """Those that are worth a trial: no whole matrix of many points, no column that is computed anew."""
    left_out = {"dense"} if case.size > DENSE_LIMIT else set()
    left_out |= {"plays"} if gram.structure is None else set()
    return [form for form in TABLES if form in costs and form not in left_out]


def measure(case: Case, repeats: int) -> list[str]:
    """One row: what is expected and played, the times, the best, the choice and what it loses."""
    gram = Gram(make_kernel(case.kernel), unit_grid(case.size, case.dim))
    costs = costs_of(gram, case.rounds)
    forms = forms_of(gram, case, costs)
    times: dict[str, list[float]] = {form: [] for form in forms}
    distinct = 0.0
    for _ in range(repeats):
        for form in forms:
            microseconds, distinct = play(gram, form, case)
            times[form].append(microseconds)
    fastest = {form: min(each) for form, each in times.items()}
    best, choice = min(fastest, key=lambda form: fastest[form]), best_form(gram, case.trials, case.rounds)
    rank = 0 if gram.low_rank_root is None else len(gram.low_rank_root)
    counts = [*case[1:], rank, round(expected_distinct(case.size, case.rounds)), round(distinct)]
    shown = [f"{fastest[form]:.1f}" if form in fastest else "" for form in TABLES]
    return [case.kernel, *map(str, counts), *shown, best, choice, f"{fastest[choice] / fastest[best]:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="runs of at most 300 rounds, once")
    parser.add_argument("--rounds", type=int, help="runs of at most so many rounds")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--repeats", type=int, help="interleaved runs of which the fastest counts (3)")
    options = parser.parse_args()
    most = options.rounds or (300 if options.quick else max(case.rounds for case in CASES))
    print("microseconds a round and trial, one BLAS thread")
    print(line(HEADER))
    rows = []
    for case in CASES:
        if case.rounds <= most:
            rows.append(measure(case, options.repeats or (1 if options.quick else 3)))
            print(line(rows[-1]), flush=True)
    if options.write:
        write("forms", HEADER, rows)


def line(cells: list[str]) -> str:
    """A row in columns."""
    return "  ".join(f"{cell:>{max(len(name), 6)}}" for cell, name in zip(cells, HEADER, strict=True))


if __name__ == "__main__":
    main()
