"""The reward's estimate less multipliers times the costs' estimates, for costs that balance on average."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, require_choice, require_not_negative, require_positive
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.setting import Setting

from .each_modelled import Band, EachModelled, OfCosts
from .each_modelled_parts import CostModelOptions, each_modelled
from .first_plays import FirstPlays, first_plays_of
from .penalised_parts import PenalisedParts

if TYPE_CHECKING:
    from ..model.model import Model

ESTIMATES = ("ucb", "ts", "random")
CAP = 5.0


@dataclass(frozen=True)
class Dual:
    """phi <- min([phi + step c]^+, cap), phi_1 = 0, in prior deviations.

    Args:
        step: eta; None is 1 / sqrt(T).
        cap: rho, the largest multiplier.
        observed: c is the sum of the costs that come in the round; else their estimate at the play.
        estimate: of the costs, "ucb" (lg), "ts" (one joint sample of N(mu, w^2 k)) or "random" (mu + w Z sd,
            one Z ~ N(0, 1) a round and cost, from memory of RandGP-UCB).
        clip: all estimates lie within so many prior deviations of their prior means, which the theory wants,
            from memory; None is off.
    """

    step: float | None = 1.0
    cap: float = np.inf
    observed: bool = True
    estimate: str = "ucb"
    clip: float | None = None

    def __post_init__(self) -> None:
        require_not_negative("step", 1.0 if self.step is None else self.step, "it moves the multipliers")
        require_not_negative("cap", 1.0 if self.cap == np.inf else self.cap, "it is the largest multiplier")
        require_positive("clip", 1.0 if self.clip is None else self.clip, "it bounds estimates")
        require_choice("estimate", self.estimate, ESTIMATES)

    def moved(self, phi: Floats, cost: Floats) -> Floats:
        """The next multipliers, (B, C)."""
        assert self.step is not None
        return np.clip(phi + self.step * cost, 0.0, self.cap)

    def clipped(self, values: Floats, centre: Floats) -> Floats:
        """Estimates, (B, A), within the bound of their centre, (B, 1)."""
        return values if self.clip is None else centre + np.clip(values - centre, -self.clip, self.clip)


class PrimalDual(EachModelled):
    r"""argmax fhat - sum_j phi_j ghat_j.

    With observed costs and no cap, phi never falls short of what came: on every path
    sum_t c_t <= (phi_{T+1} - phi_1) / step. When a trial starts over phi does so too, which is our reading,
    and the observed costs of plays that are kept move it at once, with those of the next round.

    Args:
        model: of the reward; the costs share its kernel and bound.
        first_plays: the uniform ones.
        assumed: of the costs.
        dual: how the multipliers move.
        rngs: of what costs are drawn with, one a trial.
    """

    def __init__(
        self,
        model: Model,
        first_plays: FirstPlays,
        assumed: OfCosts,
        dual: Dual,
        rngs: Sequence[np.random.Generator],
    ):
        super().__init__(model, len(rngs), first_plays, assumed)
        self.dual, self._rngs = dual, rngs
        self.phi = np.zeros((len(rngs), len(self.costs)))
        self._cost_came = np.zeros_like(self.phi)
        self._draw()

    def observe(self, trial: Ints, cost: Floats) -> None:
        """Add up what comes in the round, where that moves the multipliers."""
        if self.dual.observed:
            np.add.at(self._cost_came, trial, cost)

    def deviation(self, j: int, context: Ints) -> Floats:
        """What a cost's estimate is w times away from its mean, (B, A)."""
        if self.dual.estimate != "ts":
            return self.stretched(j, super().deviation(j, context))
        rngs = [np.random.default_rng(word) for word in self._words[:, j].tolist()]
        return self.costs[j].deviation(context, rngs)

    def stretched(self, j: int, std: Floats) -> Floats:
        """Deviations times the round's Z, (B, A)."""
        return self._z[:, j, None] * std if self.dual.estimate == "random" else std

    def combined(self, scores: Floats, bands: Iterable[Band], t: Ints) -> Floats:
        """Fhat - sum_j phi_j ghat_j, (B, A)."""
        worth = self.dual.clipped(scores, self._unknown.centre[:, :1]).copy()
        for j, band in enumerate(bands):
            worth -= self.phi[:, j, None] * self._estimate(j, band, t)
        return worth

    def played(self, point: Ints, t: Ints) -> None:
        """Move the multipliers by the estimates at the plays, before anything new is known."""
        if not self.dual.observed:
            estimates = [self._estimate(j, self._band_at(j, point), t)[:, 0] for j in range(len(self.costs))]
            self._cost_came += np.stack(estimates, axis=1) if estimates else 0.0
        super().played(point, t)

    def move(self, rounds: int) -> bool:
        """Move the multipliers, and draw for the next round."""
        self.phi = self.dual.moved(self.phi, self._cost_came)
        self._cost_came[:] = 0.0
        self._draw()
        return self.looks(rounds)

    def forget(self, trial: Ints, rounds: int) -> None:
        """Begin with no multipliers too."""
        super().forget(trial, rounds)
        self.phi[trial] = self._cost_came[trial] = 0.0

    def _estimate(self, j: int, band: Band, t: Ints) -> Floats:
        return self.dual.clipped(self.lower(j, band, t), self._unknown.centre[:, 1 + j, None])

    def _band_at(self, j: int, point: Ints) -> Band:
        """Mean of a cost at one point a trial and what its estimate is w times away, (B, 1) each."""
        belief, rows = self.costs[j], np.arange(len(point))
        mean = belief.centre.mean_of(rows, point) + belief.prior_mean[rows, point]
        if self.dual.estimate == "ts":
            context, arm = np.divmod(point, belief.decisions.num_arms)
            return mean[:, None], self.deviation(j, context)[rows, arm, None]
        std = np.sqrt(np.maximum(belief.spread.variance_of(rows, point), 0.0))
        return mean[:, None], self.stretched(j, std[:, None])

    def _draw(self) -> None:
        """The same throughout a round, however often it is asked."""
        shape = len(self.costs)
        self._z = np.array([rng.standard_normal(shape) for rng in self._rngs])
        self._words = np.array([rng.integers(2**63, size=shape) for rng in self._rngs])


@dataclass(frozen=True)
class OfPrimalDual:
    """Builds the objective from the model, the number of trials and one generator a trial.

    Args:
        dual: how the multipliers move.
        assumed: of the costs.
    """

    dual: Dual
    assumed: OfCosts

    def __call__(self, model: Model, num_trials: int, rngs: Sequence[np.random.Generator]) -> PrimalDual:
        """Return the objective of a number of trials."""
        first_plays = first_plays_of(model, self.assumed.prior, num_trials)
        return PrimalDual(model, first_plays, self.assumed, self.dual, rngs)


def primal_dual_parts(
    setting: Setting, dual: Dual, *, delta: float = 0.1, **options: Unpack[CostModelOptions]
) -> PenalisedParts:
    """Return what models reward and costs apart and balances the costs; see `each_modelled`."""
    if dual.estimate == "ts" and setting.continuous:
        raise ArgumentError("estimate", 'must not be "ts" on a box, got "ts"; take "ucb" or "random"')
    step = setting.horizon**-0.5 if dual.step is None else dual.step
    model, assumed = each_modelled(setting, delta=delta, **options)
    return PenalisedParts(model, OfPrimalDual(replace(dual, step=step), assumed), assumed.delta)
