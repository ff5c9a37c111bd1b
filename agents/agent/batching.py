"""A batch of one-trial agents, played as one agent of B trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..model.recommendation import Recommendation
from ..showing import Shown
from ..validation import seeds_of


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


def of_trial(info: dict[str, Any], trial: int) -> dict[str, Any]:
    """Return one trial's entries of the `info` of a batch, nested dicts included."""
    return {
        key: of_trial(value, trial) if isinstance(value, dict) else value[trial]
        for key, value in info.items()
    }
