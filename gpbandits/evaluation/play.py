"""Episodes of one agent: many trials at once where the agent can, one after another where it cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from agents.generators import preserved_generators
from agents.protocol import Agent
from agents.registry import AgentFactory
from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Ints
from bandit_envs.environment.envs import BanditEnv
from bandit_envs.environment.making import EnvLike, limit_of, make, plain_problem
from bandit_envs.environment.vector import BanditVectorEnv
from bandit_envs.problem.feedback import Feedback
from bandit_envs.problem.problem import Problem
from gpbandits.evaluation.covering import reach_of
from gpbandits.evaluation.record import Record
from gpbandits.evaluation.trace import Trace, Traits

BATCH = 64  # trials in lockstep; more would cost memory without being faster
Tell = Callable[[Sequence[int], dict[str, Any]], None]  # of a round: indices of the trials, and its info
Watch = Callable[[dict[str, Any]], None]  # of a round: its info


class Stage:
    """An environment made once, on which one agent after another plays.

    Args:
        environment: a registered id, a `Problem`, or a callable that makes an environment.
        keywords: of the environment.
    """

    def __init__(self, environment: EnvLike, keywords: Mapping[str, Any]):
        self.environment, self.keywords = environment, keywords
        self.env: Any = make(environment, **keywords)
        require_bandit(self.env)
        self.limit, self.oracle = limit_of(self.env), keywords.get("oracle", True)
        self.problem = plain_problem(environment, self.env)

    @property
    def setting(self) -> Any:
        """What a learner may know; parts of it may change with each trial."""
        return self.env.get_wrapper_attr("setting")

    @property
    def horizon(self) -> int:
        """The number of rounds that an episode is to have."""
        horizon = self.setting.horizon
        return horizon if self.limit is None else min(horizon, self.limit)

    def episodes(
        self,
        factory: AgentFactory,
        seeds: list[tuple[int, int]],
        first_trial: int = 0,
        rounds: Ints | None = None,
        tell: Tell | None = None,
    ) -> Iterator[tuple[Record, Traits]]:
        """Yield the records of blocks of trials, and what the agent is.

        Args:
            factory: makes the agent. Trials that end at different rounds, with their budgets, are played one
                after another.
            seeds: of the environment and of the agent, one pair a trial.
            first_trial: index of the first, for errors to name the trial.
            rounds: those that are recorded, counted from 1; None is all.
            tell: called after every round that is played.
        """
        size = BATCH if factory.batched and self.problem and self.problem.play_costs.is_free else 1
        for start in range(0, len(seeds), size):
            block = seeds[start : start + size]
            first = first_trial + start
            watch = None if tell is None else partial(tell, range(first, first + len(block)))
            with preserved_generators(), _noted(f"in trials {first}..{first + len(block) - 1}"):
                # One trial is faster without an axis of trials.
                if self.problem and (len(block) > 1 or factory.in_batches_only):
                    env = BanditVectorEnv(
                        self.problem,
                        len(block),
                        oracle=self.oracle,
                        autoreset_mode="Disabled",
                        max_episode_steps=self.limit,
                    )
                    yield _play_batch(env, factory, block, rounds, self.horizon, watch)
                else:
                    yield _play_one(self.env, self.problem, factory, *block[0], rounds, self.horizon, watch)


def require_bandit(env: Any) -> None:
    """Raise unless an environment says what agents are to know."""
    bandit = env.has_wrapper_attr("setting")
    require(bandit, "environment", "a bandit, with an attribute `setting` for agents", env)


def _play_batch(
    env: BanditVectorEnv,
    factory: AgentFactory,
    seeds: list[tuple[int, int]],
    rounds: Ints | None,
    horizon: int,
    watch: Watch | None,
) -> tuple[Record, Traits]:
    first = env.reset(seed=[of_environment for of_environment, _ in seeds])
    setting = env.setting
    agent = factory(setting, num_trials=len(seeds))
    with _closing(agent):
        agent.reset([of_agents for _, of_agents in seeds])
        reach = reach_of(env.problem, env.simulator.trials)
        trace = Trace(setting, len(seeds), agent, rounds, reach)
        _run(env, agent, trace, horizon, watch, *first)
        trace.end()
    return trace.record(np.stack(env.get_attr("worst_regret"))), trace.traits


def _play_one(
    env: Any,
    problem: Problem | None,
    factory: AgentFactory,
    env_seed: int,
    agent_seed: int,
    rounds: Ints | None,
    horizon: int,
    watch: Watch | None,
) -> tuple[Record, Traits]:
    first = env.reset(seed=env_seed)
    setting = env.get_wrapper_attr("setting")
    agent = factory(setting)
    with _closing(agent):
        agent.reset(agent_seed)
        reach = None if problem is None else reach_of(problem, env.unwrapped.simulator.trials)
        trace = Trace(setting, None, agent, rounds, reach)
        _run(env, agent, trace, horizon, watch, *first)
        trace.end()
    worst = env.get_wrapper_attr("worst_regret") if env.has_wrapper_attr("worst_regret") else None
    return trace.record(None if worst is None else worst[None]), trace.traits


def _run(
    env: Any,
    agent: Agent,
    trace: Trace,
    horizon: int,
    watch: Watch | None,
    observation: Any,
    info: dict[str, Any],
) -> None:
    foreign = type(env.unwrapped) not in (BanditEnv, BanditVectorEnv)
    require("oracle" in info, "oracle", "on: evaluate scores by it", False)
    begin = getattr(agent, "start", None)
    if "action_mask" in info and begin is not None:
        begin(info if trace.privileged else _without_oracle(info))
    done = False
    while not done:
        start = perf_counter()
        action = agent.act(observation)
        decided = perf_counter()
        following, reward, terminated, truncated, info = env.step(action)
        if not np.all(info.get("played", True)):
            trace.rest(horizon)  # the budget is spent: there is nothing to learn any more
            return
        trace.note(observation, action, info)
        if foreign:
            _check_earned(reward, info)
        if watch is not None:
            watch(info)
        seen = info if trace.privileged else _without_oracle(info)
        resumed = perf_counter()
        agent.update(observation, action, reward, seen)
        trace.seconds += perf_counter() - resumed + decided - start
        observation, done = following, _ended(terminated, truncated)


def _check_earned(reward: Any, info: dict[str, Any]) -> None:
    """Raise unless what somebody's own environment pays is finite, also where its agent does not look."""
    given = np.asarray(reward)
    finite = given.dtype.kind in "biuf" and bool(np.isfinite(given).all())
    require(finite, "reward of the environment", "finite", reward)
    Feedback.arrived(info)


def _without_oracle(info: dict[str, Any]) -> dict[str, Any]:
    shown = info.copy()
    for key in ("oracle", "_oracle"):
        shown.pop(key, None)
    return shown


def _ended(terminated: Any, truncated: Any) -> bool:
    """Whether a trial is over, or each of several, (B,)."""
    either = terminated | truncated
    return bool(either.all() if isinstance(either, np.ndarray) else either)


@contextmanager
def _closing(agent: Any) -> Iterator[None]:
    """Let an agent that holds threads or files give them back: it may have a method `close`."""
    try:
        yield
    finally:
        getattr(agent, "close", lambda: None)()


@contextmanager
def _noted(place: str) -> Iterator[None]:
    """Let errors travel, with a note of where they happened."""
    try:
        yield
    except Exception as error:
        error.add_note(place)
        raise
