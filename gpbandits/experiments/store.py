"""The folder of a study's results: its plan, and its computed cells, one Parquet file each.

The plan of a run stores its study, and the code versions that are part of each cell's name, as data. Results
are read by the plan, without importing the modules that the study names.
"""

import dataclasses
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from bandit_envs.basics.arguments import require
from bandit_envs.basics.files import UNFINISHED, sweep, write_whole
from gpbandits.evaluation.comparison import joined
from gpbandits.evaluation.formats import csv_text
from gpbandits.evaluation.provenance import environment_spec, versions
from gpbandits.evaluation.result import Result
from gpbandits.experiments import cells
from gpbandits.experiments.cells import Survey, survey
from gpbandits.experiments.locks import is_locked
from gpbandits.experiments.study import (
    AgentEntry,
    Cell,
    EnvironmentEntry,
    Study,
    content_of,
    digest_of,
    key_of,
    keys_of,
)
from gpbandits.experiments.toml import document_of, load_study, parse_study

PLAN = "plan.json"
STUDY, CELLS, TIMINGS, RESULTS, TRASH = "study.toml", "cells", "timings.csv", "results", "trash"
FORMAT = 1
MAX_BYTES = 2**28  # of a plan, which has some kilobytes an agent
# raised for arbitrary content of the file
_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
_OURS = re.compile(r"[0-9a-f]{32}\.(parquet|failed\.txt)|\.[0-9a-f]{32}\..*\.part")


def open_results(folder: str | os.PathLike[str]) -> "tuple[Study, Store]":
    """Return the study of a folder of results and its store, by the plan of the last run.

    Modules that the study names are not imported; a folder without a plan is a ValueError.
    """
    path = Path(folder) / PLAN
    if not path.is_file():
        raise ValueError(
            f"folder must hold the {PLAN} that `gpbandits run --out` writes, got {folder} without one; "
            "where it has results, run their study again: what is computed is kept"
        )
    plan = load_plan(path)
    return plan.study, Store(Path(folder) / CELLS, plan.code)


def keep_study(folder: str | os.PathLike[str], study: Study, text: bytes) -> "Store":
    """Write the file and the plan of a study to the folder of its results, and return its store.

    The modules that the study names are imported for the plan. A folder with the results of another study,
    which `clean` would then remove, is a ValueError.
    """
    folder = Path(folder)
    require(folder.is_dir() or not folder.exists(), "--out", "a folder, or new", str(folder))
    path = folder / STUDY
    if path.is_file() and (other := load_study(path).name) != study.name:
        raise ValueError(
            f"--out must be new or have results of the study {study.name!r}, got {folder} with those of "
            f"{other!r}; choose another folder, or rename the study in {path} if it is the same"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep(path.parent)
    write_whole(path, text)
    write_plan(path.with_name(PLAN), study)
    return Store(folder / CELLS)


def move_to_trash(folder: str | os.PathLike[str], files: Sequence[Path]) -> Path:
    """Move files into a new folder in the trash of a folder of results, and return that folder."""
    trash = Path(folder) / TRASH
    trash.mkdir(exist_ok=True)
    made = mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=trash)
    place = trash / Path(made).name  # a relative folder stays one: from Python 3.12 on `made` is absolute
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
    text = csv_text([("environment", "agent", "trial", "seconds"), *rows])
    write_whole(folder / TIMINGS, text.encode())


class Plan(NamedTuple):
    """A plan holds a study and, by `_pair`, the code of each agent on each environment at its start."""

    study: Study
    codes: Mapping[str, dict[str, Any]]

    def code(self, cell: Cell) -> dict[str, Any]:
        """Return the code part of a cell's configuration; empty for a cell that is not in the plan."""
        return self.codes.get(_pair(cell.environment, cell.agent), {})


def write_plan(path: Path, study: Study) -> None:
    """Write the plan of a study, which imports the modules that it names."""
    codes = [
        [study.cells_of(environment, agent)[0].code for agent in study.agents]
        for environment in study.environments
    ]
    content = {"format": FORMAT, "study": document_of(study), "codes": codes}
    # It finds damage: by another number, `clean` would move all cells.
    content["sha256"] = digest_of(content)
    write_whole(path, json.dumps(content, indent=1).encode())


def load_plan(path: Path) -> Plan:
    """Read a plan; a damaged file or another format is a ValueError. Plans of old runs have no digest."""
    require(path.stat().st_size <= MAX_BYTES, os.fspath(path), f"at most {MAX_BYTES} bytes", "more")
    text = path.read_bytes()
    try:
        content = json.loads(text)
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']!r} rather than {FORMAT}")
        known = content.pop("sha256", None)
        if set(content) != {"format", "study", "codes"}:
            raise ValueError(f"it has the parts {', '.join(sorted(content))}")
        if known is not None and known != digest_of(content):
            raise ValueError("its digest is another")
        study = parse_study(content["study"])
        codes = {
            _pair(environment, agent): dict(code)
            for environment, row in zip(study.environments, content["codes"], strict=True)
            for agent, code in zip(study.agents, row, strict=True)
        }
    except _UNREADABLE as error:
        raise ValueError(
            f"{os.fspath(path)} is damaged, or of another version of gpbandits: {error}; run it again: "
            "what is computed is kept"
        ) from error
    return Plan(study, codes)


