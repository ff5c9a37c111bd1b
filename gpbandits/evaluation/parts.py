"""Trials are run in parts, in this process or in several, and joined again."""

import os
import pickle
import traceback
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from agents.registry import AgentFactory
from bandit_envs.basics.arguments import from_extra
from bandit_envs.basics.threads import chosen_threads, end_with, require_workers, threads
from bandit_envs.environment.info import OnRound, Round
from gpbandits.evaluation.play import Stage, TrialsPart
from gpbandits.evaluation.progress import Progress
from gpbandits.evaluation.record import Record, join_trials
from gpbandits.evaluation.trace import Traits

Played = tuple[Record, Traits]
Failure = Exception  # of an agent, whose others play on
Factories = Mapping[str, AgentFactory]
_made: dict[str, Stage] = {}  # the environment of the current evaluation, by its token


def play_here(
    stage: Stage,
    factories: Factories,
    whole: TrialsPart,
    progress: Progress | None,
    callback: OnRound | None = None,
) -> dict[str, Played | Failure]:
    """Run all trials of one agent after the other in this process; the others play on where one fails."""
    return {
        name: _play(stage, name, factory, whole, progress, callback) for name, factory in factories.items()
    }


def play_in_processes(
    stage: Stage, factories: Factories, whole: TrialsPart, progress: Progress | None, workers: int
) -> dict[str, Played | Failure]:
    """Run the trials of every agent in `workers` parts, in as many processes; the records are the same."""
    require_workers(f"{workers=}", "leave workers at 1")
    with from_extra("eval", "workers"):
        from joblib import delayed

    token, parts = uuid.uuid4().hex, whole.split(workers)
    tasks = [(name, i) for name in factories for i in range(len(parts))]
    made = stage.environment, dict(stage.keywords)
    here = partial(_play_there, token, made, chosen_threads())
    calls = [delayed(here)(name, factories[name], i, parts[i]) for name, i in tasks]
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
    return {name: _whole([each[i] for i in range(len(parts))]) for name, each in played.items()}


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
        found = _play(_made[token], name, factory, part, None)
    return name, i, _portable(found) if isinstance(found, Exception) else found


def _play(
    stage: Stage,
    name: str,
    factory: AgentFactory,
    part: TrialsPart,
    progress: Progress | None,
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

    told = None if callback is None else tell
    episodes = stage.episodes(factory, part, told)
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


def _whole(parts: list[Played | Failure]) -> Played | Failure:
    """Return what an agent played in all parts, or the first of its failures."""
    failed = next((part for part in parts if isinstance(part, Exception)), None)
    return failed or _joined([part for part in parts if not isinstance(part, Exception)])


def _portable(error: Exception) -> Exception:
    """Return an error as it can be sent to another process, with where it was raised."""
    where = "".join(traceback.format_exception(error))
    try:
        again = pickle.loads(pickle.dumps(error))
    except Exception:
        again = RuntimeError(f"{type(error).__name__}: {error}")
    again.add_note(where)
    return again


def _joined(played: list[Played]) -> Played:
    records, traits = zip(*played, strict=True)
    logs = tuple(log for each in traits for log in each.logs)
    return join_trials(records), traits[-1]._replace(logs=logs)
