"""What a tuner's agent plays on: parameters as arms, contexts as observations, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.setting import Setting
from bandit_envs.types import Floats

from .plan import Plan
from .scale import Scale
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


class Board:
    """A finite set: points that cover the space, all that was ever played, and the contexts seen so far.

    Kernels see the features of what is used, so that nothing has to be rounded afterwards.

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
        """Whether an agent can be told of some points and contexts."""
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
