"""The one call that compares agents: all of them play the same trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from agents.registry import AgentFactory, AgentSpec, resolve_agent
from bandit_envs.basics.arguments import is_count, require
from bandit_envs.basics.threads import one_thread
from bandit_envs.environment.making import EnvLike
from bandit_envs.problem.problem import Problem
from gpbandits.evaluation.isolation import isolated
from gpbandits.evaluation.play import Stage
from gpbandits.evaluation.record import Record, join_trials
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.trace import Trace

Progress = Callable[[str, int], None]


@one_thread()
def evaluate(
    environment: EnvLike,
    agents: Mapping[str, AgentSpec] | Sequence[str],
    *,
    trials: int = 30,
    seed: int = 0,
    env_kwargs: Mapping[str, Any] | None = None,
    first_trial: int = 0,
    label: str | None = None,
    progress: Progress | None = None,
    isolate: bool = False,
) -> Result:
    """Let every agent play the same trials: the same functions, noise, delays and contexts.

    Trial i is drawn from `SeedSequence([seed, i])`, with one child for the environment and one for the
    agents, which is the same for all of them: results depend on neither the number nor the order of trials
    and agents. `oracle` is taken out of `info` before an agent sees it, unless the agent declares itself
    `privileged`. Linear algebra runs on one thread, unless a block `with gpbandits.threads(n)` says more.

    Args:
        environment: a registered id, a `Problem`, or a callable that makes an environment.
        agents: label -> agent: a name, "package.module:Class" or setting -> agent (a class, say), or a pair
            of any of these and its options. Or names alone.
        trials: how many.
        seed: of the evaluation, an integer >= 0.
        env_kwargs: keyword arguments of the environment.
        first_trial: index of the first trial, to compute a part of a larger evaluation.
        label: of the environment in tables; default its id.
        progress: called with an agent's label and the number of trials that it has just finished.
        isolate: play every agent in a process of its own, which receives observations and feedback only and
            ends with it: for agents that are not trusted, or leak memory. Their results are the same. Agents
            must be importable. What a round costs more is measured in `benchmarks/isolation.py`.
    """
    require(is_count(trials), "trials", "a positive integer", trials)
    require(_is_integer(seed) and seed >= 0, "seed", "an integer >= 0", seed)
    require(_is_integer(first_trial) and first_trial >= 0, "first_trial", "an integer >= 0", first_trial)
    require(isinstance(isolate, bool), "isolate", "True or False", isolate)
    factories = _factories(agents)  # all errors of names before any work
    if isolate:
        factories = {name: isolated(factory) for name, factory in factories.items()}
    stage = Stage(environment, env_kwargs or {})
    seeds = [trial_seeds(seed, i) for i in range(first_trial, first_trial + trials)]
    records, traces = {}, {}
    for name, factory in factories.items():
        records[name], traces[name] = _play_all(stage, name, factory, seeds, first_trial, progress)
    return Result(
        label or _label(environment),
        int(seed),
        records,
        frozenset(name for name, trace in traces.items() if trace.privileged),
        int(first_trial),
        tracks={name: trace.track for name, trace in traces.items() if trace.track},
        windows={name: trace.window for name, trace in traces.items() if trace.window is not None},
    )


def trial_seeds(seed: int, trial: int) -> tuple[int, int]:
    """Seeds of a trial's environment and of its agents, independent of each other, below 2^32."""
    children = np.random.SeedSequence([seed, trial]).spawn(2)
    of_environment, of_agents = (int(child.generate_state(1)[0]) for child in children)
    return of_environment, of_agents


def _play_all(
    stage: Stage,
    name: str,
    factory: AgentFactory,
    seeds: list[tuple[int, int]],
    first_trial: int,
    progress: Progress | None,
) -> tuple[Record, Trace]:
    blocks, trace = [], None
    try:
        for record, trace in stage.episodes(factory, seeds, first_trial):  # noqa: B007 (the last says what the agent is)
            blocks.append(record)
            if progress:
                progress(name, len(record.regret))
    except Exception as error:
        error.add_note(f"while agent {name!r} played")
        raise
    assert trace is not None  # there is at least one trial
    return join_trials(blocks), trace


def _factories(agents: Mapping[str, AgentSpec] | Sequence[str]) -> dict[str, AgentFactory]:
    require(
        not isinstance(agents, str), "agents", "a mapping of labels to agents, or a list of names", agents
    )
    named = isinstance(agents, Mapping) or all(isinstance(name, str) for name in agents)
    require(named, "agents", "a mapping of labels to agents where they are not all names", agents)
    chosen = agents if isinstance(agents, Mapping) else {name: name for name in agents}
    require(len(chosen) > 0, "agents", "at least one", agents)
    for label in chosen:
        require(isinstance(label, str), "label of an agent", "text", label)
    return {label: resolve_agent(spec) for label, spec in chosen.items()}


def _label(environment: EnvLike) -> str:
    if isinstance(environment, str):
        return environment.split(":")[-1]
    return (
        environment.name if isinstance(environment, Problem) else getattr(environment, "__name__", "custom")
    )


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
