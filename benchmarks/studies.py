"""What a study costs beside its cells: efficiency of two workers, and commands on 10,000 small cells.

    python benchmarks/studies.py [--cells 10000] [--write]

Efficiency is that of workers, not of a busy machine: cells wait for a second instead of computing for one;
seconds of all cells over seconds of both workers, which have been started before. Commands are processes of
their own. A run has started when its first cell is stored; resuming finds all cells stored.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
from tables import write

from agents.algorithms.no_model import RandomAgent
from bandit_envs.problem.setting import Setting
from gpbandits.experiments import AgentEntry, EnvironmentEntry, Store, Study, run
from gpbandits.experiments.backends import Backend, local

HEADER = ["what", "seconds", "processor's seconds", "peak (MB)", "efficiency"]
PATH = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])  # for `Waiting`
WAITS = 20  # cells of a second
SMALL = EnvironmentEntry("GPBandit-GP-v0", "GP", {"num_arms": 10, "horizon": 10})
TEXT = """[study]
name = "small"
trials = {trials}
block_size = 1
[[environments]]
id = "{id}"
label = "10 arms"
kwargs = {{ num_arms = 10, horizon = 10 }}
[[environments]]
id = "{id}"
label = "11 arms"
kwargs = {{ num_arms = 11, horizon = 10 }}
[[agents]]
name = "random"
label = "Random"
[[agents]]
name = "gp-ucb"
label = "GP-UCB"
"""


class Waiting(RandomAgent):
    """Agent that waits for a second before each trial."""

    def __init__(self, setting: Setting):
        super().__init__(setting)

    def reset(self, seed: int) -> None:
        """Wait, then start."""
        time.sleep(1.0)
        super().reset(seed)


def waited(name: str, backend: Backend) -> list[str]:
    """Return the row of two workers on cells of a second."""
    entry = AgentEntry("studies:Waiting", "waiting")
    for cells in (2, WAITS):  # the first of them starts the workers
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            failed = run(
                Study("wait", cells, (SMALL,), (entry,), block_size=1), Store(folder), backend=backend
            )
            taken = time.perf_counter() - start
            assert not failed, failed[0].failure
    return [f"{WAITS} cells of a second, {name}", f"{taken:.2f}", "", "", f"{WAITS / (2.0 * taken):.0%}"]


def efficiency() -> Iterator[list[str]]:
    """Yield a row of loky and one of Dask, two worker processes each."""
    from distributed import LocalCluster

    from gpbandits.experiments.cluster import dask

    yield waited("two processes (loky)", local(2))
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield waited("two Dask workers", dask(cluster.scheduler_address))


def command(name: str, *arguments: str) -> list[str]:
    """Return the row of a command of the command line, which must succeed."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "gpbandits", *arguments], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, f"{arguments} ended with {status}"
    clock, processor = time.perf_counter() - start, used.ru_utime + used.ru_stime
    return [name, f"{clock:.1f}", f"{processor:.1f}", f"{used.ru_maxrss / 1024:.0f}", ""]


def until_first_cell(study: Path, folder: Path) -> list[str]:
    """Return the row of the start of a run, which is ended then."""
    start = time.perf_counter()
    arguments = ["run", str(study), "--out", str(folder), "--workers", "2"]
    process = psutil.Popen([sys.executable, "-m", "gpbandits", *arguments], stdout=subprocess.DEVNULL)
    while not list(folder.glob("cells/*.parquet")):
        time.sleep(0.01)
    clock, processor = time.perf_counter() - start, sum(process.cpu_times()[:2])
    size = process.memory_info().rss / 2**20
    for each in (process, *process.children(True)):
        each.terminate()
    process.wait()
    return ["start of a run", f"{clock:.1f}", f"{processor:.1f}", f"{size:.0f}", ""]


def commands(cells: int) -> Iterator[list[str]]:
    """Yield a row a command."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study, out = folder / "study.toml", str(folder / "out")
        study.write_text(TEXT.format(trials=cells // 4, id=SMALL.id), encoding="utf-8")
        yield until_first_cell(study, folder / "first")
        yield command(f"run {cells} cells", "run", str(study), "--out", out, "--workers", "2")
        yield command("status", "status", out)
        yield command("report", "report", out)
        yield command("resume", "run", str(study), "--out", out, "--workers", "2")


def main() -> None:
    """Print the rows, and keep the table where asked to."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cells", type=int, default=10_000)
    parser.add_argument("--write", action="store_true", help="store the table")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = PATH
    rows = []
    for part in (efficiency(), commands(options.cells)):
        for row in part:
            rows.append(row)
            print(" | ".join(row), flush=True)
    if options.write:
        write("studies", HEADER, rows)


if __name__ == "__main__":
    main()
