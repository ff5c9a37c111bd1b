"""Results on disk: the cells of a study, complete or not, and the archive of a leaderboard.

Beside archived results other agents are ranked later.
"""

import dataclasses
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import takewhile
from pathlib import Path

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.environment.registration import IDS, real_id
from bandit_envs.problems.real import tasks
from gpbandits.evaluation.comparison import join, joined
from gpbandits.evaluation.parquet import read_metadata, read_with_metadata
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.stamp import played, stamp
from gpbandits.experiments import cells
from gpbandits.experiments.store import CellCount, Store
from gpbandits.experiments.study import AgentEntry, Cell, EnvironmentEntry, Study, content_of, keys_of
from gpbandits.report.entrants import REFERENCE, label_of

MAX_BYTES = 2**26  # of a file, and of its table in memory: 50 agents in 20 trials take a hundredth
_REMEDIES = {
    "seed": "pass --seed {}",
    "trials": "pass --trials {}",
    "horizon": "pass --horizon {}, or no --horizon if it is the environment's own",
}
_OTHER = "these are other problems: compute the archive again, or choose environments with --env"
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
        usual = cells.usual_shape(rows)  # another version may have recorded other rounds
        rows = {
            label: list(takewhile(lambda block: cells.shape_of(block) == usual, row))
            for label, row in rows.items()
        }
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


def write_archive(results: Sequence[Result], studies: Sequence[Study], folder: Path) -> None:
    """Write a Parquet file an environment, with every trial at the quarters of its rounds, and its origin."""
    entries = {study.environments[0].label: study.environments[0] for study in studies}
    folder.mkdir(parents=True, exist_ok=True)
    for result in results:
        entry = entries[result.environment]
        quarters = [result.horizon * quarter // 4 for quarter in (1, 2, 3)]
        origin = stamp(entry.id, entry.kwargs, REFERENCE)
        result.condensed(quarters).save(folder / file_of(result.environment), origin)


def file_of(label: str) -> str:
    """Return the name of the file of an environment with this label."""
    return f"{label.removeprefix('Real/')}.parquet"


def archived_ids(folder: str | os.PathLike[str], suite: str, chosen: Sequence[str] = ()) -> list[str]:
    """Return the ids of a suite of which a folder has files; all that are chosen must be among them."""
    offered = [real_id(task) for task in tasks()] if suite == "real" else list(IDS)
    held = {path.name for path in Path(folder).glob("*.parquet")}
    found = [each for each in offered if file_of(label_of(each)) in held]
    remedy = f"a folder that `gpbandits leaderboard --suite {suite} --archive` wrote"
    require(found, "against", f"{remedy}, with files such as {file_of(label_of(offered[0]))}", str(folder))
    for each in chosen:
        require(each in found, "against", f"{remedy}, with {file_of(label_of(each))}", str(folder))
    return found


def read_archived(folder: str | os.PathLike[str], study: Study) -> Result:
    """Read the results on a study's one environment; a ValueError if they are of other trials than its own.

    The file's size, rows and columns are bounded before a row is read. Its numbers are believed.
    """
    (entry,) = study.environments
    path = Path(folder) / file_of(entry.label)
    held, origin = read_with_metadata(path, Result, MAX_BYTES)
    pairs = {
        "environment": (entry.label, held.environment),
        "version": (entry.id, origin.get("id", entry.id)),  # of files that lack it, the digest decides
        "seed": (study.seed, held.seed),
        "entropy": (None, held.entropy),
        "first trial": (0, held.first_trial),
        "trials": (study.trials, held.num_trials),
        "horizon": (entry.kwargs["horizon"], held.horizon),
        "digest of the environment": (played(entry.id, entry.kwargs), origin.get("played")),
    }
    for what, (ours, theirs) in pairs.items():
        if ours != theirs:
            remedy = _REMEDIES.get(what, _OTHER).format(theirs)
            raise ValueError(f"{path} has {what} {theirs}, here it is {ours}; {remedy}")
    require(
        REFERENCE in held.agents, "against", f"results of {REFERENCE} too, which sets the scale", str(path)
    )
    sound = all(np.isfinite(each.regret).all() for each in held.records.values())
    require(sound, "against", "results whose regrets are all finite", str(path))
    return held


def own_part(study: Study, archived: Result, named: Sequence[str]) -> Study | None:
    """Return the study of the agents that were named, none of which is archived; None if none enters."""
    own: list[AgentEntry] = [each for each in study.agents if each.label in named]
    for each in own:
        other = f'of another text than those of the archive ("{each.label} {{}}" is one, of the same agent)'
        require(each.label not in archived.agents, "agent", other, each.label)
    return dataclasses.replace(study, agents=tuple(own)) if own else None


def beside(archived: Result, own: Result | None) -> Result:
    """Return the archived results and, at the same rounds, our own on the same trials if it has all."""
    if own is None or own.num_trials != archived.num_trials:
        return archived
    return join(archived, own.condensed(archived.rounds.tolist()))