def _pair(environment: EnvironmentEntry, agent: AgentEntry) -> str:
    return json.dumps([environment.id, environment.kwargs, agent.name, agent.options], sort_keys=True)


class Store:
    """A store is a folder of computed cells, whose files are written whole.

    Any number of processes may read and write it at once. The code of a cell, by default the installed one,
    is part of its file's name.
    """

    def __init__(
        self, folder: str | os.PathLike[str], code: Callable[[Cell], dict[str, Any]] = attrgetter("code")
    ):
        self.folder, self.code = Path(folder), code

    def path(self, cell: Cell) -> Path:
        """Return the path of the cell's file, present or not."""
        return self.folder / f"{key_of(cell.content | self.code(cell))}.parquet"

    def failure_path(self, cell: Cell) -> Path:
        """Return the path of the traceback of a failed cell."""
        return failure_beside(self.path(cell))

    def holds(self, cell: Cell) -> bool:
        """Return True if the cell has a valid file."""
        return cells.valid(self.path(cell))

    def survey(self, study: Study) -> Survey:
        """Return which cells are computed, invalid or failed, in one listing of the folder."""
        return survey(study, self.folder, self.code)

    def failure(self, cell: Cell) -> str | None:
        """Return the traceback of the last attempt at a cell without a valid file; None if there is none."""
        path = self.path(cell)
        told = failure_beside(path)
        return told.read_text(encoding="utf-8") if told.is_file() and not cells.valid(path) else None

    @staticmethod
    def metadata(cell: Cell) -> dict[str, Any]:
        """Return the metadata of a cell's file that a run fixes: configuration, environment, versions."""
        return {
            "configuration": cell.configuration,
            "environment_spec": environment_spec(cell.environment.id),
            "versions": versions(cell.agent.name),
        }

    def load(self, study: Study) -> list[tuple[EnvironmentEntry, Result]]:
        """Return the result of each environment with its complete agents; omit environments without any."""
        results = []
        for environment in study.environments:
            whole: dict[str, list[Any]] = {}  # of complete agents
            for agent in study.agents:
                keys = keys_of(study.cells_of(environment, agent), self.code)
                row = [cells.sound(self.folder / f"{key}.parquet") for key in keys]
                if None not in row:
                    whole[agent.label] = row
            kept = cells.comparable(whole)
            if rows := {label: row for label, row in kept.items() if len(row) == len(whole[label])}:
                result = dataclasses.replace(joined(rows), environment=environment.label)
                results.append((environment, result))
        return results

    def superfluous(self, study: Study, other_code: bool = False, known: Survey | None = None) -> list[Path]:
        """Return files that the study does not need: other cells, their tracebacks, remains of killed runs.

        Cells of the study by other versions or other code are among them only if `other_code` says so;
        `known` is a survey made just now.
        """
        known = known or self.survey(study)
        needed = {f"{key}.parquet" for key in known.keys}
        needed |= {f"{key}.failed.txt" for key in known.keys if key not in known.valid}
        names = set(os.listdir(self.folder)) - needed if self.folder.is_dir() else set()
        strange = [self.folder / name for name in sorted(names) if _OURS.fullmatch(name)]
        none = other_code or not strange
        spared = set() if none else {content_of(cell.content) for cell in known.cells}

        def is_needed(path: Path) -> bool:  # somebody writes it, or other code computed this cell
            if path.match(UNFINISHED) and is_locked(self.folder, path.name.removeprefix(".").split(".")[0]):
                return True
            stored = cells.stored_configuration(path) if spared and path.suffix == ".parquet" else None
            return stored is not None and content_of(stored) in spared

        return [path for path in strange if not is_needed(path)]


def failure_beside(path: Path) -> Path:
    """Return the path of the traceback of the cell at `path`."""
    return path.with_suffix(".failed.txt")


class CellCount(NamedTuple):
    """A count divides the trials of one agent on one environment by their state."""

    done: int
    failed: int  # the last attempt raised; the next run repeats it
    missing: int  # not attempted yet

    @property
    def total(self) -> int:
        """Return the number of trials in the study."""
        return sum(self)


def count_all(study: Study, known: Survey) -> dict[tuple[str, str], CellCount]:
    """Count the trials of each agent on each environment, by their labels."""
    done, failed = known.trials(known.valid), known.trials(known.failed)
    pairs = [(agent.label, place.label) for agent in study.agents for place in study.environments]
    return {
        pair: CellCount(done[pair], failed[pair], study.trials - done[pair] - failed[pair]) for pair in pairs
    }


def failures(study: Study, store: Store, known: Survey | None = None) -> list[tuple[Cell, str]]:
    """Return the cells whose last attempt raised, with the tracebacks; `known` is a survey made just now."""
    known = known or store.survey(study)
    failed = [cell for cell, key in zip(known.cells, known.keys, strict=True) if key in known.failed]
    return [(cell, said) for cell in failed if (said := store.failure(cell)) is not None]
