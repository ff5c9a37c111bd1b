"""A folder of computed cells: one Parquet file each, named by the hash of the cell's configuration."""

import os
import re
from pathlib import Path
from typing import Any

from gpbandits.evaluation.files import UNFINISHED, DamagedFileError
from gpbandits.evaluation.loop import trial_seeds
from gpbandits.evaluation.result import Record, Result, join_trials
from gpbandits.experiments.locks import is_locked
from gpbandits.experiments.provenance import environment_spec, versions
from gpbandits.experiments.study import Cell, EnvironmentEntry, Study

_OURS = re.compile(r"[0-9a-f]{32}\.(parquet|failed\.txt)|\.[0-9a-f]{32}\..*\.part")


class Store:
    """A folder of computed cells; a file in it is whole, so what exists need not be computed again.

    Any number of processes may read and write it at once.
    """

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)

    def path(self, cell: Cell) -> Path:
        """Where the cell is, or will be."""
        return self.folder / f"{cell.key}.parquet"

    def failure_path(self, cell: Cell) -> Path:
        """Where the traceback is, if computing the cell raised."""
        return failure_beside(self.path(cell))

    def holds(self, cell: Cell) -> bool:
        """Whether the cell has been computed."""
        return self.path(cell).exists()

    def intact(self, cell: Cell) -> bool:
        """Whether the cell has been computed and its file is what was written; reads all of it."""
        return self.holds(cell) and sound(self.path(cell)) is not None

    def failure(self, cell: Cell) -> str | None:
        """The traceback of the last attempt at a cell that is not there; None if none is known."""
        path = self.failure_path(cell)
        return path.read_text(encoding="utf-8") if path.exists() and not self.holds(cell) else None

    @staticmethod
    def metadata(cell: Cell) -> dict[str, Any]:
        """What is kept beside a cell's numbers: its configuration, what computed it, and from which seeds."""
        trials = range(cell.first_trial, cell.first_trial + cell.trials)
        return {
            "configuration": cell.configuration,
            "environment_spec": environment_spec(cell.environment.id),
            "versions": versions(cell.agent.name),
            "seeds": [trial_seeds(cell.seed, trial) for trial in trials],
        }

    def load(self, study: Study) -> list[tuple[EnvironmentEntry, Result]]:
        """Each environment's result, with the agents whose trials are all there; none, no result."""
        loaded = ((environment, self._load(study, environment)) for environment in study.environments)
        return [(environment, result) for environment, result in loaded if result is not None]

    def superfluous(self, study: Study) -> list[Path]:
        """Our files that the study does not need: other cells and their tracebacks, what killed runs left."""
        cells = list(study.cells())
        needed = {self.path(cell) for cell in cells}
        needed |= {self.failure_path(cell) for cell in cells if not self.holds(cell)}
        return sorted(path for path in self._files() - needed if not self._being_written(path))

    def _files(self) -> set[Path]:
        return {path for path in self.folder.glob("*") if _OURS.fullmatch(path.name)}

    def _being_written(self, path: Path) -> bool:
        return path.match(UNFINISHED) and is_locked(self.folder, path.name.removeprefix(".").split(".")[0])

    def _load(self, study: Study, environment: EnvironmentEntry) -> Result | None:
        cells = {agent.label: study.cells_of(environment, agent) for agent in study.agents}
        blocks = {
            label: [Result.load(self.path(cell)) for cell in row]
            for label, row in cells.items()
            if all(map(self.holds, row))
        }
        if not blocks:
            return None
        records = {label: join_trials([_only(block) for block in row]) for label, row in blocks.items()}
        privileged = frozenset(label for label, row in blocks.items() if row[0].privileged)
        tracks = {label: track for label, row in blocks.items() for track in row[0].tracks.values()}
        windows = {label: window for label, row in blocks.items() for window in row[0].windows.values()}
        checkpoints = next(iter(blocks.values()))[0].checkpoints
        return Result(
            environment.label,
            study.seed,
            records,
            privileged,
            checkpoints=checkpoints,
            tracks=tracks,
            windows=windows,
        )


def sound(path: Path) -> Result | None:
    """The numbers of the cell at `path`; None where the file is damaged."""
    try:
        return Result.load(path)
    except DamagedFileError:
        return None


def failure_beside(path: Path) -> Path:
    """Where the traceback of the cell at `path` is, if it has one."""
    return path.with_suffix(".failed.txt")


def _only(block: Result) -> Record:
    """The record of the one agent of a cell, which the store does not know by label."""
    (record,) = block.records.values()
    return record
