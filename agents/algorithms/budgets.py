"""Named algorithms that weigh rewards against the costs of plays: ratio-UCB, EI and KG per cost, PBGI.

The model of the costs has the kernel of the reward's, see `CostBelief`.

Readable form: tests/references/budgets.py.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Unpack

import numpy as np

from bandit_envs.basics.arguments import require_not_negative
from bandit_envs.basics.options import positive
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import Always, WithMargin, make_rule
from ..acquisition.improvement import GittinsIndex, MaxMean, improvable
from ..acquisition.rules import ExpectedImprovement, KnowledgeGradient
from ..agent.assembly import Agent, assemble
from ..beliefs.points import Points
from ..beliefs.safety import CostBand, CostBelief
from ..model.defaults import ModelOptions
from ..model.model import Model
from ..model.rounds import Delivery
from ..objectives.base import Objective, Revision, Reward
from ..options import Delta, require_arms
from ..protocol import handles
from ..widths.base import Width
from ..widths.by_name import make_width

WIDTH = 2.0
LAM, HALVED_LAM = 1e-4, 0.1  # of PBGI and of PBGI-D


class PerCost(Reward):
    """The reward, with a belief about the costs of plays, which no change affects and restarts keep."""

    resumes = False

    def __init__(self, model: Model, num_trials: int):
        super().__init__(model, num_trials)
        self.costs = CostBelief(model, num_trials)
        self._initial = model.initial

    def paid(self, trial: Ints, point: Ints, cost: Floats) -> None:
        self.costs.paid(trial, point, cost)

    def play_costs(self) -> CostBelief:
        return self.costs

    def penalised(self, scores: Floats, points: Points, t: Ints) -> Floats:
        """Return the objective, (B, n); the first plays are uniform, whatever they cost."""
        return np.where(t[:, None] <= self._initial, scores, self.combined(scores, self.costs.at(points), t))

    worth = Objective.unpenalised

    def combined(self, scores: Floats, band: CostBand, t: Ints) -> Floats:
        """Return the objective from scores and the band of the costs, (B, n)."""
        return scores


class Ratio(PerCost):
    """[uf]^+ / max(lk, cost_min), in units of the typical cost: an optimistic reward per unit of cost.

    With bands that hold it is at least rho* = max f / k at the play, so that rho* k(x_t) - f(x_t) <= 2 w_f
    sd_f + rho* 2 w_k sd_k. Arms of negative uf score 0: the budget need not be spent on them.
    """

    def __init__(self, model: Model, num_trials: int, *, width: Any, delta: float):
        super().__init__(model, num_trials)
        of_costs = self.costs.model
        self.width: Width | None = None if of_costs is None else make_width(width, of_costs, delta)

    worth = Objective.worth  # the posterior mean per unit of cost, for whoever plays on

    def combined(self, scores: Floats, band: CostBand, t: Ints) -> Floats:
        belief = self.costs.belief
        width = np.zeros(len(t)) if belief is None or self.width is None else self.width(t, belief.gain)
        tiny = 1e-3 * self.costs.unit  # the least cost where none is published
        return np.maximum(scores, 0.0) * self.costs.unit / np.maximum(band.lower(width), tiny)


class PerCostImprovement(PerCost):
    """log EI - a ln k, or of an unknown k log EI + ln E k^-a; a is 1, or cools to 0 as (B - spent) / B.

    Where the law makes k itself Gaussian, E 1/k does not exist: then it is log EI - a ln E k.
    """

    def __init__(self, model: Model, num_trials: int, *, cooling: bool):
        super().__init__(model, num_trials)
        self.cooling = cooling

    def combined(self, scores: Floats, band: CostBand, t: Ints) -> Floats:
        power = self.costs.left if self.cooling else np.ones_like(self.costs.left)
        return scores + band.log_power(power)


class PerExpectedCost(PerCost):
    """log KG - ln E k: while any play is worth its price, KG > p E k, the one that is played is."""

    def combined(self, scores: Floats, band: CostBand, t: Ints) -> Floats:
        return scores - band.log_expected


class Pandora(PerCost):
    """Prices lam E k of the Gittins index, in prior stds and typical costs.

    `halving` halves lam for the next play whenever the best observed value is above all indices of a choice;
    random first plays, held plays and plays of others have none.
    """

    def __init__(self, model: Model, num_trials: int, *, lam: float, halving: bool):
        super().__init__(model, num_trials)
        self.lam, self.halving = np.full((num_trials, 1), lam), halving
        self._prior_std, self._first = model.prior_std, lam
        self._best, self._top = (np.full(num_trials, -np.inf) for _ in range(2))  # -inf: none in this round

    def prices(self, points: Points) -> Floats:
        band = self.costs.at(points)
        return self._prior_std * self.lam * band.expected / self.costs.unit

    def combined(self, scores: Floats, band: CostBand, t: Ints) -> Floats:
        top = np.maximum(self._top, scores.max(axis=1))
        self._top = np.where(t > self._initial, top, self._top)
        return scores

    def receive(self, delivery: Delivery) -> None:
        np.maximum.at(self._best, delivery.trial, delivery.reward)

    def end_round(self, rounds: int) -> Revision:
        if self.halving:
            self.lam[(self._top > -np.inf) & (self._top < self._best)] /= 2.0
        self._top[:] = -np.inf
        return super().end_round(rounds)

    def forget(self, trial: Ints, rounds: int) -> None:
        self.lam[trial], self._best[trial] = self._first, -np.inf


@handles("delay", "context", "box", "noise", "availability")
def ratio_ucb(
    setting: Setting,
    *,
    width: Any = WIDTH,
    cost_width: Any = None,
    delta: Delta = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """Ratio-UCB: argmax [uf]^+ / max(lk, cost_min), most reward per unit of cost. Ours, for total reward.

    With bands that hold, rho* B - sum f <= sum_t (2 w_f sd_f + rho* 2 w_k sd_k)(x_t) + rho* kmax, rho* = max
    f / k the best rate, as sum_t k >= B - kmax; see `Ratio`. We know of no paper with exactly this rule.
    Rewards must not be negative. Where plays cost nothing it is GP-UCB as long as uf > 0.

    Args:
        width: w_f of the reward's band: a number, "improved" (IGP-UCB) or a width of `make_width`.
        cost_width: w_k of the costs' band, a number or a width of `make_width`; default 2, or the number that
            `width` is.
        delta: failure probability of each of the two bands.
    """
    own = (width if isinstance(width, float | int) else WIDTH) if cost_width is None else cost_width
    rule = make_rule("ucb", width, delta)
    if isinstance(own, float | int):  # in a setting without costs no other code validates it
        require_not_negative("cost_width", own, "it multiplies the std of costs")
    objective = partial(Ratio, width=own, delta=delta)
    return assemble(Model.of(setting, **options), rule, num_trials, objective=objective)


@handles("delay", "context", "box", "noise", "availability")
def ei_per_cost(
    setting: Setting,
    *,
    cooling: bool = True,
    incumbent: str | None = None,
    xi: float = 0.0,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """EI per cost: argmax EI(x) / k(x)^a, with cost cooling a = (B - spent) / B (Lee et al. 2020, CArBO).

    With a = 1 it is EIpu (Snoek et al. 2012). Unknown costs count as E k^-a, as (E k)^-a where the law makes
    them Gaussian. For simple regret at the end of the budget. Cooling starts with the first round; in the
    paper [from memory] it starts after a cheap initial design of B / 8. Under delay only delivered costs
    count as spent. Where plays cost nothing it is GP-EI.

    Args:
        cooling: False takes a = 1, as in settings without a budget.
        incumbent, xi: see `gp_ei`.
    """
    objective = partial(PerCostImprovement, cooling=cooling)
    rule, best = WithMargin(ExpectedImprovement, xi), improvable(incumbent, setting)
    return assemble(Model.of(setting, **options), rule, num_trials, incumbent=best, objective=objective)


@handles("delay", "context", "noise", "availability")
def kg_per_cost(setting: Setting, *, num_trials: int | None = None, **options: Unpack[ModelOptions]) -> Agent:
    """KG per cost: argmax of the two-point knowledge gradient over k(x), exact under noise. Ours.

    Together with the stopping rule "knowledge-gradient" at a price p it earns f(j) - p C, j the play of the
    largest mean and C the costs so far, of at least that after the first play, on average under the right
    prior: it plays only points that are worth their price. Unknown costs count as E k. Where plays cost
    nothing it maximises the knowledge gradient.
    """
    require_arms(setting, 'take "ei-per-cost"; the knowledge gradient compares arms')
    model, rule = Model.of(setting, **options), Always(KnowledgeGradient())
    return assemble(model, rule, num_trials, incumbent=MaxMean, objective=PerExpectedCost)


@handles("delay", "context", "box", "noise", "availability")
def pbgi(
    setting: Setting,
    *,
    lam: Annotated[float, positive("it is the exchange rate of a unit of cost")] | None = None,
    halving: bool = False,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """PBGI: argmax of the root v of EI(x; v) = lam k(x), Pandora's box's Gittins index (Xie et al. 2024).

    Rewards are in prior stds and costs in typical costs, so that lam has no unit; unknown costs count as E k.
    For simple regret at the end of the budget. PBGI-D halves lam for the next play whenever all indices are
    below the best observed value. Where plays cost nothing each counts as a cost of 1.

    Args:
        lam: what a unit of cost is worth; default 1e-4, and 0.1 with `halving`, as in the authors' code.
        halving: PBGI-D.
    """
    lam = (HALVED_LAM if halving else LAM) if lam is None else lam
    objective = partial(Pandora, lam=lam, halving=halving)
    return assemble(Model.of(setting, **options), Always(GittinsIndex()), num_trials, objective=objective)
