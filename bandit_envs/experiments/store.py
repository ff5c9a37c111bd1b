"""A folder of computed cells: one Parquet file each, named by the hash of the cell's configuration."""

import os
from pathlib import Path
from typing import Any

from bandit_envs.evaluation.result import Record, Result, join_trials
from bandit_envs.experiments.provenance import versions
from bandit_envs.experiments.study import Cell, EnvironmentEntry, Study


class Store:
    """A folder of computed cells; a file in it is whole, so what exists need not be computed again."""

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)

    def path(self, cell: Cell) -> Path:
        """Where the cell is, or will be."""
        return self.folder / f"{cell.key}.parquet"

    def holds(self, cell: Cell) -> bool:
        """Whether the cell has been computed."""
        return self.path(cell).exists()

    @staticmethod
    def metadata(cell: Cell) -> dict[str, Any]:
        """What is kept beside a cell's numbers: its configuration and the versions that computed it."""
        return {"configuration": cell.configuration, "versions": versions()}

    def load(self, study: Study) -> list[tuple[EnvironmentEntry, Result]]:
        """Each environment's result, with the agents whose trials are all there; none, no result."""
        loaded = ((environment, self._load(study, environment)) for environment in study.environments)
        return [(environment, result) for environment, result in loaded if result is not None]

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
        checkpoints = next(iter(blocks.values()))[0].checkpoints
        return Result(
            environment.label, study.seed, records, privileged, checkpoints=checkpoints, tracks=tracks
        )


def _only(block: Result) -> Record:
    """The record of the one agent of a cell, which the store does not know by label."""
    (record,) = block.records.values()
    return record
