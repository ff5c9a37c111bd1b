"""The arms that may be played in a round, as rules see them; values are computed when they are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..acquisition.candidates import Candidates, RuleMemory
from ..acquisition.incumbents import Incumbent, change_of
from ..beliefs.base import Belief, Ridge
from ..beliefs.ridges import Pulls, pulls
from ..beliefs.safety import Safety
from ..model.choice import only_offered
from ..objectives.base import Objective
from ..validation import PerTrial


class ArmsView(Candidates):
    """Gives rules the posterior at the arms of each trial's context, computed on access.

    Args:
        incumbent, objective: compute the value that EI and PI improve on, and the prices of improvements.
        t: 1, 2, ..., the rounds started since the last restart, (B,).
        draw: makes the generators of the rule in this round, one per trial.
        offered: mask of arms that may be played in this round, (B, A); None: all.
        safety: safe set and cost bounds, where costs must be kept in every round.
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
        return self._belief.mean(self._context)

    @property
    def std(self) -> Floats:
        return self._belief.std(self._context)

    @property
    def gain(self) -> Floats:
        return self._belief.gain

    @property
    def bias(self) -> Floats | float:
        return self._belief.bias

    @property
    def weight_norm(self) -> Floats:
        return self._belief.weight_norm(self._context)

    @property
    def pulls(self) -> list[Pulls]:
        return pulls(self._belief, self._context)

    @property
    def ridges(self) -> list[Ridge]:
        return self._belief.ridges(self._context)

    @property
    def active(self) -> Bools:
        return self._belief.active(self._context)

    @property
    def rngs(self) -> Sequence[np.random.Generator]:
        if self._rngs is None:
            self._rngs = self._draw()
        return self._rngs

    @property
    def incumbent(self) -> Floats:
        values = self.mean
        if getattr(self._incumbent, "of_worth", False):
            values = self._objective.worth(values, self._context, self.t)
        return self._incumbent(self._belief, self._context, only_offered(values, self._offered))

    @property
    def change(self) -> Floats:
        played = self._belief.played_at(self._belief.cells(self._context))
        means = np.where(played, only_offered(self.mean, self._offered), -np.inf)
        return change_of(self._belief, self._context, means)

    @property
    def price(self) -> Floats:
        return self._objective.prices(self._context)

    def half_width(self, bound: PerTrial, delta: PerTrial) -> Floats:
        return self._belief.half_width(self._context, bound, delta)

    def deviation(self) -> Floats:
        return self._belief.deviation(self._context, self._samplers)

    def sample(self, factor: Floats | float = 1.0) -> Floats:
        return self._belief.sample(self._context, self._samplers, factor)

    def sampled_maximum(self) -> Floats:
        return only_offered(self.sample(), self._offered).max(axis=1)

    def drawing(self, trials: Bools) -> ArmsView:
        """Return a copy in which only these trials, (B,), draw samples; other generators do not advance."""
        spare = np.random.default_rng(0)  # its draws are discarded
        samplers = [rng if draws else spare for rng, draws in zip(self._samplers, trials, strict=True)]
        return ArmsView(
            *(self._belief, self._incumbent, self._objective, self._context, self.t, samplers),
            *(lambda: self.rngs, self._offered, self.safety, self.memory),
        )
