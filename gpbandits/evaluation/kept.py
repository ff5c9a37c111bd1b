"""Finished blocks of trials are kept in a folder, so that an evaluation that was ended resumes."""

import hashlib
import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from typing import Any

from agents.registry import AgentFactory
from bandit_envs.basics.arguments import from_extra
from gpbandits.evaluation.parts import Failure
from gpbandits.evaluation.play import Stage
from gpbandits.evaluation.progress import Progress
from gpbandits.evaluation.provenance import files_among
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.stamp import code_of, fingerprint

BLOCK = 10  # trials of an agent in a file; blocks start at its multiples, so that more trials reuse files
_OF_PYTHON = ("__dict__", "__weakref__", "__module__", "__doc__", "_abc_impl")  # members of every class
Play = Callable[..., Result]  # with agents, first_trial and trials


class Kept:
    """A folder keeps blocks of trials under the hash of what was asked and of the code that computes it.

    A damaged file counts as missing. Several evaluations may share a folder, also at the same time.
    """

    def __init__(self, folder: str | os.PathLike[str], stage: Stage, asked: Mapping[str, Any]):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        played = "" if stage.problem is None else fingerprint(stage.problem)
        self._stage = stage
        self._asked = repr((sorted(asked.items()), stage.horizon, played))

    def path(self, factory: AgentFactory, first: int, trials: int) -> Path:
        """Return the path of a block, present or not."""
        what = (self._stage.environment, dict(self._stage.keywords), factory.name or factory.make)
        of_objects = _described((*what, dict(factory.options)))
        code = code_of(self._stage.environment, [factory])
        files = files_among([*self._stage.keywords.values(), *factory.options.values()])
        total = hashlib.sha256(of_objects)
        total.update(repr((self._asked, code, files, first, trials)).encode())
        return self.folder / f"{total.hexdigest()[:32]}.parquet"


def blocks(first: int, trials: int) -> Iterator[tuple[int, int]]:
    """Yield the first trial and the number of trials of each block."""
    while trials > 0:
        size = min(trials, BLOCK - first % BLOCK)
        yield first, size
        first, trials = first + size, trials - size


def play_kept(
    kept: Kept,
    factories: Mapping[str, AgentFactory],
    first_trial: int,
    trials: int,
    play: Play,
    report: Progress | None,
) -> tuple[dict[str, list[Result]], dict[str, Failure]]:
    """Return the blocks of each agent that did not fail, read or played, first blocks first, and failures."""
    rows: dict[str, list[Result]] = {label: [] for label in factories}
    failed: dict[str, Failure] = {}
    for first, size in blocks(first_trial, trials):
        for label, factory in factories.items():
            if label in failed:
                continue
            path = kept.path(factory, first, size)
            found = _read(path, first, size)
            if found is None:
                try:
                    found = play({label: factory}, first_trial=first, trials=size)
                except Exception as error:
                    failed[label] = error
                    continue
                found.save(path)
            elif report:
                report(label, size)
            rows[label].append(found)
    return {label: row for label, row in rows.items() if label not in failed}, failed


def _read(path: Path, first: int, trials: int) -> Result | None:
    """Return the block at a path; None where it is missing, damaged or of other trials."""
    with suppress(ValueError, OSError):
        found = Result.load(path)
        if (found.first_trial, found.num_trials, len(found.records)) == (first, trials, 1):
            return found
    return None


def _described(thing: Any) -> bytes:
    """Return bytes that are equal in any process for equal objects, with the code of a script's functions."""
    with from_extra("eval", "folders of evaluations"):
        import cloudpickle

    class Describing(cloudpickle.Pickler):
        """A pickler without the random identifiers that cloudpickle gives to classes; nothing reads it."""

        def __init__(self, file: io.BytesIO):
            super().__init__(file, protocol=4)
            self._seen: set[type] = set()

        def reducer_override(self, obj: Any) -> Any:
            """Describe a class of a script by its name, its bases and its members."""
            if not isinstance(obj, type) or _importable(obj):
                return super().reducer_override(obj)
            if obj in self._seen:  # a method names its own class
                return str, (obj.__qualname__,)
            self._seen.add(obj)
            members = sorted(
                (item for item in vars(obj).items() if item[0] not in _OF_PYTHON), key=itemgetter(0)
            )
            return tuple, ((obj.__qualname__, obj.__bases__, [[*pair] for pair in members]),)

    written = io.BytesIO()
    try:
        Describing(written).dump(thing)
    except Exception as error:
        raise ValueError(
            f"folder must be left out for an environment or an agent that cannot be pickled: {error}"
        ) from error
    return written.getvalue()


def _importable(kind: type) -> bool:
    """Return whether a class is found by its module and name, whose code is then compared by its digest."""
    found: Any = sys.modules.get(kind.__module__)
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is kind and kind.__module__ != "__main__"
