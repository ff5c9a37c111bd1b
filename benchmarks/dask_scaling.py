"""What a cell costs on Dask beside what it computes, and how well two workers share a study.

    python benchmarks/dask_scaling.py [--rounds 3000] [--cells 16]

Plays the same study in this process, on one worker and on two, and prints seconds, the overhead a cell
(`one worker - this process`, of small cells) and the efficiency (`one worker / (2 x two workers)`). The
workers have played before the clock starts, which pays for their imports. Needs two quiet cores.
"""

import argparse
import tempfile
import time
from pathlib import Path

from distributed import LocalCluster

from gpbandits.experiments import AgentEntry, EnvironmentEntry, Store, Study, run
from gpbandits.experiments.backends import Backend, dask, local

SMALL = 20  # rounds of a cell that costs next to nothing


def study(rounds: int, cells: int, seed: int = 0) -> Study:
    """So many cells of one trial each."""
    environment = EnvironmentEntry("GPBandit-GP-v0", "GP", {"num_arms": 300, "horizon": rounds})
    return Study("scaling", cells, (environment,), (AgentEntry("gp-ucb", "GP-UCB"),), seed, block_size=1)


def seconds(backend: Backend, rounds: int, cells: int) -> float:
    """Of the wall clock, for a study that nobody has played."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        failed = run(study(rounds, cells), Store(Path(folder)), backend=backend)
        assert not failed, failed[0].failure
        return time.perf_counter() - start


def main() -> None:
    """Print a line a backend."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3000)
    parser.add_argument("--cells", type=int, default=16)
    given = parser.parse_args()
    rounds, cells = given.rounds, given.cells
    seconds(local(1), SMALL, 1)  # imports
    found = {"this process": [seconds(local(1), each, cells) for each in (SMALL, rounds)]}
    for workers in (1, 2):
        options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
        with LocalCluster(**options) as cluster:
            backend = dask(cluster.scheduler_address)
            seconds(backend, SMALL, 4 * workers)
            found[f"{workers} worker(s)"] = [seconds(backend, each, cells) for each in (SMALL, rounds)]
    for name, (small, large) in found.items():
        print(f"{name:13} {cells} cells of {SMALL} rounds {small:7.2f} s, of {rounds} rounds {large:7.2f} s")
    here, one, two = found.values()
    print(f"overhead {1000 * (one[0] - here[0]) / cells:.1f} ms a cell")
    print(f"efficiency on two workers {one[1] / (2 * two[1]):.2f}, speed-up {one[1] / two[1]:.2f}")


if __name__ == "__main__":
    main()
