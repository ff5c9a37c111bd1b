"""Agents of one trial each, played as one agent of B trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..model.recommendation import Recommendation
from ..showing import Shown
from ..validation import seeds_of


class OneTrialAgent(Protocol):
    """An agent of one trial, without a trial axis."""

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
        """What to use from now on."""
        ...


class SideBySide(Shown):
    """B trials that share nothing: each has its own kernel or points, and all that follows from them.

    Args:
        agents: one a trial.
    """

    def __init__(self, agents: Sequence[OneTrialAgent]):
        self.agents = list(agents)
        self.num_trials = len(self.agents)

    @property
    def failed_fits(self) -> Ints:
        """Hyperparameter fits that failed, (B,); 0 in agents that learn none."""
        return np.array([getattr(agent, "failed_fits", 0) for agent in self.agents])

    @property
    def privileged(self) -> bool:
        """Whether the agents are meant to see the truth in `info`."""
        return getattr(self.agents[0], "privileged", False)

    @property
    def assumes_bound(self) -> bool:
        """Whether any rests on a bound that was neither given nor published."""
        return any(getattr(agent, "assumes_bound", False) for agent in self.agents)

    @property
    def alarms(self) -> list[list[int]] | None:
        """Rounds after which each trial noticed a change, None if they do not look for any."""
        each = [getattr(agent, "alarms", None) for agent in self.agents]
        return None if each[0] is None else each  # type: ignore[return-value]

    @property
    def refuted(self) -> Bools | None:
        """Whether feedback contradicts what each trial assumes, (B,); None of agents that cannot tell."""
        each = [getattr(agent, "refuted", None) for agent in self.agents]
        return None if each[0] is None else np.array(each, dtype=bool)

    @property
    def infeasible(self) -> Bools | None:
        """Whether nothing that each trial could choose last may keep the costs, (B,); see `GPAgent`."""
        return self._each("infeasible")

    @property
    def infeasible_since(self) -> Ints | None:
        """The round in which each trial first found so, (B,); see `GPAgent`."""
        return self._each("infeasible_since")

    @property
    def certified(self) -> Bools | None:
        """The arms that each trial knows to keep all costs, (B, A); see `GPAgent`."""
        return self._each("certified")

    @property
    def feedback_window(self) -> float | None:
        """How long feedback may take to be learnt, the same in all trials; None if all that comes is."""
        return getattr(self.agents[0], "feedback_window", None)

    def reset(self, seed: Sequence[int]) -> None:
        """Forget everything; B seeds."""
        for agent, each in zip(self.agents, seeds_of(seed, self.num_trials), strict=True):
            agent.reset(each)

    def start(self, info: dict[str, Any]) -> None:
        """Learn which arms the first round has; see `GPAgent`."""
        for i, agent in enumerate(self.agents):
            getattr(agent, "start")(of_trial(info, i))  # noqa: B009 (those that cannot are refused)

    def act(self, observation: Floats) -> Any:
        """Choose for the observed context of each trial, (B, dz) -> arms (B,) or actions (B, d)."""
        return np.array([agent.act(row) for agent, row in zip(self.agents, observation, strict=True)])

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round of each trial."""
        for i, agent in enumerate(self.agents):
            agent.update(observation[i], action[i], reward[i], of_trial(info, i))

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """The arm of the largest posterior mean of each trial; see `GPAgent.recommend`."""
        rows = [None] * self.num_trials if observation is None else list(observation)
        each = [agent.recommend(row, among) for agent, row in zip(self.agents, rows, strict=True)]
        action, point, *known = zip(*each, strict=True)
        mean, std = (None if part[0] is None else np.array(part) for part in known)
        return Recommendation(np.array(action), np.array(point), mean, std)

    def _each(self, name: str) -> Any:
        """An attribute of all trials, (B,); None where they do not have it."""
        each = [getattr(agent, name, None) for agent in self.agents]
        return None if each[0] is None else np.array(each)


def of_trial(info: dict[str, Any], trial: int) -> dict[str, Any]:
    """One trial's part of the `info` of a batch, at every level."""
    return {
        key: of_trial(value, trial) if isinstance(value, dict) else value[trial]
        for key, value in info.items()
    }
