"""Agents of one trial each as one agent of B trials, and agents for boxes that play the nearest arm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting

from ..model.choice import Recommendation, arms_among
from ..protocol import Shown
from ..validation import require_trials, seeds_of


class OneTrialAgent(Protocol):
    """Agents of one trial act and learn without a trial axis."""

    def reset(self, seed: int) -> None:
        """Forget everything."""
        ...

    def act(self, observation: Floats) -> Any:
        """Choose an arm or a point of the box for the observed context, (dz,)."""
        ...

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round."""
        ...

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """Recommend an action for use after the run."""
        ...


class SideBySide(Shown):
    """Play a batch of B independent trials, each with its own agent (own kernel or own points).

    Args:
        agents: one per trial.
    """

    def __init__(self, agents: Sequence[OneTrialAgent]):
        self.agents = list(agents)
        self.num_trials = len(self.agents)

    @property
    def failed_fits(self) -> Ints:
        """Count the hyperparameter fits that failed, (B,); 0 in agents that learn none."""
        return np.array([getattr(agent, "failed_fits", 0) for agent in self.agents])

    @property
    def privileged(self) -> bool:
        """Return True if the agents are meant to see the truth in `info`."""
        return getattr(self.agents[0], "privileged", False)

    @property
    def assumes_bound(self) -> bool:
        """Return True if an agent relies on a default bound, neither given nor published."""
        return any(getattr(agent, "assumes_bound", False) for agent in self.agents)

    @property
    def alarms(self) -> list[list[int]] | None:
        """Return the rounds after which each trial detected a change; None without a detector."""
        each = [getattr(agent, "alarms", None) for agent in self.agents]
        return None if each[0] is None else each  # type: ignore[return-value]

    @property
    def refuted(self) -> Bools | None:
        """Return True where feedback contradicts a trial's assumptions, (B,); None without a test."""
        each = [getattr(agent, "refuted", None) for agent in self.agents]
        return None if each[0] is None else np.array(each, dtype=bool)

    @property
    def infeasible(self) -> Bools | None:
        """Return True where no action of the last choice is feasible, (B,); see `GPAgent`."""
        return self._each("infeasible")

    @property
    def infeasible_since(self) -> Ints | None:
        """Return the first round with `infeasible` true, (B,); see `GPAgent`."""
        return self._each("infeasible_since")

    @property
    def certified(self) -> Bools | None:
        """Return which arms are certified to keep all costs, (B, A); see `GPAgent`."""
        return self._each("certified")

    @property
    def feedback_window(self) -> float | None:
        """Return the largest delay of feedback that is learnt, equal in all trials; None if unlimited."""
        return getattr(self.agents[0], "feedback_window", None)

    def reset(self, seed: Sequence[int]) -> None:
        """Forget everything; takes B seeds."""
        for agent, each in zip(self.agents, seeds_of(seed, self.num_trials), strict=True):
            agent.reset(each)

    def start(self, info: dict[str, Any]) -> None:
        """Learn which arms the first round has; see `GPAgent`."""
        for i, agent in enumerate(self.agents):
            getattr(agent, "start")(of_trial(info, i))  # noqa: B009 (agents without `start` are refused)

    def act(self, observation: Floats) -> Any:
        """Choose for the observed context of each trial, (B, dz) -> arms (B,) or actions (B, d)."""
        return np.array([agent.act(row) for agent, row in zip(self.agents, observation, strict=True)])

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round of each trial."""
        for i, agent in enumerate(self.agents):
            agent.update(observation[i], action[i], reward[i], of_trial(info, i))

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """Recommend the arm of the largest posterior mean in each trial; see `GPAgent.recommend`."""
        rows = [None] * self.num_trials if observation is None else list(observation)
        each = [agent.recommend(row, among) for agent, row in zip(self.agents, rows, strict=True)]
        action, point, *known = zip(*each, strict=True)
        mean, std = (None if part[0] is None else np.array(part) for part in known)
        return Recommendation(np.array(action), np.array(point), mean, std)

    def _each(self, name: str) -> Any:
        """Return an attribute of all trials, (B,); None where they lack it."""
        each = [getattr(agent, name, None) for agent in self.agents]
        return None if each[0] is None else np.array(each)


A = TypeVar("A", bound=OneTrialAgent)


def each_trial(make: Callable[[int], A], num_trials: int | None) -> A | SideBySide:
    """Return the agent of trial 0, or a batch of B agents."""
    require_trials(num_trials)
    if num_trials is None:
        return make(0)
    return SideBySide([make(i) for i in range(num_trials)])


def of_trial(info: dict[str, Any], trial: int) -> dict[str, Any]:
    """Return one trial's entries of the `info` of a batch, nested dicts included."""
    return {
        key: of_trial(value, trial) if isinstance(value, dict) else value[trial]
        for key, value in info.items()
    }


def in_box(setting: Setting) -> Setting:
    """Return the setting with the box around its arms as decision set."""
    mean = float(np.mean(setting.prior_mean))
    return replace(setting, arms=None, prior_mean=mean, noise_profile=None, safe_seed=None)


class NearestArm(Shown):
    """Play one trial of an agent for boxes, which learns the nearest arm's feedback at that arm.

    Args:
        make: builds an agent from the setting of a box.
        setting: with arms.
    """

    num_trials = None

    def __init__(self, make: Callable[[Setting], Any], setting: Setting):
        if setting.continuous:
            raise ValueError("setting must have arms, got a box; the agent plays that itself")
        self.setting, self._box = setting, in_box(setting)
        self.agent = make(self._box)

    @property
    def assumes_bound(self) -> bool:
        """Return True if the agent relies on a default bound, neither given nor published."""
        return getattr(self.agent, "assumes_bound", False)

    def reset(self, seed: int) -> None:
        """Forget everything."""
        self.agent.reset(seed)

    def act(self, observation: Floats) -> int:
        """Choose an arm for the observed context, (dz,)."""
        return self._arm(self.agent.act(observation))

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round."""
        self.agent.update(observation, self._action(action), reward, info)

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """Recommend the arm nearest to the point of the largest mean, with that point's mean and std.

        Args:
            observation: the context; may be left out where there is only one.
            among: the arms to choose from, (n,); default any point of the box.
        """
        actions = None if among is None else self._action(arms_among(among, self.setting.decisions.num_arms))
        best = self.agent.recommend(observation, actions)
        arm = self._arm(best.action)
        return best._replace(action=arm, point=self.setting.to_point(arm))

    def _arm(self, action: Any) -> int:
        return int(self.setting.to_action(self._box.to_point(action)))

    def _action(self, arm: Any) -> Any:
        return self._box.to_action(self.setting.to_point(arm))
