"""The one loop through which every agent meets every environment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from bandit_envs.evaluation.generators import preserved_generators
from bandit_envs.evaluation.result import Record, Result
from bandit_envs.evaluation.trace import Trace
from bandit_envs.laws.parse import require
from bandit_envs.make import EnvLike, make, make_batch
from bandit_envs.plugins import AgentFactory, AgentSpec, resolve_agent
from bandit_envs.problem import Problem

BATCH = 64  # trials in lockstep; more would cost memory without being faster
Progress = Callable[[str, int], None]


class Agent(Protocol):
    """Anything that acts and learns. Agents of B trials at once have a leading trial axis in every array."""

    def reset(self, seed: int) -> None:
        """Forget everything; draw all randomness from this seed (B seeds for B trials)."""
        ...

    def act(self, observation: Any) -> Any:
        """Choose an action."""
        ...

    def update(self, observation: Any, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round; `observation` is the one that `act` saw."""
        ...


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
) -> Result:
    """Let every agent play the same trials: the same functions, noise, delays and contexts.

    Trial i is drawn from `SeedSequence([seed, i])`, one child for the environment and one for the agents:
    results depend on neither the number nor the order of trials and agents. `oracle` is taken out of
    `info` before an agent sees it, unless the agent declares itself `privileged`.

    Args:
        environment: a registered id, a `Problem`, or a callable that makes an environment.
        agents: label -> agent: a name, (name, options), "package.module:Class", or setting -> agent. Or
            names alone.
        trials: how many.
        seed: of the evaluation.
        env_kwargs: keyword arguments of the environment.
        first_trial: index of the first trial, to compute a part of a larger evaluation.
        label: of the environment in tables; default its id.
        progress: called with an agent's label and the number of trials it has just finished.
    """
    require(_is_count(trials), "trials", "a positive integer", trials)
    chosen = {name: name for name in agents} if not isinstance(agents, Mapping) else agents
    require(bool(chosen), "agents", "at least one", agents)
    factories = {name: resolve_agent(spec) for name, spec in chosen.items()}  # all errors before any work
    index = range(first_trial, first_trial + trials)
    records, privileged = {}, set()
    for name, factory in factories.items():
        episodes = list(_episodes(environment, dict(env_kwargs or {}), name, factory, index, seed, progress))
        records[name] = Record(*(np.concatenate(parts) for parts in zip(*[r for r, _ in episodes], strict=True)))
        if any(is_privileged for _, is_privileged in episodes):
            privileged.add(name)
    return Result(label or _label(environment), seed, records, frozenset(privileged), first_trial)


def trial_seeds(seed: int, trial: int) -> tuple[int, int]:
    """Seeds of a trial's environment and of its agents, independent of each other."""
    children = np.random.SeedSequence([seed, trial]).spawn(2)
    of_environment, of_agents = (int(child.generate_state(1)[0]) for child in children)
    return of_environment, of_agents


def _episodes(
    environment: EnvLike,
    keywords: dict[str, Any],
    name: str,
    factory: AgentFactory,
    index: range,
    seed: int,
    progress: Progress | None,
) -> Iterator[tuple[Record, bool]]:
    batched = factory.batched and isinstance(environment, str | Problem)
    size = BATCH if batched else 1
    env: Any = None
    for start in range(index.start, index.stop, size):
        block = range(start, min(start + size, index.stop))
        if env is None or (batched and len(block) != env.num_envs):
            env = make_batch(environment, len(block), **keywords) if batched else make(environment, **keywords)  # type: ignore[arg-type]
        seeds = [trial_seeds(seed, i) for i in block]
        with preserved_generators(), _noted(f"agent {name!r}, trials {block.start}..{block.stop - 1}"):
            yield _play(env, factory, seeds) if batched else _play_one(env, factory, *seeds[0])
        if progress:
            progress(name, len(block))


def _play(env: Any, factory: AgentFactory, seeds: list[tuple[int, int]]) -> tuple[Record, bool]:
    """Play B trials at once with one agent."""
    first = env.reset(seed=[of_environment for of_environment, _ in seeds])
    agent = factory(env.setting, num_trials=len(seeds))
    agent.reset([of_agents for _, of_agents in seeds])
    trace = _run(env, agent, len(seeds), *first)
    return trace.record(np.stack(env.get_attr("worst_regret"))), trace.privileged


def _play_one(env: Any, factory: AgentFactory, env_seed: int, agent_seed: int) -> tuple[Record, bool]:
    """Play one trial."""
    first = env.reset(seed=env_seed)
    agent = factory(env.get_wrapper_attr("setting"))
    agent.reset(agent_seed)
    trace = _run(env, agent, 1, *first)
    worst = env.get_wrapper_attr("worst_regret") if env.has_wrapper_attr("worst_regret") else None
    return trace.record(None if worst is None else worst[None]), trace.privileged


def _run(env: Any, agent: Agent, num_trials: int, observation: Any, info: dict[str, Any]) -> Trace:
    require("oracle" in info, "oracle", "on, evaluate scores by it", False)
    trace = Trace(num_trials, privileged=bool(getattr(agent, "privileged", False)))
    done = False
    while not done:
        start = perf_counter()
        action = agent.act(observation)
        decided = perf_counter()
        following, reward, terminated, truncated, info = env.step(action)
        trace.note(info["oracle"], action)
        seen = info if trace.privileged else _without_oracle(info)
        resumed = perf_counter()
        agent.update(observation, action, reward, seen)
        trace.seconds += perf_counter() - resumed + decided - start
        observation, done = following, bool(np.all(np.logical_or(terminated, truncated)))
    return trace


def _without_oracle(info: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in info.items() if key not in ("oracle", "_oracle")}


@contextmanager
def _noted(place: str) -> Iterator[None]:
    """Let errors travel, with a note of where they happened."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in {place}")
        raise


def _label(environment: EnvLike) -> str:
    if isinstance(environment, str):
        return environment.split(":")[-1]
    return environment.name if isinstance(environment, Problem) else getattr(environment, "__name__", "custom")


def _is_count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and value > 0
