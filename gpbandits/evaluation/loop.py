"""Agents are compared by one call, `evaluate`, which runs all of them on the same trials."""

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from agents.options import keywords_of
from agents.protocol import demanded
from agents.registry import AgentFactory, AgentSpec, resolve_agent
from bandit_envs.basics.arguments import (
    is_count,
    is_integer,
    is_text,
    require,
    require_seed,
    require_size,
    require_switch,
)
from bandit_envs.basics.threads import check_workers, one_thread
from bandit_envs.basics.types import Ints
from bandit_envs.environment.envs import EnvLike
from bandit_envs.environment.info import OnRound
from bandit_envs.problem.problem import Problem
from gpbandits.evaluation.comparison import joined
from gpbandits.evaluation.environments import Results
from gpbandits.evaluation.isolation import isolated
from gpbandits.evaluation.parts import Kept, play_here, play_in_processes
from gpbandits.evaluation.play import Stage, TrialsPart, noted, require_loggable
from gpbandits.evaluation.progress import Progress, reporting
from gpbandits.evaluation.record import check_rounds
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.stamp import origin

Checkpoints = Callable[[int], Ints] | Sequence[int] | Ints  # rounds, or a function from the horizon to rounds
SECRET = 128  # bits of the entropy of a run whose agents are isolated

Agents = Mapping[str, AgentSpec] | Sequence[str]
Place = EnvLike | tuple[str, Mapping[str, Any]]  # an environment, or an id with its keyword arguments


class Options(TypedDict, total=False):
    """Keyword arguments of `evaluate`, which describes them."""

    trials: int
    seed: int
    env_kwargs: Mapping[str, Any] | None
    first_trial: int
    label: str | None
    progress: Progress | bool | None
    isolate: bool
    entropy: int | None
    workers: int
    checkpoints: Checkpoints | None
    callback: OnRound | None
    stopping: Any
    folder: str | os.PathLike[str] | None
    log: bool


@overload
def evaluate(environment: EnvLike | Stage, agents: Agents, **options: Unpack[Options]) -> Result: ...


@overload
def evaluate(environment: Mapping[str, Place], agents: Agents, **options: Unpack[Options]) -> Results: ...


