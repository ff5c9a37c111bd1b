"""The holdings of a study are the cells in its folder, complete or not, and the code that computed them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from gpbandits.evaluation.comparison import joined
from gpbandits.evaluation.parquet import read_metadata
from gpbandits.evaluation.result import Result
from gpbandits.experiments import cells
from gpbandits.experiments.store import CellCount, Store
from gpbandits.experiments.study import AgentEntry, Cell, EnvironmentEntry, Study, content_of, keys_of

Located = tuple[Cell, Path, Path | None]  # a cell, its path by the code of the store, and that of its file


class Holdings:
    """The holdings are the cells of a study that are in a store.

    Cells of other code than the store's, by default the installed one, count too unless `by_installed`, so
    that a report is possible after an upgrade; `outdated` is their number.
    """

    def __init__(self, study: Study, store: Store, by_installed: bool = False):
        self.study, self.store, self.by_installed = study, store, by_installed

    @cached_property
    def outdated(self) -> int:
        """Return the number of cells that other code than the store's computed."""
        return sum(path not in (None, own) for _, own, path in self._located)

    @cached_property
    def conflicts(self) -> list[str]:
        """Name the cells with several files of other code whose numbers differ, as in merged folders.

        The newest file is shown, unless the code of the store computed the cell too.
        """
        return [
            f"{cell}: {other.resolve()} and {path.resolve()} hold different numbers, and the newer is shown; "
            "move one of them away, or run the study again"
            for cell, own, path in self._located
            if path is not None and path != own
            for other in self._by_content[content_of(cell.content)]
            if not cells.same_numbers(other, path)
        ]

    @cached_property
    def missing(self) -> int:
        """Return the number of cells that are not computed."""
        return sum(path is None for *_, path in self._located)

    @cached_property
    def failed(self) -> int:
        """Return the number of missing cells whose last attempt raised."""
        absent = [cell for cell, _, path in self._located if path is None]
        return sum(self.store.failure(cell) is not None for cell in absent)

    @cached_property
    def versions(self) -> list[dict[str, str]]:
        """Return the different sets of package versions that computed the cells."""
        named = [  # those of the store's code are part of the file's name, which was checked
            self.store.code(cell)["versions"] if path == own else read_metadata(path)["versions"]
            for cell, own, path in self._located
            if path is not None
        ]
        return [json.loads(text) for text in sorted({json.dumps(each, sort_keys=True) for each in named})]

    def result(self, environment: EnvironmentEntry) -> Result | None:
        """Return the comparable part: leading blocks of trials such that agents times blocks is largest."""
        rows = {agent.label: self._leading(environment, agent) for agent in self.study.agents}
        if not any(rows.values()):
            return None
        rows = cells.comparable(rows)  # another version may have recorded other rounds
        depths = range(1 + max(map(len, rows.values())))
        depth = max(depths, key=lambda depth: depth * sum(len(row) >= depth for row in rows.values()))
        if not depth:
            return None
        compared = {label: row[:depth] for label, row in rows.items() if len(row) >= depth}
        return replace(joined(compared), environment=environment.label)

    def count(self, environment: EnvironmentEntry, agent: AgentEntry) -> CellCount:
        """Count the trials of an agent on an environment, computed by any code."""
        wanted = self.study.cells_of(environment, agent)
        absent = [cell for cell, _, path in self._found(wanted) if path is None]
        left = sum(cell.trials for cell in absent)
        failed = sum(cell.trials for cell in absent if self.store.failure(cell) is not None)
        return CellCount(self.study.trials - left, failed, left - failed)

    def _leading(self, environment: EnvironmentEntry, agent: AgentEntry) -> list[Result]:
        blocks = []
        for _, _, path in self._found(self.study.cells_of(environment, agent)):
            block = cells.sound(path) if path else None
            if block is None:
                break
            blocks.append(block)
        return blocks

    @cached_property
    def _located(self) -> list[Located]:
        return list(self._found(list(self.study.cells())))

    def _found(self, wanted: Sequence[Cell]) -> Iterator[Located]:
        for cell, key in zip(wanted, keys_of(wanted, self.store.code), strict=True):
            own = self.store.folder / f"{key}.parquet"
            if cells.valid(own):
                yield cell, own, own
            else:
                others = [] if self.by_installed else self._by_content.get(content_of(cell.content), [])
                yield cell, own, others[-1] if others else None

    @cached_property
    def _by_content(self) -> dict[str, list[Path]]:
        """Map each content to the paths of its valid files, the newest last, since versions may share one."""
        files = sorted(self.store.folder.glob("*.parquet"), key=lambda path: path.stat().st_mtime)
        stored = ((path, cells.stored_configuration(path)) for path in files if cells.fault(path) is None)
        found: dict[str, list[Path]] = {}
        for path, configuration in stored:
            if configuration:
                found.setdefault(content_of(configuration), []).append(path)
        return found
