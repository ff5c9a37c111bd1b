"""The folder of a study's results holds the study, its plan, its cells and the tables made from them."""

import csv
import io
import os
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

from bandit_envs.basics.files import sweep, write_whole
from gpbandits.evaluation.result import Result
from gpbandits.experiments.plan import load_plan, write_plan
from gpbandits.experiments.store import Store
from gpbandits.experiments.study import EnvironmentEntry, Study
from gpbandits.experiments.toml import load_study

PLAN = "plan.json"
STUDY, CELLS, TIMINGS, RESULTS, TRASH = "study.toml", "cells", "timings.csv", "results", "trash"


def open_results(folder: str | os.PathLike[str]) -> tuple[Study, Store]:
    """Return the study of a folder of results and its store, by the plan of the last run.

    Modules that the study names are not imported.

    Raises:
        ValueError: the folder holds no plan.
    """
    path = Path(folder) / PLAN
    if not path.is_file():
        raise ValueError(
            f"folder must hold the {PLAN} that `gpbandits run --out` writes, got {folder} without one; "
            "where it has results, run their study again: what is computed is kept"
        )
    plan = load_plan(path)
    return plan.study, Store(Path(folder) / CELLS, plan.code)


def keep_study(folder: str | os.PathLike[str], study: Study, text: bytes) -> Store:
    """Write the file and the plan of a study to the folder of its results, and return its store.

    The modules that the study names are imported for the plan.

    Raises:
        ValueError: the folder has the results of another study, which `clean` would then remove.
    """
    path = Path(folder) / STUDY
    if path.is_file() and (other := load_study(path).name) != study.name:
        raise ValueError(
            f"--out must be new or have results of the study {study.name!r}, got {folder} with those of "
            f"{other!r}; choose another folder, or rename the study in {path} if it is the same"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep(path.parent)
    write_whole(path, text)
    write_plan(path.with_name(PLAN), study)
    return Store(Path(folder) / CELLS)


def move_to_trash(folder: str | os.PathLike[str], files: Sequence[Path]) -> Path:
    """Move files into a new folder in the trash of a folder of results, and return that folder."""
    trash = Path(folder) / TRASH
    trash.mkdir(exist_ok=True)
    place = Path(mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=trash))
    for path in files:
        with suppress(FileNotFoundError):  # another process has moved it
            shutil.move(path, place / path.name)
    return place


def write_tables(folder: Path, results: Sequence[tuple[EnvironmentEntry, Result]]) -> None:
    """Write the recorded rounds of each environment, and the timings to a file of their own.

    `results/LABEL.parquet` is a function of the study, byte for byte, however often a run was interrupted;
    `timings.csv` has the seconds that each agent took for each trial.
    """
    (folder / RESULTS).mkdir(parents=True, exist_ok=True)
    sweep(folder / RESULTS)
    for environment, result in results:
        result.save(folder / RESULTS / f"{environment.file_name}.parquet", timings=False)
    rows = [
        (environment.label, label, trial, f"{seconds:.6f}")
        for environment, result in results
        for label, taken in result.seconds.items()
        for trial, seconds in enumerate(taken, start=result.first_trial)
    ]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("environment", "agent", "trial", "seconds"), *rows])
    write_whole(folder / TIMINGS, text.getvalue().encode())
