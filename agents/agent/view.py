"""What an agent believes about the arms it may play now, in the form that rules read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bandit_envs.basics.types import Floats, Ints

from ..acquisition.incumbents import Incumbent
from ..beliefs.base import Belief


class View:
    """The arms of each trial's context; nothing is computed before it is asked for.

    Args:
        belief: about the reward.
        incumbent: what EI and PI improve on.
        context: of each trial, (B,).
        age: t = 1, 2, ..., the rounds started since the last restart, (B,).
        rngs: generators of samples, one a trial.
    """

    def __init__(
        self,
        belief: Belief,
        incumbent: Incumbent,
        context: Ints,
        age: Ints,
        rngs: Sequence[np.random.Generator],
    ):
        self._belief, self._incumbent, self._context = belief, incumbent, context
        self._age, self._rngs = age, rngs

    @property
    def mean(self) -> Floats:
        """Posterior mean, (B, A)."""
        return self._belief.mean(self._context)

    @property
    def std(self) -> Floats:
        """Posterior standard deviation, (B, A)."""
        return self._belief.std(self._context)

    @property
    def t(self) -> Ints:
        """T = 1, 2, ..., (B,)."""
        return self._age

    @property
    def gain(self) -> Floats:
        """Realised information gain, (B,)."""
        return self._belief.gain

    @property
    def bias(self) -> Floats | float:
        """What pending feedback adds to the width, (B,)."""
        return self._belief.bias

    @property
    def incumbent(self) -> Floats:
        """The value to improve on, (B,)."""
        return self._incumbent(self._belief, self._context, self.mean)

    def deviation(self) -> Floats:
        """Draw one joint posterior sample of f - mean, (B, A)."""
        return self._belief.deviation(self._context, self._rngs)
