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
from gpbandits.evaluation.safety import reach_of
from gpbandits.evaluation.trace import Trace, Traits, without_oracle
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
        size, longer = divmod(len(self.seeds), min(pieces, len(self.seeds)))
        parts, start = [], 0
        while start < len(self.seeds):
            end = start + size + (len(parts) < longer)
            parts.append(self._replace(first_trial=self.first_trial + start, seeds=self.seeds[start:end]))
            start = end
        return parts


class Stage:
    """A stage is an environment that is made once and shared by several agents."""

    def __init__(self, environment: EnvLike, keywords: Mapping[str, Any]):
        self.environment, self.keywords = environment, keywords
        self.env: Any = make(environment, **keywords)
        require_bandit(self.env)
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
            trace.end()
        traits = trace.traits if writer is None else trace.traits._replace(logs=writer.logs())
        return trace.record(_of_trials(env, "worst_regret", num_trials)), traits


def _of_trials(env: Any, name: str, num_trials: int | None) -> Floats | None:
    """Return an attribute of each trial for evaluators, (B, T); None of an environment without it."""
    if num_trials:
        return np.stack(env.get_attr(name))
    return env.get_wrapper_attr(name)[None] if env.has_wrapper_attr(name) else None


def require_bandit(env: Any) -> None:
    """Raise unless an environment publishes a setting."""
    bandit = env.has_wrapper_attr("setting")
    require(bandit, "environment", "a bandit, with an attribute `setting` for agents", env)


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
            _check_earned(reward, info)
        if watch is not None:
            watch(info)
        seen = info if trace.privileged else without_oracle(info)
        resumed = perf_counter()
        agent.update(observation, action, reward, seen)
        trace.seconds += perf_counter() - resumed + decided - start
        observation, done = following, _ended(terminated, truncated)


def _check_earned(reward: Any, info: dict[str, Any]) -> None:
    """Raise unless the rewards and feedback of a foreign environment are finite."""
    given = np.asarray(reward)
    finite = given.dtype.kind in "biuf" and bool(np.isfinite(given).all())
    require(finite, "reward of the environment", "finite", reward)
    Feedback.arrived(info)


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
        self._setting, self._size, self._batched = setting, num_trials or 1, num_trials is not None
        self._context: list[Ints] = []  # (B,) of each round
        self._action: list[Ints] = []
        self._propensity: list[Floats] = []
        self._available: list[Bools] = []  # (B, A) of each round; of volatile arms alone
        self._feedback: list[tuple[int, Feedback]] = []  # with its round

    def start(self, info: dict[str, Any]) -> None:
        """Keep which arms the next round has, from the `info` of a reset or a round."""
        if "action_mask" in info:
            self._available.append(np.reshape(info["action_mask"], (self._size, -1)) == 1)

    def note(self, agent: BaseAgent, observation: Any, action: Any, info: dict[str, Any]) -> None:
        """Keep a round: the context, the arm, the agent's propensity and what was delivered."""
        chance = agent.propensity(observation, action)
        shown = np.reshape(observation, (self._size, -1))
        self._feedback.append((len(self._action), Feedback.arrived(info)))
        self._context.append(self._setting.context_index(shown))
        self._action.append(np.array(action, dtype=np.int64).reshape(self._size))
        unknown = np.full(self._size, np.nan)
        self._propensity.append(unknown if chance is None else np.reshape(chance, self._size).astype(float))
        self.start(info)

    def logs(self) -> tuple[PlayLog, ...]:
        """Return the log of each trial."""
        horizon = len(self._action)
        reward, delivered = np.full((2, self._size, horizon), np.nan)
        for t, (trial, rounds, value, _) in self._feedback:
            reward[trial, rounds], delivered[trial, rounds] = value, t
        columns = np.array(self._action), np.array(self._propensity), np.array(self._context)
        available = np.array(self._available[:horizon])  # (T, B, A), none of the round after the last
        known = self._setting.contexts
        return tuple(
            PlayLog(
                action=columns[0][:, i],
                reward=reward[i],
                propensity=columns[1][:, i],
                actions=self._setting.decisions.num_arms,
                context=None if known is None else known[columns[2][:, i]],  # type: ignore[arg-type]
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