@one_thread()
def evaluate(
    environment: EnvLike | Stage | Mapping[str, Place],
    agents: Agents,
    *,
    trials: int = 30,
    seed: int = 0,
    env_kwargs: Mapping[str, Any] | None = None,
    first_trial: int = 0,
    label: str | None = None,
    progress: Progress | bool | None = None,
    isolate: bool = False,
    entropy: int | None = None,
    workers: int = 1,
    checkpoints: Checkpoints | None = None,
    callback: OnRound | None = None,
    stopping: Any = None,
    folder: str | os.PathLike[str] | None = None,
    log: bool = False,
) -> Result | Results:
    """Run every agent on the same trials: the same functions, noise, delays and contexts.

    Trial i is drawn from `SeedSequence([seed, i])`, with one child for the environment and one for all
    agents, so results depend on neither the number nor the order of trials and agents. `oracle` is removed
    from `info` before an agent receives it, unless the agent declares itself `privileged`. Linear algebra
    runs on one thread, unless a block `with gpbandits.threads(n)` sets more.

    Args:
        environment: a registered id, a `Problem`, a callable that makes an environment, or a `Stage` made
            from one of these; or several, label -> any of these but a `Stage`, or a pair of an id and its
            keyword arguments. Of several a `Results` is returned, with a table of environments and agents.
        agents: label -> agent: a name, "package.module:Class" or setting -> agent (such as a class), or a
            pair of any of these and its options; or a list of names.
        trials: number of trials.
        seed: seed of the evaluation, an integer >= 0.
        env_kwargs: keyword arguments of the environment, or of each of several beside its own.
        first_trial: index of the first trial, to compute a part of a larger evaluation.
        label: name of the environment in tables; by default its id.
        progress: True for a bar of finished trials, on a terminal or in a notebook; or a function that is
            called with an agent's label and its number of newly finished trials, up to 64 at once.
        isolate: run every agent in a process of its own, which receives only observations and feedback and
            ends with it, for agents that are not trusted or leak memory. The environments' entropy is drawn
            at random and stored in `result.entropy`. Agents must be importable. `benchmarks/isolation.py`
            measures the cost a round, docs/reliability.md describes the limits.
        entropy: entropy of the environments beside `seed`, an integer >= 0; the agents' seeds do not depend
            on it. `entropy=result.entropy` repeats an isolated run, with or without `isolate`, or adds agents
            and trials to it. By default none, or 128 random bits under `isolate`.
        workers: run the trials in so many processes; results are equal except for the seconds. Each process
            makes the environment once, so the environment and the agents must be picklable.
        checkpoints: the rounds to record, counted from 1 and ending with the horizon, or a function from the
            horizon to these; by default all. Memory grows with the recorded rounds only. See `Record` for
            the sums between them.
        callback: called after every round with a `Round`: the agent's label, the round, and the true regret
            and violation of the batch of trials, which the agent does not observe. Its time is not counted
            as the agent's, its errors are raised; it needs `workers=1`.
        stopping: rules that say when each agent would stop, for all agents with an option `stopping`: a name
            and its options, such as ("knowledge-gradient", {"price": 0.01}), or label -> rule. Agents play
            on, so results do not change; see `Result.stopping_table`.
        folder: folder that keeps finished blocks of ten trials of an agent, by the hash of all that was asked
            and of the code. The same call reads them and plays what is missing, such as after a kill, with
            more trials or with more agents; it needs no callback, and under `isolate` an `entropy`.
        log: write the plays of each trial with their propensities into `result.logs`, for `gpbandits.logs`;
            `agents.with_propensities()` names the agents that have some. Results do not change.

    Raises:
        Exception: what an agent raised, after the others have played; its attribute `result` holds theirs.
    """
    if isinstance(environment, Mapping):
        require(label is None, "label", "left out of several environments, which have theirs", label)
        played = {"agents": agents, "trials": trials, "seed": seed, "first_trial": first_trial, "log": log}
        how = {"progress": progress, "isolate": isolate, "entropy": entropy, "workers": workers}
        also = {"checkpoints": checkpoints, "callback": callback, "stopping": stopping, "folder": folder}
        on_one: Callable[..., Result] = partial(evaluate, **played, **how, **also)
        stages = _stages(environment, env_kwargs or {})
        return Results({label: on_one(stage, label=label) for label, stage in stages.items()})
    require(is_count(trials), "trials", "a positive integer", trials)
    require_seed("seed", seed)
    require_seed("first_trial", first_trial)
    require(label is None or is_text(label), "label", "None or text in one line", label)
    made = isinstance(environment, Stage) and bool(env_kwargs)
    require(not made, "env_kwargs", "left out of a Stage, which has its environment already", env_kwargs)
    require_switch("isolate", isolate)
    usable = entropy is None or (is_integer(entropy) and entropy >= 0)
    require(usable, "entropy", "None or an integer >= 0, such as the `entropy` of a result", entropy)
    check_workers(workers)
    require(callback is None or callable(callback), "callback", "None or a callable (round)", callback)
    here = callback is None or workers == 1
    require(here, "workers", "1 with a callback, which is called in this process", workers)
    require_switch("log", log)
    factories = _factories(agents)  # all errors of names before any work
    if stopping is not None:
        factories = _stopping(factories, stopping)
    reports = reporting(progress, trials * len(factories))
    approximate = frozenset(label for label, factory in factories.items() if factory.features.approximate)
    stage = environment if isinstance(environment, Stage) else Stage(environment, env_kwargs)
    for factory in factories.values():
        factory.require_takes(stage.setting)
    if log:
        require_loggable(stage.setting, isolate)
    origins = (origin(stage.environment, stage.problem, factories.values()),)
    asked = checkpoints(stage.horizon) if callable(checkpoints) else checkpoints  # None records all
    rounds = None if asked is None else check_rounds("checkpoints", asked, stage.horizon)
    if folder is not None:
        require(callback is None, "folder", "left out with a callback, which hears of every round", folder)
        require(not log, "folder", "left out with log=True: blocks keep no logs", folder)
        require(not isolate or entropy is not None, "entropy", "given with isolate and a folder", entropy)
        recorded = None if rounds is None else rounds.tolist()
        kept = Kept(folder, stage, {"seed": int(seed), "entropy": entropy, "rounds": recorded})
        shared: Any = {"seed": seed, "label": label, "isolate": isolate}
        shared |= {"entropy": entropy, "workers": workers}
        with reports as report:
            play = partial(evaluate, stage, checkpoints=checkpoints, progress=report, **shared)
            rows, failed = kept.play(factories, first_trial, trials, play, report)
        return _whole(joined(rows) if rows else None, failed)
    if isolate:
        factories = {name: isolated(factory) for name, factory in factories.items()}
        entropy = secrets.randbits(SECRET) if entropy is None else entropy
    require_size("trials", trials, stage.horizon if rounds is None else len(rounds))
    seeds = [trial_seeds(seed, i, entropy) for i in range(first_trial, first_trial + trials)]
    whole = TrialsPart(first_trial, seeds, rounds, log)
    with reports as report:
        if workers == 1:
            outcomes = {x: play_here(stage, x, y, whole, report, callback) for x, y in factories.items()}
        else:
            outcomes = play_in_processes(stage, factories, whole, report, workers)
    failed = {name: each for name, each in outcomes.items() if isinstance(each, Exception)}
    played = {name: each for name, each in outcomes.items() if not isinstance(each, Exception)}
    if not played:
        return _whole(None, failed)
    traits = {name: traits for name, (_, traits) in played.items()}
    place = stage.environment
    attribute = "name" if isinstance(place, Problem) else "__name__"
    named = place.split(":")[-1] if isinstance(place, str) else getattr(place, attribute, "custom")
    result = Result(
        label or named,
        int(seed),
        {name: record for name, (record, _) in played.items()},
        frozenset(name for name, each in traits.items() if each.privileged),
        int(first_trial),
        checkpoints=None if rounds is None else next(iter(traits.values())).rounds,
        tracks={name: each.track for name, each in traits.items() if each.track},
        windows={name: each.window for name, each in traits.items() if each.window is not None},
        approximate=approximate & played.keys(),
        assuming=frozenset(name for name, each in traits.items() if each.assumes_bound),
        entropy=None if entropy is None else int(entropy),
        unfit=frozenset(name for name in played if factories[name].lacking(demanded(stage.setting))),
        long_term=stage.problem is not None and stage.problem.long_term,
        origins=origins,
        logs={name: each.logs for name, each in traits.items() if log},
    )
    return _whole(result, failed)


