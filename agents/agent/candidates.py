"""The arms that may be played in a round, as rules see them; values are computed when they are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..acquisition.candidates import RuleMemory
from ..acquisition.incumbents import Incumbent
from ..beliefs.base import Belief, Ridge
from ..beliefs.ridges import Pulls, pulls
from ..beliefs.safety import Safety
from ..model.choice import only_offered
from ..objectives.base import Objective


class ArmsView:
    """Gives rules the posterior at the arms of each trial's context, computed on access.

    Args:
        incumbent: computes the value that EI and PI improve on.
        objective: knows the prices of improvements, and the worth of means for incumbents that take it.
        t: 1, 2, ..., the rounds started since the last restart, (B,).
        draw: makes the generators of the rule in this round, one per trial.
        offered: mask of arms that may be played in this round, (B, A); None: all.
        safety: safe set and cost bounds, where costs must be kept in every round.
        memory: what the rule has learnt from feedback; None without.
    """

    def __init__(
        self,
        belief: Belief,
        incumbent: Incumbent,
        objective: Objective,
        context: Ints,
        t: Ints,
        samplers: Sequence[np.random.Generator],
        draw: Callable[[], Sequence[np.random.Generator]],
        offered: Bools | None = None,
        safety: Safety | None = None,
        memory: RuleMemory | None = None,
    ):
        self._belief, self._incumbent, self._objective, self._context = belief, incumbent, objective, context
        self.t, self._samplers, self._draw, self._offered = t, samplers, draw, offered
        self.safety, self.memory = safety, memory
        self._rngs: Sequence[np.random.Generator] | None = None

    @property
    def mean(self) -> Floats:
        """Return the posterior mean, (B, A)."""
        return self._belief.mean(self._context)

    @property
    def std(self) -> Floats:
        """Return the posterior standard deviation, (B, A)."""
        return self._belief.std(self._context)

    @property
    def gain(self) -> Floats:
        """Return the realised information gain, (B,)."""
        return self._belief.gain

    @property
    def bias(self) -> Floats | float:
        """Return the amount that pending feedback adds to the width, (B,)."""
        return self._belief.bias

    @property
    def weight_norm(self) -> Floats:
        """Return the norm |a_x| of the mean's weights, (B, A)."""
        return self._belief.weight_norm(self._context)

    @property
    def pulls(self) -> list[Pulls]:
        """Return the influence of each value on the mean, one record per trial, (B,)."""
        return pulls(self._belief, self._context)

    @property
    def ridges(self) -> list[Ridge]:
        """Return mean and std of each regularisation, (B, A) each."""
        return self._belief.ridges(self._context)

    @property
    def active(self) -> Bools:
        """Return which arms may still be optimal, (B, A)."""
        return self._belief.active(self._context)

    @property
    def rngs(self) -> Sequence[np.random.Generator]:
        """Return the rule's own generators, (B,)."""
        if self._rngs is None:
            self._rngs = self._draw()
        return self._rngs

    @property
    def incumbent(self) -> Floats:
        """Return the value to improve on, (B,)."""
        values = self.mean
        if getattr(self._incumbent, "of_worth", False):
            values = self._objective.worth(values, self._context, self.t)
        return self._incumbent(self._belief, self._context, only_offered(values, self._offered))

    @property
    def price(self) -> Floats:
        """Return the least improvement that is worth a play, (B, A)."""
        return self._objective.prices(self._context)

    def deviation(self) -> Floats:
        """Draw one joint posterior sample of f - mean, (B, A)."""
        return self._belief.deviation(self._context, self._samplers)

    def sample(self, factor: Floats | float = 1.0) -> Floats:
        """Draw mean + w (f - mean) of one joint posterior sample of f, (B, A)."""
        return self._belief.sample(self._context, self._samplers, factor)

    def sampled_maximum(self) -> Floats:
        """Draw one joint posterior sample of f and return its largest value that may be played, (B,)."""
        return only_offered(self.sample(), self._offered).max(axis=1)

    def drawing(self, trials: Bools) -> ArmsView:
        """Return a copy in which only these trials, (B,), draw samples; other generators do not advance."""
        spare = np.random.default_rng(0)  # its draws are discarded
        samplers = [rng if draws else spare for rng, draws in zip(self._samplers, trials, strict=True)]
        return ArmsView(
            *(self._belief, self._incumbent, self._objective, self._context, self.t, samplers),
            *(lambda: self.rngs, self._offered, self.safety, self.memory),
        )
