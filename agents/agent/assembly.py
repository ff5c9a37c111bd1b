"""A named algorithm as an agent: on arms or a box, for one trial or B, each with its own numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from bandit_envs.basics.options import require_one_a_trial
from bandit_envs.basics.types import Floats, Ints

from ..acquisition.candidates import Rule
from ..model.choice import Recommendation
from ..model.model import Model
from ..options import require_trials, seeds_of
from ..protocol import BaseAgent, adapted
from ..restarts.alarms import CalibratedAlarm
from ..stopping.by_name import Stops, joined_stops
from .assumptions import FORM, Learnt
from .book import plays_of
from .gp_agent import GPAgent
from .repeating import repeating

A = TypeVar("A")


def _of_each(name: str) -> Any:
    """Return the property that stacks an attribute of all agents, (B, ...); None where it is None."""

    def stacked(batch: TrialList) -> Any:
        each = [getattr(agent, name) for agent in batch.agents]
        return None if each[0] is None else np.array(each)

    return property(stacked, doc=f"`{name}` of each trial, see `GPAgent`; None where the agents have none.")


def of_first(name: str) -> Any:
    """Return the property that is an attribute of the first agent, equal in all."""
    return property(
        lambda batch: getattr(batch.agents[0], name), doc=f"`{name}` of the first, see `GPAgent`."
    )


class TrialList(BaseAgent):
    """Play a batch of B independent trials, each with its own agent (own kernel or own points)."""

    def __init__(self, agents: Sequence[Any]):
        self.agents: list[Any] = list(map(adapted, agents))
        self.num_trials = len(self.agents)

    @property
    def assumes_bound(self) -> bool:
        """Return True if an agent relies on a default bound, neither given nor published."""
        return any(agent.assumes_bound for agent in self.agents)

    @property
    def alarms(self) -> list[list[int]] | None:
        """Return the rounds after which each trial detected a change; None without a detector."""
        return self._each(lambda agent: agent.alarms)

    privileged = of_first("privileged")
    feedback_window = of_first("feedback_window")
    takes_stopping = of_first("takes_stopping")
    unit_is_known = of_first("unit_is_known")
    failed_fits = _of_each("failed_fits")
    refuted = _of_each("refuted")
    infeasible = _of_each("infeasible")
    infeasible_since = _of_each("infeasible_since")
    certified = _of_each("certified")

    @property
    def stops(self) -> Stops | None:
        """Return when each rule of the option `stopping` first said stop; None without the option."""
        each = self._each(lambda agent: agent.stops)
        return None if each is None else joined_stops(each)

    def _each(self, ask: Callable[..., Any], *rows: Any) -> list[Any] | None:
        """Ask every agent about its own trial's rows, (B, ...) each; None where the agents do not say."""
        each = [ask(agent, *own) for agent, *own in zip(self.agents, *rows, strict=True)]
        return None if each[0] is None else each

    def reset(self, seed: Any) -> None:
        for agent, each in zip(self.agents, seeds_of(seed, self.num_trials), strict=True):
            agent.reset(each)

    def start(self, info: dict[str, Any]) -> None:
        for i, agent in enumerate(self.agents):
            agent.start(of_trial(info, i))

    def offer(self, arms: Any) -> bool:
        each = np.broadcast_to(arms, (self.num_trials, np.shape(arms)[-1]))
        return all(agent.offer(own) for agent, own in zip(self.agents, each, strict=True))

    def act(self, observation: Floats) -> Any:
        return np.array([agent.act(row) for agent, row in zip(self.agents, observation, strict=True)])

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        for i, agent in enumerate(self.agents):
            agent.update(observation[i], action[i], reward[i], of_trial(info, i))

    def propensity(self, observation: Floats, action: Any) -> Floats | None:
        """Return the probability of each trial's arm, (B,); None where the agents do not say."""
        each = self._each(lambda agent, *own: agent.propensity(*own), observation, action)
        return None if each is None else np.array(each, dtype=np.float64)

    def drop(self, rounds: Ints, trial: Ints | None = None) -> None:
        trial, rounds = plays_of(rounds, trial)
        for i in np.unique(trial).tolist():
            self.agents[i].drop(rounds[trial == i])

    def posterior(self, observation: Floats) -> tuple[Floats, Floats]:
        """Return mean and std of the arms' mean rewards, (B, A) each; see `GPAgent.posterior`."""
        return _stacked(self._each(lambda agent, row: agent.posterior(row), observation))

    def beliefs(self, observation: Floats) -> list[tuple[Floats, Floats]] | None:
        """Return mean and std of reward and costs in each trial, (B, A) each; see `GPAgent.beliefs`."""
        each = self._each(lambda agent, row: agent.beliefs(row), observation)
        return None if each is None else [_stacked(quantity) for quantity in zip(*each, strict=True)]

    def believed(self, observation: Floats, action: Any) -> tuple[Floats, Floats]:
        """Return mean and std of one action per trial, (B,) each; see `GPAgent.believed`."""
        mean, std = _stacked(self._each(lambda agent, *own: agent.believed(*own), observation, action))
        return mean[:, 0], std[:, 0]

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        rows = [None] * self.num_trials if observation is None else list(observation)
        each = [agent.recommend(row, among) for agent, row in zip(self.agents, rows, strict=True)]
        action, point, *known = zip(*each, strict=True)
        mean, std = (None if part[0] is None else np.array(part) for part in known)
        return Recommendation(np.array(action), np.array(point), mean, std)


