"""Episodes of one agent and their logs: a batch of trials if the agent supports it, else one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from agents.agent.generators import preserved_generators
from agents.protocol import BaseAgent, adapted
from agents.registry import METHODS, AgentFactory, lacking_method
from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.environment.envs import BanditEnv, EnvLike, limit_of, make, plain_problem
from bandit_envs.environment.vector import BanditVectorEnv
from bandit_envs.problem.feedback import Feedback
from bandit_envs.problem.setting import Setting
from gpbandits.evaluation.process_state import preserved_process
from gpbandits.evaluation.record import Record
from gpbandits.evaluation.trace import Trace, Traits, without_oracle
from gpbandits.evaluation.truth import reach_of
from gpbandits.logs.log import PlayLog

BATCH = 64  # trials in a batch; more would cost memory without being faster
Tell = Callable[[Sequence[int], dict[str, Any]], None]  # called with the indices of trials and a round's info
Watch = Callable[[dict[str, Any]], None]  # called with a round's info


class TrialsPart(NamedTuple):
    """A part is a range of trials with the recorded rounds."""

    first_trial: int
    seeds: list[tuple[int, int]]  # of the environment and of the agents, one pair a trial
    rounds: Ints | None  # (r,) counted from 1; None is all
    log: bool = False  # whether the plays are logged

    def split(self, pieces: int) -> list[TrialsPart]:
        """Split into at most so many parts of nearly equal length, none of them empty."""
        each = np.array_split(np.arange(len(self.seeds)), min(pieces, len(self.seeds)))
        spans = [(int(part[0]), int(part[-1]) + 1) for part in each]
        return [
            self._replace(first_trial=self.first_trial + start, seeds=self.seeds[start:end])
            for start, end in spans
        ]


class Stage:
    """A stage is an environment that is made once and shared by several agents."""

    def __init__(self, environment: EnvLike, env_kwargs: Mapping[str, Any] | None = None):
        named = isinstance(env_kwargs, Mapping) and all(isinstance(key, str) for key in env_kwargs)
        require(env_kwargs is None or named, "env_kwargs", "None or a dict of keywords", env_kwargs)
        keywords = env_kwargs or {}
        self.environment, self.keywords = environment, keywords
        self.env: Any = make(environment, **keywords)
        bandit = self.env.has_wrapper_attr("setting")
        require(bandit, "environment", "a bandit, with an attribute `setting` for agents", self.env)
        self.limit, self.oracle = limit_of(self.env), keywords.get("oracle", True)
        self.problem = plain_problem(environment, self.env)

    @property
    def setting(self) -> Any:
        """Return the published setting; parts of it may differ between trials."""
        return self.env.get_wrapper_attr("setting")

    @property
    def horizon(self) -> int:
        """Return the number of rounds of an episode."""
        horizon = self.setting.horizon
        return horizon if self.limit is None else min(horizon, self.limit)

    def episodes(
        self, factory: AgentFactory, part: TrialsPart, tell: Tell | None = None
    ) -> Iterator[tuple[Record, Traits]]:
        """Yield the records of blocks of trials, with the agent's traits, and logs where they are asked for.

        Trials with a budget, which may end in different rounds, run one after another. `tell` is called after
        every round.
        """
        size = BATCH if factory.batched and self.problem and self.problem.play_costs.is_free else 1
        for start in range(0, len(part.seeds), size):
            block, first = part.seeds[start : start + size], part.first_trial + start
            watch = None if tell is None else partial(tell, range(first, first + len(block)))
            place = noted(f"in trials {first}..{first + len(block) - 1}")
            with preserved_generators(), preserved_process(), place:
                # One trial is faster without an axis of trials.
                if self.problem and (len(block) > 1 or factory.in_batches_only):
                    options: dict[str, Any] = {"oracle": self.oracle, "max_episode_steps": self.limit}
                    env = BanditVectorEnv(self.problem, len(block), autoreset_mode="Disabled", **options)
                    played = self._play(env, factory, block, len(block), part, watch)
                else:
                    played = self._play(self.env, factory, block, None, part, watch)
            yield played

    def _play(
        self,
        env: Any,
        factory: AgentFactory,
        seeds: list[tuple[int, int]],
        num_trials: int | None,
        part: TrialsPart,
        watch: Watch | None,
    ) -> tuple[Record, Traits]:
        """Play a batch in a vector environment, or without `num_trials` one trial in an environment."""
        columns = zip(*seeds, strict=True)
        of_environment, of_agents = (list(column) if num_trials else column[0] for column in columns)
        first = env.reset(seed=of_environment)
        setting = env.setting if num_trials else env.get_wrapper_attr("setting")
        agent = _made(factory, setting, num_trials)
        with closing(agent):
            agent.reset(of_agents)
            reach = None if self.problem is None else reach_of(self.problem, env.unwrapped.simulator.trials)
            absent = _of_trials(env, "absent_gain", num_trials) if setting.volatile else None
            own = env.unwrapped  # of ours, with or without wrappers, or of others
            drifts = isinstance(own, BanditEnv | BanditVectorEnv) and own.problem.drift.within_segments
            trace = Trace(setting, num_trials, agent, part.rounds, reach, absent, drifts)
            writer = LogWriter(setting, num_trials) if part.log else None
            if writer is not None:
                writer.start(first[1])
            _run(env, agent, trace, self.horizon, watch, writer, *first)
            record, traits = trace.end(_of_trials(env, "worst_regret", num_trials))
        return record, traits if writer is None else traits._replace(logs=writer.logs())


def _of_trials(env: Any, name: str, num_trials: int | None) -> Floats | None:
    """Return an attribute of each trial for evaluators, (B, T); None of an environment without it."""
    if num_trials:
        return np.stack(env.get_attr(name))
    return env.get_wrapper_attr(name)[None] if env.has_wrapper_attr(name) else None


def _made(factory: AgentFactory, setting: Any, num_trials: int | None = None) -> BaseAgent:
    # An environment of others may publish the same setting to all agents.
    own = setting.copied() if isinstance(setting, Setting) else setting
    agent = factory(own, num_trials)
    if missing := lacking_method(agent):
        what = f"an object with the methods {METHODS}, got one of {type(agent).__name__} without {missing}"
        raise ValueError(f"an agent must be {what}")
    return adapted(agent)


def _run(
    env: Any,
    agent: BaseAgent,
    trace: Trace,
    horizon: int,
    watch: Watch | None,
    writer: LogWriter | None,
    observation: Any,
    info: dict[str, Any],
) -> None:
    foreign = type(env.unwrapped) not in (BanditEnv, BanditVectorEnv)
    require("oracle" in info, "oracle", "on: evaluate scores by it", False)
    if "action_mask" in info:
        agent.start(info if trace.privileged else without_oracle(info))
    done = False
    while not done:
        start = perf_counter()
        action = agent.act(observation)
        decided = perf_counter()
        following, reward, terminated, truncated, info = env.step(action)
        if "played" in info and not np.all(info["played"]):
            trace.rest(horizon)  # the budget is spent, and no feedback follows
            return
        trace.note(observation, action, info)
        if writer is not None:
            writer.note(agent, observation, action, info)
        if foreign:
            given = np.asarray(reward)
            finite = given.dtype.kind in "biuf" and bool(np.isfinite(given).all())
            require(finite, "reward of the environment", "finite", reward)
            Feedback.arrived(info)  # which must be finite too
        if watch is not None:
            watch(info)
        seen = info if trace.privileged else without_oracle(info)
        resumed = perf_counter()
        agent.update(observation, action, reward, seen)
        trace.seconds += perf_counter() - resumed + decided - start
        observation, done = following, _ended(terminated, truncated)


def _ended(terminated: Any, truncated: Any) -> bool:
    """Return True if a trial, or each trial of a batch, (B,), is over."""
    either = terminated | truncated
    return np.count_nonzero(either) == either.size if isinstance(either, np.ndarray) else bool(either)


@contextmanager
def noted(place: str) -> Iterator[None]:
    """Note in errors of the block where they came from."""
    try:
        yield
    except Exception as error:
        error.add_note(place)
        raise


class LogWriter:
    """Write the plays of B trials, round by round; times are rounds, counted from 0.

    Args:
        setting: of the episode, with arms.
        num_trials: B; None for one environment without a trial axis.
    """

    def __init__(self, setting: Setting, num_trials: int | None):
        self._setting, self._size = setting, num_trials or 1
        self._plays: list[tuple[Ints, Floats, Ints]] = []  # action, propensity, context of each round, (B,)
        self._available: list[Bools] = []  # (B, A) of each round; of volatile arms alone
        self._feedback: list[tuple[int, Feedback]] = []  # with its round

    def start(self, info: dict[str, Any]) -> None:
        """Keep which arms the next round has, from the `info` of a reset or a round."""
        if "action_mask" in info:
            self._available.append(np.reshape(info["action_mask"], (self._size, -1)) == 1)

    def note(self, agent: BaseAgent, observation: Any, action: Any, info: dict[str, Any]) -> None:
        """Keep a round: the context, the arm, the agent's propensity and what was delivered."""
        chance = agent.propensity(observation, action)
        self._feedback.append((len(self._plays), Feedback.arrived(info)))
        context = self._setting.context_index(np.reshape(observation, (self._size, -1)))
        arm = np.array(action, dtype=np.int64).reshape(self._size)
        known = np.full(self._size, np.nan if chance is None else chance, dtype=np.float64)
        self._plays.append((arm, known, context))
        self.start(info)

    def logs(self) -> tuple[PlayLog, ...]:
        """Return the log of each trial."""
        horizon = len(self._plays)
        reward, delivered = np.full((2, self._size, horizon), np.nan)
        for t, (trial, rounds, value, _) in self._feedback:
            reward[trial, rounds], delivered[trial, rounds] = value, t
        action, propensity, context = (np.array(column) for column in zip(*self._plays, strict=True))
        available = np.array(self._available[:horizon])  # (T, B, A), none of the round after the last
        known = self._setting.contexts
        return tuple(
            PlayLog(
                action=action[:, i],
                reward=reward[i],
                propensity=propensity[:, i],
                actions=self._setting.decisions.num_arms,
                context=None if known is None else known[context[:, i]],
                delivered=delivered[i],
                until=float(horizon - 1),
                arms=self._setting.arms,
                available=available[:, i] if len(available) else None,
            )
            for i in range(self._size)
        )


def require_loggable(setting: Any, isolate: bool) -> None:
    """Raise unless plays of a setting can be logged: single arms, whose rewards have rounds."""
    plain = isinstance(setting, Setting) and not (setting.continuous or setting.duel or setting.aggregated)
    what = "False where actions are no single arms, or feedback is a sum of several rounds"
    require(plain, "log", what, True)
    require(not isolate, "log", "False with isolate, which passes on actions alone", True)
