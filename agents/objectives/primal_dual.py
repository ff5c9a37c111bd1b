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
    """phi <- min([phi + step c]^+, cap), phi_1 = 0, in prior stds.

    Args:
        step: eta; None is 1 / sqrt(T).
        cap: rho, the largest multiplier.
        observed: True if c is the sum of the round's delivered costs; False if it is their estimate at the
            play.
        estimate: of the costs, "ucb" (lg), "ts" (one joint sample of N(mu, w^2 k)) or "random" (mu + w Z sd,
            one Z ~ N(0, 1) a round and cost, from memory of RandGP-UCB).
        clip: bound of all estimates around their prior means, in prior stds, which the theory requires [from
            memory]; None for none.
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
        """Return the next multipliers, (B, C)."""
        assert self.step is not None
        return np.clip(phi + self.step * cost, 0.0, self.cap)

    def clipped(self, values: Floats, centre: Floats) -> Floats:
        """Return estimates, (B, A), clipped around their centre, (B, 1)."""
        return values if self.clip is None else centre + np.clip(values - centre, -self.clip, self.clip)


class PrimalDual(EachModelled):
    r"""argmax fhat - sum_j phi_j ghat_j.

    With observed costs and no cap, phi bounds the delivered costs: on every path
    sum_t c_t <= (phi_{T+1} - phi_1) / step. A restart of a trial resets phi, which is our reading, and the
    observed costs of plays that are kept then move it at once, together with those of the next round.

    Args:
        model: of the reward; the costs share its kernel and bound.
        first_plays: store of the uniform first plays.
        assumed: assumptions about the costs.
        dual: defines how the multipliers move.
        rngs: generators of the estimates of costs, one a trial.
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
        """Add the round's delivered costs, if they move the multipliers."""
        if self.dual.observed:
            np.add.at(self._cost_came, trial, cost)

    def deviation(self, j: int, context: Ints) -> Floats:
        """Return v of a cost's estimate mu_j - w_j v, (B, A): a posterior sample, or a std times Z."""
        if self.dual.estimate != "ts":
            return self.stretched(j, super().deviation(j, context))
        rngs = [np.random.default_rng(word) for word in self._words[:, j].tolist()]
        return self.costs[j].deviation(context, rngs)

    def stretched(self, j: int, std: Floats) -> Floats:
        """Return stds times the round's Z, (B, A)."""
        return self._z[:, j, None] * std if self.dual.estimate == "random" else std

    def combined(self, scores: Floats, bands: Iterable[Band], t: Ints) -> Floats:
        """Return fhat - sum_j phi_j ghat_j, (B, A)."""
        worth = self.dual.clipped(scores, self._unknown.centre[:, :1]).copy()
        for j, band in enumerate(bands):
            worth -= self.phi[:, j, None] * self._estimate(j, band, t)
        return worth

    def played(self, point: Ints, t: Ints) -> None:
        """Move the multipliers by the estimates at the plays, before new feedback is learnt."""
        if not self.dual.observed:
            estimates = [self._estimate(j, self._band_at(j, point), t)[:, 0] for j in range(len(self.costs))]
            self._cost_came += np.stack(estimates, axis=1) if estimates else 0.0
        super().played(point, t)

    def move(self, rounds: int) -> bool:
        """Move the multipliers, and draw variates for the next round."""
        self.phi = self.dual.moved(self.phi, self._cost_came)
        self._cost_came[:] = 0.0
        self._draw()
        return self.looks(rounds)

    def forget(self, trial: Ints, rounds: int) -> None:
        """Restart with multipliers of 0."""
        super().forget(trial, rounds)
        self.phi[trial] = self._cost_came[trial] = 0.0

    def _estimate(self, j: int, band: Band, t: Ints) -> Floats:
        return self.dual.clipped(self.lower(j, band, t), self._unknown.centre[:, 1 + j, None])

    def _band_at(self, j: int, point: Ints) -> Band:
        """Return mu_j and v of a cost at one point a trial, (B, 1) each."""
        belief, rows = self.costs[j], np.arange(len(point))
        mean = belief.centre.mean_of(rows, point) + belief.prior_mean[rows, point]
        if self.dual.estimate == "ts":
            context, arm = np.divmod(point, belief.decisions.num_arms)
            return mean[:, None], self.deviation(j, context)[rows, arm, None]
        std = np.sqrt(np.maximum(belief.spread.variance_of(rows, point), 0.0))
        return mean[:, None], self.stretched(j, std[:, None])

    def _draw(self) -> None:
        """Draw the variates of a round, which all calls in the round share."""
        shape = len(self.costs)
        self._z = np.array([rng.standard_normal(shape) for rng in self._rngs])
        self._words = np.array([rng.integers(2**63, size=shape) for rng in self._rngs])


@dataclass(frozen=True)
class OfPrimalDual:
    """Builder of the objective from the model, the number of trials and one generator a trial.

    Args:
        dual: defines how the multipliers move.
        assumed: assumptions about the costs.
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