def _stacked(each: Any) -> tuple[Floats, Floats]:
    mean, std = (np.stack(part) for part in zip(*each, strict=True))
    return mean, std


def each_trial(make: Callable[[int], A], num_trials: int | None) -> A | TrialList:
    """Return the agent of trial 0, or a batch of B agents."""
    require_trials(num_trials)
    if num_trials is None:
        return make(0)
    return TrialList([make(i) for i in range(num_trials)])


def each_model(model: Model, make: Callable[[Model], A], num_trials: int | None) -> A | TrialList:
    """Return the agent of trial 0, or a batch of B agents, each made from the model of its trial."""
    _require_per_trial(model, num_trials)
    return each_trial(lambda trial: make(model.of_trial(trial)), num_trials)


def _require_per_trial(model: Model, num_trials: int | None) -> None:
    for name in PER_TRIAL:
        require_one_a_trial(name, getattr(model, name), num_trials or 1)


def of_trial(info: dict[str, Any], trial: int) -> dict[str, Any]:
    """Return one trial's entries of the `info` of a batch, nested dicts included."""
    return {
        key: of_trial(value, trial) if isinstance(value, dict) else value[trial]
        for key, value in info.items()
    }


def part_of_trial(part: Any, trial: int) -> Any:
    """Return a part with a trial's own model in place of that of the batch, also in a partial function."""
    if isinstance(part, Model | CalibratedAlarm):
        return part.of_trial(trial)
    if not isinstance(part, partial):
        return part
    keywords = {name: part_of_trial(value, trial) for name, value in part.keywords.items()}
    return partial(part.func, *(part_of_trial(value, trial) for value in part.args), **keywords)


PER_TRIAL = ("noise_std", "noise_variance", "rkhs_bound")  # of a model
Agent = GPAgent | TrialList


def assemble(
    model: Model,
    rule_of: Callable[[Model], Rule],
    num_trials: int | None = None,
    kind: Callable[..., GPAgent] = GPAgent,
    **parts: Any,
) -> Agent:
    """Return the agent of a model and a rule, which is made again whenever the model changes.

    Of B trials it is one agent where trials share kernel and arms, and an agent per trial where each learns
    its own kernel or has its own points, as on a box. `parts` are a belief, an incumbent and the others, see
    `GPAgent`.
    """
    _require_per_trial(model, num_trials)
    given = {"rule_of": rule_of, **repeating(model, rule_of(model), parts)}
    if not model.setting.continuous and model.learning is None:
        return kind(model, num_trials=num_trials, **given)
    make: Callable[..., GPAgent] = kind
    if model.learning is not None:
        model, make = replace(model, form=model.form or FORM), partial(make, assumptions=Learnt)

    def of_trial(trial: int) -> GPAgent:
        own = {name: part_of_trial(part, trial) for name, part in given.items()}
        return make(model.of_trial(trial), **own)

    return each_trial(of_trial, num_trials)
