"""What a folder of results holds of its study, complete or not, and by which code it was computed."""

import json
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from gpbandits.evaluation.parquet import read_metadata
from gpbandits.evaluation.result import Result
from gpbandits.experiments.cell_file import fault, same_numbers, sound, stored_configuration
from gpbandits.experiments.joining import joined, shape_of, usual_shape
from gpbandits.experiments.store import Store
from gpbandits.experiments.study import AgentEntry, Cell, EnvironmentEntry, Study, content_of


class Count(NamedTuple):
    """Trials of one agent on one environment."""

    environment: str
    agent: str
    done: int
    failed: int  # the last attempt raised
    shown: int  # in the report: those that every agent shown has done
    total: int

    @property
    def complete(self) -> bool:
        """Whether all trials are there, and shown."""
        return self.shown == self.total


class Holdings:
    """The cells of a study that are in a store.

    A cell computed by other code than that which the store names cells by counts, and `outdated` tells: a
    report must still be possible after an upgrade.

    Args:
        study: what is looked for.
        store: where.
        by_installed: whether only cells count that the code of the store computed, by default the installed.
    """

    def __init__(self, study: Study, store: Store, by_installed: bool = False):
        self.study, self.store, self.by_installed = study, store, by_installed

    def path(self, cell: Cell) -> Path | None:
        """Where the cell is, if it was computed; by the code of the store, if that computed it."""
        if self.store.holds(cell):
            return self.store.path(cell)
        stored = [] if self.by_installed else self._by_content.get(content_of(cell.content), [])
        return stored[-1] if stored else None

    @cached_property
    def outdated(self) -> int:
        """The number of cells that other code than that of the store computed."""
        return sum(path is not None and path != self.store.path(cell) for cell, path in self._located)

    @cached_property
    def conflicts(self) -> list[str]:
        """Name the cells of which other code left several files whose numbers differ, as merged folders have.

        The newest file is shown, unless the code of the store computed the cell too.
        """
        return [
            f"{cell}: {other.resolve()} and {path.resolve()} hold different numbers, and the newer is shown; "
            "move one of them away, or run the study again"
            for cell, path in self._located
            if path is not None and path != self.store.path(cell)
            for other in self._by_content[content_of(cell.content)]
            if not same_numbers(other, path)
        ]

    @cached_property
    def missing(self) -> int:
        """The number of cells that are not there."""
        return sum(path is None for _, path in self._located)

    @cached_property
    def failed(self) -> int:
        """The number of missing cells whose last attempt raised."""
        return sum(path is None and self.store.failure(cell) is not None for cell, path in self._located)

    @cached_property
    def versions(self) -> list[dict[str, str]]:
        """The different sets of package versions that computed the cells."""
        paths = [path for _, path in self._located if path is not None]
        texts = {json.dumps(read_metadata(path)["versions"], sort_keys=True) for path in paths}
        return [json.loads(text) for text in sorted(texts)]

    def result(self, environment: EnvironmentEntry) -> Result | None:
        """What can be compared: as many agents times leading blocks of trials as possible, all with all."""
        rows = {agent.label: self._leading(environment, agent) for agent in self.study.agents}
        if not any(rows.values()):
            return None
        usual = usual_shape(rows)  # another version may have played more rounds
        rows = {
            label: list(takewhile(lambda block: shape_of(block) == usual, row)) for label, row in rows.items()
        }
        depths = range(1 + max(map(len, rows.values())))
        depth = max(depths, key=lambda depth: depth * sum(len(row) >= depth for row in rows.values()))
        if not depth:
            return None
        compared = {label: row[:depth] for label, row in rows.items() if len(row) >= depth}
        return joined(environment.label, self.study.seed, compared)

    def count(self, environment: EnvironmentEntry, agent: AgentEntry, result: Result | None) -> Count:
        """The trials of an agent on an environment, of which the result is shown."""
        cells = self.study.cells_of(environment, agent)
        absent = [cell for cell in cells if self.path(cell) is None]
        done = self.study.trials - sum(cell.trials for cell in absent)
        failed = sum(cell.trials for cell in absent if self.store.failure(cell) is not None)
        shown = result.num_trials if result is not None and agent.label in result.agents else 0
        return Count(environment.label, agent.label, done, failed, shown, self.study.trials)

    def _leading(self, environment: EnvironmentEntry, agent: AgentEntry) -> list[Result]:
        """The blocks before the first one that is missing."""
        blocks = []
        for cell in self.study.cells_of(environment, agent):
            path = self.path(cell)
            block = sound(path) if path else None
            if block is None:
                break
            blocks.append(block)
        return blocks

    @cached_property
    def _located(self) -> list[tuple[Cell, Path | None]]:
        return [(cell, self.path(cell)) for cell in self.study.cells()]

    @cached_property
    def _by_content(self) -> dict[str, list[Path]]:
        """Sound files by what they hold, the newest last: several versions may have computed a cell."""
        files = sorted(self.store.folder.glob("*.parquet"), key=lambda path: path.stat().st_mtime)
        stored = ((path, stored_configuration(path)) for path in files if fault(path) is None)
        found: dict[str, list[Path]] = {}
        for path, configuration in stored:
            if configuration:
                found.setdefault(content_of(configuration), []).append(path)
        return found
