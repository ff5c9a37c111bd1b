"""What a tuner's agent plays on: parameters as arms, contexts as observations, and back."""

from __future__ import annotations

import abc
import inspect
from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Floats
from bandit_envs.problem.setting import Setting

from ..box.search import make_search
from ..capabilities import Features
from ..registry import AgentFactory
from .gate import Gate
from .plan import Plan
from .scale import Scale
from .snapping import Snapping
from .space import Space, Values


class Points:
    """Different points of a space, in the order of their first appearance.

    Args:
        space: of the points.
        given: points, which may repeat.
    """

    def __init__(self, space: Space, given: list[Values]):
        self.space = space
        self.values: list[Values] = []
        self._index: dict[bytes, int] = {}
        for values in given:
            if values not in self:
                self._index[self._key(values)] = len(self.values)
                self.values.append(values)

    def __contains__(self, values: Values) -> bool:
        return self._key(values) in self._index

    def index(self, values: Values) -> int:
        """The place of a point."""
        return self._index[self._key(values)]

    @property
    def features(self) -> Floats:
        """Features of all points, (n, d)."""
        return np.array([self.space.features(values) for values in self.values])

    def _key(self, values: Values) -> bytes:
        return (self.space.features(values) + 0.0).tobytes()  # + 0.0: no negative zeros


class Board(abc.ABC):
    """The setting that an agent is made for, and how questions and answers are translated."""

    setting: Setting

    @abc.abstractmethod
    def has(self, played: list[Values], contexts: list[Values]) -> bool:
        """Whether an agent can be told of some points and contexts."""

    @abc.abstractmethod
    def observation(self, context: Values) -> Floats:
        """What the agent sees of a context."""

    @abc.abstractmethod
    def action(self, parameters: Values) -> Any:
        """The agent's name for a point."""

    @abc.abstractmethod
    def parameters(self, action: Any) -> Values:
        """The point of an action."""

    @abc.abstractmethod
    def opened(self, action: Any, gate: Gate) -> Any:
        """An action, or where the gate is closed there, one in its place."""

    @abc.abstractmethod
    def around(self, point: Floats, gate: Gate) -> Floats:
        """Features of points that may be asked for in the place of one, (n, d)."""

    def narrow(self, agent: Any, gate: Gate) -> None:  # noqa: B027 (the search of a box looks at the gate)
        """Let an agent that can choose among some points choose among those that are open."""

    def among(self, gate: Gate) -> Any:
        """The actions among which to recommend one, None for all."""
        return

    def make_agent(self, factory: AgentFactory, gate: Gate) -> Any:
        """The agent that plays here."""
        return factory(self.setting)


class FiniteBoard(Board):
    """Points that cover the space, all that was ever played, and the contexts seen so far.

    Args:
        plan: says what is tuned.
        scale: of the values.
        played, contexts: those that the set must have.
    """

    def __init__(self, plan: Plan, scale: Scale, played: list[Values], contexts: list[Values]):
        self.arms = Points(plan.parameters, [*plan.parameters.spread(plan.num_arms), *played])
        self.contexts = Points(plan.contexts, contexts)
        self.setting = Setting(
            arms=self.arms.features,
            low=np.zeros(plan.parameters.dim),
            high=np.ones(plan.parameters.dim),
            contexts=self.contexts.features if plan.contexts.kinds else None,
            **plan.published(scale),
        )

    def has(self, played: list[Values], contexts: list[Values]) -> bool:
        """Whether all of them are in the set."""
        return all(each in self.arms for each in played) and all(each in self.contexts for each in contexts)

    def observation(self, context: Values) -> Floats:
        """What the agent sees of a context."""
        return self.setting.scaled_contexts[self.contexts.index(context)]

    def action(self, parameters: Values) -> Any:
        """The arm of a point."""
        return self.arms.index(parameters)

    def parameters(self, action: Any) -> Values:
        """The point of an arm."""
        return dict(self.arms.values[int(action)])

    def opened(self, action: Any, gate: Gate) -> Any:
        """The arm, or the nearest that is open."""
        arms = self.arms.features
        return action if gate.admits(arms[[int(action)]])[0] else gate.nearest(arms[int(action)], arms)

    def around(self, point: Floats, gate: Gate) -> Floats:
        """All arms."""
        return self.arms.features

    def narrow(self, agent: Any, gate: Gate) -> None:
        """See `Board`; agents that have no `offer` are corrected afterwards."""
        if hasattr(agent, "offer"):
            agent.offer(self._open(gate))

    def among(self, gate: Gate) -> Any:
        """The arms that are open."""
        return np.flatnonzero(self._open(gate))

    def _open(self, gate: Gate) -> Bools:
        """Which arms are open, (A,); where none is, those that are likeliest to succeed."""
        probability = gate.probability(self.arms.features)
        return probability >= min(gate.bar, probability.max())


class BoxBoard(Board):
    """The box of all features, where only possible points are looked at.

    Args:
        plan: says what is tuned.
        scale: of the values.
    """

    def __init__(self, plan: Plan, scale: Scale):
        self.plan = plan
        contexts = plan.contexts.dim
        bounds = {"context_low": np.zeros(contexts), "context_high": np.ones(contexts)} if contexts else {}
        dim = plan.parameters.dim
        self.setting = Setting(low=np.zeros(dim), high=np.ones(dim), **bounds, **plan.published(scale))

    def has(self, played: list[Values], contexts: list[Values]) -> bool:
        """Always: a box has everything."""
        return True

    def observation(self, context: Values) -> Floats:
        """The features of a context, or what is shown where there are none."""
        return self.plan.contexts.features(context) if self.plan.contexts.kinds else np.zeros(1)

    def action(self, parameters: Values) -> Any:
        """The place of a point in [-1, 1]^d."""
        return self.setting.to_action(self.plan.parameters.features(parameters))

    def parameters(self, action: Any) -> Values:
        """The nearest possible point."""
        return self.plan.parameters.values(self.setting.to_point(action))

    def opened(self, action: Any, gate: Gate) -> Any:
        """The action, or the nearest one that is open."""
        point = self.plan.parameters.snap(self.setting.to_point(action)[None])
        return action if gate.admits(point)[0] else self.setting.to_action(gate.nearest(point[0]))

    def around(self, point: Floats, gate: Gate) -> Floats:
        """Some nearby, and some anywhere."""
        return gate.around(point)

    def make_agent(self, factory: AgentFactory, gate: Gate) -> Any:
        """The agent that plays here, with a search that snaps where it takes one."""
        if not takes_search(factory):
            return factory(self.setting)
        search = Snapping(self.plan.parameters, make_search(factory.options.get("search")), gate=gate)
        return AgentFactory(factory.make, {**factory.options, "search": search})(self.setting)


def board(plan: Plan, scale: Scale, played: list[Values], contexts: list[Values]) -> Board:
    """Return a box where there are too many points for a set, if the agent plays boxes; else a set.

    Where there is a clock every question has another context, of which a set would have to be made anew.
    """
    features = getattr(plan.factory.make, "features", Features())
    if features.box and (plan.clocked or plan.parameters.size > plan.num_arms):
        return BoxBoard(plan, scale)
    return FiniteBoard(plan, scale, played, contexts)


def takes_search(factory: AgentFactory) -> bool:
    """Whether an agent can be told how to search a box: our Gaussian-process agents hand options on.

    Those of other libraries, which say what they require, search it in their own way.
    """
    if hasattr(factory.make, "requires"):
        return False
    arguments = inspect.signature(factory.make).parameters.values()
    return any(each.name == "search" or each.kind is each.VAR_KEYWORD for each in arguments)
