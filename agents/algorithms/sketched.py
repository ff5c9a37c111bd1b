"""Named algorithms that approximate the posterior, for many distinct plays.

The exact posterior keeps about one row of the N points for each of the u distinct plays: O(u N) a round.
A dictionary of m points, about the effective dimension d_eff = tr K (K + lambda I)^-1, costs O(m^2 N), once
a round or once a batch, and a play within a batch O(m N). So `bkb` is faster only for u >> d_eff, at 10^3
distinct plays and more, and `bbkb` somewhat sooner; else `repeat=2` with the exact posterior is simpler and
faster. These agents are marked `approximate`; they play arms alone, and take no `form`, `refit_every` and
`repeat`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Unpack

import numpy as np

from bandit_envs.basics.options import at_least_one, one_of, positive
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import WithWidth
from ..acquisition.rules import UCB
from ..agent.assembly import Agent, assemble
from ..beliefs.base import Belief
from ..model.defaults import ModelOptions
from ..model.model import Model
from ..model.rounds import Delivery
from ..options import require_arms, require_left_out, require_once
from ..posteriors.base import observe
from ..posteriors.sketched import SketchedPosterior
from ..protocol import handles
from ..widths.bounded_norm import BBKBWidth, BKBWidth

READINGS = ("code", "paper")
Size = Annotated[float, positive("it scales the size of dictionaries; the authors take 2 to 10")]


class Sketched(Belief):
    """Belief that learns delivered values with the next dictionary; until then plays only lower variances.

    A dictionary is kept until 1 + the sum of variance / lambda over the plays since it was drawn, with the
    variances of that time, exceeds C, `growth`, as in BBKB; None draws a new one in every round, as in BKB.
    For q, `size`, and `reading` see `chance`.
    """

    def __init__(
        self,
        model: Model,
        num_trials: int,
        rngs: Sequence[np.random.Generator],
        *,
        size: float,
        growth: float | None = None,
        reading: str = "code",
    ):
        noise = np.asarray(model.noise_variance, dtype=np.float64)
        self.sketch = SketchedPosterior(model.gram, noise, num_trials)
        super().__init__(model, self.sketch, self.sketch)
        self._rngs, self._size, self._growth, self._reading = rngs, size, growth, reading
        self._since, self._start = np.ones(num_trials), self.sketch.variance_at(None)

    def play(self, point: Ints) -> None:
        self._since += self._start[self.rows, point] / self.sketch.noise
        self.sketch.play(point)

    def receive(self, delivery: Delivery) -> None:
        trial, point, value = delivery.trial, delivery.point, delivery.reward
        observe(self.sketch, trial, point, self.residual(trial, point, value))
        for i in (self._since > (self._growth or 1.0)).nonzero()[0].tolist():
            self.sketch.renew(i, self.chance(i), self._rngs[i])
            self._start[i], self._since[i] = self.sketch.sketches[i].variance, 1.0

    def chance(self, trial: int) -> Floats:
        """Return the probability with which each point enters the next dictionary, (N,), see `bkb`."""
        plays, noise = self.sketch.count[trial], self.sketch.noise[trial]
        if self._reading == "code":
            return np.minimum(self._size * plays * self.sketch.sketches[trial].variance / noise, 1.0)
        once = np.minimum(self._size * self._start[trial] / noise, 1.0)
        return 1.0 - (1.0 - once) ** plays

    def forget(self, trial: Ints) -> None:
        super().forget(trial)
        self._start[trial], self._since[trial] = self.sketch.gram.diagonal, 1.0

    @property
    def gain(self) -> Floats:
        """Return what replaces the information gain in the width, (B,).

        BKB takes the effective dimension of the plays, BBKB 1/2 sum of log(1 + variance / lambda) over them.
        """
        return self.sketch.effective_dimension if self._growth is None else self.sketch.gain


@handles("delay", "context", "approximate", "availability")
def bkb(
    setting: Setting,
    *,
    size: Size = 10.0,
    reading: Annotated[str, one_of(*READINGS)] = "code",
    delta: float = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """BKB: GP-UCB on an approximate posterior, with a new dictionary a round (Calandriello et al. 2019).

    A point of n plays enters the dictionary with probability min(1, q n variance / lambda), by the variances
    after the round's play, as in the authors' code; or as in Algorithm 1 [memory] each of its plays enters
    with probability min(1, q variance / lambda), by the variances that chose the round's play. For the same
    variances the first is never the smaller (Boole), hence the default.

    Args:
        size: q. That 6 alpha log(4 T / delta) / eps^2, alpha = (1 + eps) / (1 - eps), makes regret a constant
            times GP-UCB's, with d_eff for the gain, is [memory]; the authors' experiments take 2 to 10.
        reading: "code" draws once per point, "paper" once per play.
        delta: failure probability, for such a q; 0.5 in the authors' experiments.
    """
    model, belief = _sketched_model(setting, options), partial(Sketched, size=size, reading=reading)
    return assemble(model, WithWidth(UCB, partial(BKBWidth.of, delta=delta)), num_trials, belief=belief)


@handles("delay", "context", "approximate", "availability")
def bbkb(
    setting: Setting,
    *,
    size: Size = 10.0,
    growth: Annotated[float, at_least_one("a batch ends where variances may have shrunk by it")] = 2.0,
    delta: float = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """BBKB: BKB in batches with frozen means and shrinking variances (Calandriello et al. 2020).

    A batch ends when 1 + the sum of its plays' variances / lambda at its start is more than C.

    Args:
        size: q, see `bkb`.
        growth: C, 2 in the authors' experiments.
        delta: failure probability, for a q as large as the theorem's.
    """
    belief = partial(Sketched, size=size, growth=growth)
    rule_of = WithWidth(UCB, partial(BBKBWidth.of, growth=growth, delta=delta))
    return assemble(_sketched_model(setting, options), rule_of, num_trials, belief=belief)


def _sketched_model(setting: Setting, options: ModelOptions) -> Model:
    require_arms(setting, 'dictionaries are made of them; take "gp-ucb"')
    require_once(options, 'batches are those of "bbkb", and arms are held with exact posteriors')
    for name in ("form", "refit_every", "search"):  # of agents with exact posteriors, or on boxes
        require_left_out(name, options.get(name), None, "with a dictionary", 'leave it out, or take "gp-ucb"')
    return Model.of(setting, **options)
