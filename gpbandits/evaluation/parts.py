"""Trials of an agent in parts: played in this process or in several, or kept in a folder to resume from."""

import hashlib
import io
import os
import pickle
import sys
import traceback
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

from agents.registry import AgentFactory
from bandit_envs.basics.arguments import from_extra
from bandit_envs.basics.threads import chosen_threads, end_with, require_workers, threads
from bandit_envs.environment.info import OnRound, Round
from gpbandits.evaluation.play import Stage, Traits, TrialsPart
from gpbandits.evaluation.progress import Progress
from gpbandits.evaluation.provenance import files_among
from gpbandits.evaluation.record import Record, join_trials
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.stamp import code_of, fingerprint

Played = tuple[Record, Traits]
Failure = Exception  # of an agent, whose others play on
Factories = Mapping[str, AgentFactory]
Play = Callable[..., Result]  # with agents, first_trial and trials
BLOCK = 10  # trials of an agent in a file; blocks start at its multiples, so that more trials reuse files
_OF_PYTHON = ("__dict__", "__weakref__", "__module__", "__doc__", "_abc_impl")  # members of every class
_made: dict[str, Stage] = {}  # the environment of the current evaluation, by its token


def play_here(
    stage: Stage,
    name: str,
    factory: AgentFactory,
    part: TrialsPart,
    progress: Progress | None = None,
    callback: OnRound | None = None,
) -> Played | Failure:
    """Return what an agent played, or the error that ended it; errors of a callback are raised."""
    played: list[Played] = []
    of_callback: list[Exception] = []

    def tell(trials: Sequence[int], info: dict[str, Any]) -> None:
        assert callback is not None
        try:
            callback(Round.of(info, name, trials))
        except Exception as error:
            of_callback.append(error)
            raise

    episodes = stage.episodes(factory, part, None if callback is None else tell)
    while True:
        try:
            found = next(episodes, None)
        except Exception as error:
            error.add_note(f"while agent {name!r} played")
            if of_callback:
                raise
            return error
        if found is None:
            return _joined(played)
        played.append(found)
        if progress:
            progress(name, len(found[0].regret))


def play_in_processes(
    stage: Stage, factories: Factories, whole: TrialsPart, progress: Progress | None, workers: int
) -> dict[str, Played | Failure]:
    """Run the trials of every agent in `workers` parts, in as many processes; the records are the same."""
    require_workers(f"{workers=}", "leave workers at 1")
    with from_extra("eval", "workers"):
        from joblib import delayed

    token, parts = uuid.uuid4().hex, whole.split(workers)
    made = stage.environment, dict(stage.keywords)
    here = partial(_play_there, token, made, chosen_threads())
    calls = [delayed(here)(x, each, i, part) for x, each in factories.items() for i, part in enumerate(parts)]
    played: dict[str, dict[int, Played | Failure]] = {name: {} for name in factories}
    try:
        for name, i, result in in_processes(workers, calls):
            played[name][i] = result
            if progress:
                progress(name, len(parts[i].seeds))
    except pickle.PicklingError as error:
        raise ValueError(
            "workers must be 1 for an environment or an agent that cannot be pickled, or give its path "
            f"'package.module:Class': {error}"
        ) from error
    return {name: _joined([each[i] for i in range(len(parts))]) for name, each in played.items()}


def in_processes(workers: int, calls: Iterable[Any], **options: Any) -> Iterator[Any]:
    """Yield the results of joblib's calls as they finish, from processes that end soon after this one."""
    from joblib import Parallel

    begun = {"initializer": end_with, "initargs": (os.getpid(),), **options}
    pool: Any = Parallel(workers, "loky", return_as="generator_unordered", batch_size=1, **begun)  # type: ignore[arg-type]
    yield from pool(calls)


def _play_there(
    token: str,
    made: tuple[Any, dict[str, Any]],
    number: int,
    name: str,
    factory: AgentFactory,
    i: int,
    part: TrialsPart,
) -> tuple[str, int, Played | Failure]:
    if token not in _made:  # the environment is made once for all agents
        _made.clear()
        _made[token] = Stage(*made)
    with threads(number):
        found = play_here(_made[token], name, factory, part)
    return name, i, _portable(found) if isinstance(found, Exception) else found


def _portable(error: Exception) -> Exception:
    """Return an error as it can be sent to another process, with where it was raised."""
    where = "".join(traceback.format_exception(error))
    try:
        again = pickle.loads(pickle.dumps(error))
    except Exception:
        again = RuntimeError(f"{type(error).__name__}: {error}")
    again.add_note(where)
    return again


def _joined(parts: Sequence[Played | Failure]) -> Played | Failure:
    """Return what an agent played in all parts, or the first of its failures."""
    played: list[Played] = []
    for part in parts:
        if isinstance(part, Exception):
            return part
        played.append(part)
    records, traits = zip(*played, strict=True)
    logs = tuple(log for each in traits for log in each.logs)
    return join_trials(records), traits[-1]._replace(logs=logs)


class Kept:
    """A folder keeps blocks of trials under the hash of what was asked and of the code that computes it.

    A damaged file counts as missing. Several evaluations may share a folder, also at the same time.
    """

    def __init__(self, folder: str | os.PathLike[str], stage: Stage, asked: Mapping[str, Any]):
        self.folder, self._stage = Path(folder), stage
        self.folder.mkdir(parents=True, exist_ok=True)
        played = "" if stage.problem is None else fingerprint(stage.problem)
        self._asked = repr((sorted(asked.items()), stage.horizon, played))

    def path(self, factory: AgentFactory, first: int, trials: int) -> Path:
        """Return the path of a block, present or not."""
        what = (self._stage.environment, dict(self._stage.keywords), factory.name or factory.make)
        code = code_of(self._stage.environment, [factory])
        files = files_among([*self._stage.keywords.values(), *factory.options.values()])
        total = hashlib.sha256(_described((*what, dict(factory.options))))
        total.update(repr((self._asked, code, files, first, trials)).encode())
        return self.folder / f"{total.hexdigest()[:32]}.parquet"

    def play(
        self, factories: Factories, first_trial: int, trials: int, play: Play, report: Progress | None
    ) -> tuple[dict[str, list[Result]], dict[str, Failure]]:
        """Return the blocks of each agent that did not fail, read or played, in order, and the failures."""
        rows: dict[str, list[Result]] = {label: [] for label in factories}
        failed: dict[str, Failure] = {}
        first, end = first_trial, first_trial + trials
        while first < end:
            size = min(end - first, BLOCK - first % BLOCK)
            for label in [x for x in factories if x not in failed]:
                path = self.path(factories[label], first, size)
                found = _read(path, first, size)
                if found is not None:
                    rows[label].append(found)
                    if report:
                        report(label, size)
                    continue
                try:
                    found = play({label: factories[label]}, first_trial=first, trials=size)
                except Exception as error:
                    failed[label] = error
                else:
                    found.save(path)
                    rows[label].append(found)
            first += size
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
            own = sorted((item for item in vars(obj).items() if item[0] not in _OF_PYTHON), key=itemgetter(0))
            return tuple, ((obj.__qualname__, obj.__bases__, [[*pair] for pair in own]),)

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
