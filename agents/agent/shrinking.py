"""An agent whose length-scales shrink while it plays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bandit_envs.basics.arguments import ArgumentError, require_at_least_one, require_not_negative, shown
from bandit_envs.basics.types import Floats, Ints

from ..acquisition.candidates import Rule
from ..beliefs.base import Belief
from ..kernels.shortened import has_length_scale, inflation, shortened
from ..model.bounds import multiple
from ..model.model import Model
from ..model.recommendation import Recommendation
from ..showing import Shown
from .gp_agent import GPAgent

MOST_POWER = 16.0  # T^16 is a number for every horizon that is played


def require_power(name: str, value: Any, remedy: str) -> None:
    """Raise unless t^value is a number that does not fall with t."""
    require_not_negative(name, value, remedy)
    if value > MOST_POWER:
        raise ArgumentError(
            name, f"must be at most {MOST_POWER:g}, a power of t, got {shown(value)}; {remedy}"
        )


@dataclass(frozen=True)
class Growth:
    """g(t) = max(start, t^power): by how much length-scales have shrunk in round t = 1, 2, ...

    Args:
        power: 1/2 in the papers.
        start: at least 1, t_0.
    """

    power: float = 0.5
    start: float = 1.0

    def __post_init__(self) -> None:
        require_power("g", self.power, "length-scales are divided by g(t) = max(start, t^g)")
        require_at_least_one("start", self.start, "length-scales are divided by g(t) = max(start, t^g)")

    def __call__(self, t: int) -> float:
        """Return g(t)."""
        return max(self.start, float(t) ** self.power)


class Shrinking(Shown):
    """Plays an agent under theta_t = theta_0 / g(t) and B_t = b(t) g(t)^(d/2) B_0 (after Berkenkamp 2019).

    The posterior is built again from all plays whenever theta_t has changed.

    Args:
        agent: of theta_0 and B_0, on arms or a box.
        g, b: by how much length-scales shrink, and by how much more the bound on the norm grows.
    """

    privileged = False

    def __init__(self, agent: GPAgent, g: Growth, b: Growth):
        self.agent, self._g, self._b = agent, g, b
        self.setting, self.num_trials, self._first = agent.setting, agent.num_trials, agent.model

    @property
    def model(self) -> Model:
        """What is assumed now."""
        return self.agent.model

    @property
    def rule(self) -> Rule:
        """What scores points now."""
        return self.agent.rule

    @property
    def belief(self) -> Belief:
        """What is believed now."""
        return self.agent.belief

    @property
    def assumes_bound(self) -> bool:
        """Whether it rests on a bound that was neither given nor published."""
        return self.agent.assumes_bound

    def reset(self, seed: int | Sequence[int]) -> None:
        """Forget everything; one integer, or B of them."""
        self.agent.reset(seed)
        self._now = 1.0, 1.0
        self._follow()

    def start(self, info: dict[str, Any]) -> None:
        """Learn which arms the first round has; see `GPAgent`."""
        self.agent.start(info)

    def act(self, observation: Floats) -> Any:
        """Choose an action for the observed context; see `GPAgent`."""
        return self.agent.act(observation)

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round, and go over to the length-scale of the next one."""
        self.agent.update(observation, action, reward, info)
        self._follow()

    def drop(self, rounds: Ints, trial: Ints | None = None) -> None:
        """Forget pending plays whose values will never come; see `GPAgent.drop`."""
        self.agent.drop(rounds, trial)

    def beliefs(self, observation: Floats) -> list[tuple[Floats, Floats]] | None:
        """What is believed of the reward and of each cost; see `GPAgent.beliefs`."""
        return self.agent.beliefs(observation)

    def posterior(self, observation: Floats) -> tuple[Floats, Floats]:
        """See `GPAgent`."""
        return self.agent.posterior(observation)

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """See `GPAgent`."""
        return self.agent.recommend(observation, among)

    def _follow(self) -> None:
        t = self.agent.round + 1
        now = self._g(t), self._b(t)
        if now != self._now:
            self._now = now
            self.agent.remodel(shrunk(self._first, *now, self.agent.model))


def shrunk(first: Model, factor: float, more: float = 1.0, now: Model | None = None) -> Model:
    """The model with length-scales divided by a factor c, and a bound c^(d/2) times as large, and more.

    Args:
        first: the model of theta_0.
        factor: c.
        more: a factor of the bound.
        now: a model of the same agent, of which everything else is taken; default the first.
    """
    scale = factor if has_length_scale(first.kernel) else 1.0
    bound = multiple(first.rkhs_bound, more * inflation(scale, first.setting.pairs_width))
    return replace(now or first, kernel=shortened(first.kernel, scale), rkhs_bound=bound)