def _whole(result: Result | None, failed: Mapping[str, Exception]) -> Result:
    """Return a result, or raise the error of the first agent that failed, with the others' as attribute."""
    if not failed:
        assert result is not None
        return result
    first = next(iter(failed.values()))
    if result is None:
        raise first
    for name, each in list(failed.items())[1:]:
        first.add_note(f"agent {name!r} failed too: {type(each).__name__}: {each}")
    first.add_note(
        f"the attribute `result` of this error holds what the other agents played:\n{result.table()}"
    )
    with suppress(AttributeError):  # a class of somebody's own may have slots
        first.result = result  # type: ignore[attr-defined]
    raise first


def _stages(places: Mapping[str, Place], shared: Mapping[str, Any]) -> dict[str, Stage]:
    """Make all environments, so that an error in one of them comes before any is played."""
    require(len(places) > 0, "environment", "at least one", places)
    stages = {}
    for label, place in places.items():
        require(is_text(label), "label of an environment", "text in one line", label)
        paired = not isinstance(place, tuple) or (len(place) == 2 and isinstance(place[1], Mapping))
        require(paired, f"environment {label!r}", "an id, a Problem, or (id, keywords)", place)
        one, own = place if isinstance(place, tuple) else (place, {})
        stages[label] = Stage(one, {**shared, **own})
    return stages


def trial_seeds(seed: int, trial: int, entropy: int | None = None) -> tuple[int, int]:
    """Return the seeds of a trial's environment and of its agents, independent of each other, below 2^32.

    With the `entropy` of a result the environment's seed has 63 bits, unpredictable from seed and trial.
    """
    for name, value in {"seed": seed, "trial": trial, "entropy": 0 if entropy is None else entropy}.items():
        require_seed(name, value)
    children = np.random.SeedSequence([seed, trial]).spawn(2)
    of_environment, of_agents = (int(child.generate_state(1)[0]) for child in children)
    if entropy is not None:
        secret = np.random.SeedSequence([entropy, seed, trial])
        of_environment = int(secret.generate_state(1, np.uint64)[0]) >> 1
    return of_environment, of_agents


def _factories(agents: Agents) -> dict[str, AgentFactory]:
    listed = isinstance(agents, Mapping | Sequence) and not isinstance(agents, str)
    require(listed, "agents", "a mapping of labels to agents, or a list of names", agents)
    named = isinstance(agents, Mapping) or all(isinstance(name, str) for name in agents)
    require(named, "agents", "a mapping of labels to agents where they are not all names", agents)
    once = isinstance(agents, Mapping) or len(set(agents)) == len(agents)
    require(once, "agents", "a list that names each once; a mapping gives labels to two of one name", agents)
    chosen = agents if isinstance(agents, Mapping) else {name: name for name in agents}
    require(len(chosen) > 0, "agents", "at least one", agents)
    factories = {}
    for label, spec in chosen.items():
        require(is_text(label), "label of an agent", "text in one line", label)
        with noted(f"for agents[{label!r}]"):
            factories[label] = resolve_agent(spec)
    return factories


def _stopping(factories: dict[str, AgentFactory], stopping: Any) -> dict[str, AgentFactory]:
    """Give the rules to all agents with an option for them; raise where none has it."""
    takes = {label for label, factory in factories.items() if "stopping" in (keywords_of(factory.make) or ())}
    remedy = "left out where no agent has the option, which needs a model"
    require(len(takes) > 0, "stopping", remedy, stopping)
    given = {x: replace(factories[x], options={"stopping": stopping, **factories[x].options}) for x in takes}
    return {**factories, **given}
