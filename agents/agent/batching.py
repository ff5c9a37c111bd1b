"""Agents of one trial each as one agent of B trials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..model.choice import Recommendation
from ..protocol import Shown
from ..validation import require_trials, seeds_of


def _of_each(name: str) -> property:
    """Return the property that stacks an attribute of all agents, (B, ...); None where they lack it."""

    def stacked(batch: SideBySide) -> Any:
        each = [getattr(agent, name, None) for agent in batch.agents]
        return None if each[0] is None else np.array(each)

    return property(stacked, doc=f"`{name}` of each trial, see `GPAgent`; None where the agents have none.")


class SideBySide(Shown):
    """Play a batch of B independent trials, each with its own agent (own kernel or own points)."""

    def __init__(self, agents: Sequence[Any]):
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

    refuted = _of_each("refuted")
    infeasible = _of_each("infeasible")
    infeasible_since = _of_each("infeasible_since")
    certified = _of_each("certified")

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


A = TypeVar("A")


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
