"""What a cell costs on Dask beside what it computes, and how well two workers share a study.

    python benchmarks/dask_scaling.py [--rounds 1500] [--cells 12] [--table docs/results/dask.csv]

Plays the same study in this process, on one worker and on two, and prints seconds of the clock and of the
processors: those of this process, which holds client and scheduler, and of the workers, which have played
before, so that imports are paid. The overhead a cell is `one worker - this process`, of small cells.

The clock says how fast two workers are where two cores are free for them. Where they are not, processors say
it: two workers that need no more of them than one are twice as fast on free cores, `2 x one / two`.
"""

import argparse
import csv
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil
from distributed import LocalCluster

from gpbandits.experiments import AgentEntry, EnvironmentEntry, Store, Study, run
from gpbandits.experiments.backends import Backend, local
from gpbandits.experiments.cluster import dask

SMALL = 20  # rounds of a cell that costs next to nothing
COLUMNS = ("where", "small (s)", "small, CPU (s)", "large (s)", "large, CPU (s)")


class Spent(NamedTuple):
    """On a study."""

    clock: float  # seconds
    processors: float  # of this process and those it has started


def study(rounds: int, cells: int, seed: int = 0) -> Study:
    """So many cells of one trial each."""
    environment = EnvironmentEntry("GPBandit-GP-v0", "GP", {"num_arms": 300, "horizon": rounds})
    return Study("scaling", cells, (environment,), (AgentEntry("gp-ucb", "GP-UCB"),), seed, block_size=1)


def spent(backend: Backend, rounds: int, cells: int) -> Spent:
    """On a study that nobody has played."""
    with tempfile.TemporaryDirectory() as folder:
        start, used = time.perf_counter(), processors()
        failed = run(study(rounds, cells), Store(Path(folder)), backend=backend)
        assert not failed, failed[0].failure
        return Spent(time.perf_counter() - start, processors() - used)


def processors() -> float:
    """Seconds of this process and of those that it has started and that live."""
    own = psutil.Process()
    return sum(each.cpu_times().user + each.cpu_times().system for each in (own, *own.children(True)))


def measured(rounds: int, cells: int) -> dict[str, tuple[Spent, Spent]]:
    """Small and large cells, by where they are played."""
    spent(local(1), SMALL, 1)  # imports
    found = {"this process": (spent(local(1), SMALL, cells), spent(local(1), rounds, cells))}
    for workers in (1, 2):
        options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
        with LocalCluster(**options) as cluster:
            backend = dask(cluster.scheduler_address)
            spent(backend, SMALL, 4 * workers)
            name = "one worker" if workers == 1 else "two workers"
            found[name] = spent(backend, SMALL, cells), spent(backend, rounds, cells)
    return found


def main() -> None:
    """Print a line a place, and keep the table where asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=1500)
    parser.add_argument("--cells", type=int, default=12)
    parser.add_argument("--table", type=Path, help="a CSV file for the numbers")
    given = parser.parse_args()
    found = measured(given.rounds, given.cells)
    rows = [[name, *(f"{each:.1f}" for spent in both for each in spent)] for name, both in found.items()]
    for row in (COLUMNS, *rows):
        print("| " + " | ".join(row) + " |")
    (here, _), (one_small, one), (_, two) = found.values()
    for what, index in (("clock", 0), ("processors", 1)):
        overhead = 1000.0 * (one_small[index] - here[index]) / given.cells
        gain = one.clock / two.clock if what == "clock" else 2.0 * one.processors / two.processors
        print(
            f"by the {what}: overhead {overhead:.0f} ms a cell, two workers {gain:.2f} times as fast as one"
        )
    if given.table is not None:
        with given.table.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([COLUMNS, *rows])


if __name__ == "__main__":
    main()
