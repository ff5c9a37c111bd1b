"""Measure the processor's time that a study of many cells takes to plan, to list and to resume.

The files of its cells are empty, and the index says that they were found valid, as after a run that has
computed them; so what is measured is all but the computing. `--read` measures, of real cells, what reads each
file: the first listing without an index, loading the results at the end of a run, and writing the tables.

    python benchmarks/many_cells.py --cells 10000 100000 1000000 --table docs/results/many-cells.csv
    python benchmarks/many_cells.py --read 1000 10000 --table docs/results/many-cells-read.csv
"""

import argparse
import csv
import dataclasses
import os
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from gpbandits.evaluation.result import Result
from gpbandits.experiments import AgentEntry, EnvironmentEntry, Store, Study, compute, write_tables
from gpbandits.experiments.cells import note
from gpbandits.experiments.store import count_all
from gpbandits.experiments.study import keys_of

AGENTS = (AgentEntry("random", "random"), AgentEntry("gp-ucb", "GP-UCB"))
PLACE = EnvironmentEntry("GPBandit-GP-v0", "GP", {"horizon": 3, "num_arms": 4})


def seconds(work: Callable[[], object]) -> float:
    """Return the processor's seconds, which other programs of the machine do not lengthen."""
    began = time.process_time()
    work()
    return time.process_time() - began


def row(cells: int, folder: Path) -> dict[str, object]:
    """Return the seconds of each step for so many cells."""
    study = Study("many", cells // len(AGENTS), (PLACE,), AGENTS, block_size=1)
    store = Store(folder)
    folder.mkdir()
    keys: list[str] = []
    planned = seconds(lambda: keys.extend(keys_of(study.cells(), lambda cell: cell.code)))
    empty = seconds(lambda: store.survey(study))
    for key in keys:
        os.close(os.open(folder / f"{key}.parquet", os.O_CREAT | os.O_WRONLY))
    indexed = seconds(lambda: note(folder, keys))
    resumed = seconds(lambda: list(store.survey(study).missing))

    def listed() -> None:
        known = store.survey(study)
        assert count_all(study, known)["random", "GP"].missing == 0
        assert store.superfluous(study, known=known) == []

    steps = {
        "plan": planned,
        "begin": empty,
        "write index": indexed,
        "resume": resumed,
        "status": seconds(listed),
    }
    return {"cells": cells, **{f"{name} s": f"{took:.1f}" for name, took in steps.items()}}


def reading(cells: int, folder: Path) -> dict[str, object]:
    """Return the seconds of each step that reads so many real cells."""
    study = Study("real", cells, (PLACE,), AGENTS[:1], block_size=1)
    store = Store(folder / "cells")
    store.folder.mkdir(parents=True)
    result = compute(next(study.cells()))
    for cell in study.cells():
        dataclasses.replace(result, first_trial=cell.first_trial).save(store.path(cell), store.metadata(cell))
    listed = seconds(lambda: store.survey(study))
    results: list[tuple[EnvironmentEntry, Result]] = []
    loaded = seconds(lambda: results.extend(store.load(study)))
    steps = {"list": listed, "load": loaded, "tables": seconds(lambda: write_tables(folder, results))}
    return {"cells": cells, **{f"{name} s": f"{took:.1f}" for name, took in steps.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, nargs="+", default=[10_000])
    parser.add_argument("--read", type=int, nargs="+", help="numbers of real cells to read instead")
    parser.add_argument("--table", type=Path)
    chosen = parser.parse_args()
    rows = []
    measured = reading if chosen.read else row
    for cells in chosen.read or chosen.cells:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measured(cells, Path(folder) / "study"))
        print(rows[-1], flush=True)
    if chosen.table is not None:
        with chosen.table.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    print(f"{platform.system()}, Python {platform.python_version()}, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
