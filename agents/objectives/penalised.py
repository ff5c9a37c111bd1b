"""The reward less a penalty for its costs: modelled as one function, or each apart (Shi & Eryilmaz 2022)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import Annotated, Any, Unpack

import numpy as np

from bandit_envs.basics.arguments import require_choice
from bandit_envs.basics.options import count
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.setting import Setting

from ..beliefs.points import Points
from ..model.defaults import NOISE_FLOOR
from ..model.model import Model
from ..model.rounds import Delivery
from ..model.units import PriorUnits, Units
from ..named import chosen
from ..options import Delta, require_costs, require_left_out, typed
from ..posteriors import SufficientStatistics
from .base import NOTHING, Band, Objective, Revision
from .first_plays import FirstPlays, GivenUnits, Ledger
from .parts import BOUND, FIRST, PenalisedOptions, PenalisedParts, UnitOptions, in_units, require_own_means
from .penalties import Multipliers, Penalty
from .separate_models import IMPROVED, CostModelSpec, SeparateModels

LEAST_SCALE = 1e-150  # below it values could overflow; multipliers are useless long before
EPOCH = 20

READINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": {
        "reuse": False,
        "models": "penalised",
        "standardize": False,
        "incumbent_first": False,
        "initial": 1,
        "centre": 0.0,
    },
}


class Penalised(Objective):
    """y = (w0 f - sum_j w_j h_j - m) / s, whose weights move after every epoch of S rounds.

    Because a posterior mean is linear in the values, the sums of f and of each h_j at each arm suffice to
    compute the values of *all* past plays under new weights. Centre m and scale s are the mean and the std of
    the objective over the first plays, which are uniform, under the weights of the epoch: this is
    pessimistic, because most points are worse than the ones that will be played. Alternatively the user gives
    them, or neither: then m is the prior's and s = w0, which is f - sum_j kappa_j h_j as in the paper. The
    reward and each cost are first divided by their units, the largest prior stds unless the paper is taken
    literally: multipliers, steps and psi have no units. `given` are the user's m and s in prior stds, and
    `cost_noise` the stds of the noise on costs in these units, (C,), None for the reward's.
    """

    def __init__(
        self,
        model: Model,
        num_trials: int,
        *,
        penalty: Penalty,
        epoch: int,
        reuse: bool,
        standardize: bool,
        given: GivenUnits,
        prior: PriorUnits,
        cost_noise: Floats | None,
    ):
        num_constraints = model.setting.num_constraints
        self.multipliers = Multipliers(penalty, num_trials, num_constraints, epoch)
        self.first_plays = FirstPlays(num_trials, len(prior.centres), model.initial, prior.centres)
        self.reward_noise = model.noise_std
        self.cost_noise = np.reshape(model.noise_std, (-1, 1)) if cost_noise is None else cost_noise
        self.reuse, self.given, self.prior = reuse, given, prior
        self.standardize, self.epoch = standardize, epoch
        self._unknown = self._units()
        self.centre, self.scale = self._unknown
        size = model.gram.size  # on a box the played points, at first none
        self.ledger = Ledger(num_trials, 1 + num_constraints, size)  # of rewards and transformed costs

    def begin(self) -> Revision:
        return Revision(self._noise())

    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        require_costs(cost, self.multipliers.value.shape[1])
        weights, outcome = self.multipliers.weights, self._outcome(reward, self.prior.of_costs(cost))
        value = weights.reward[trial] * outcome[:, 0] - (weights.cost[trial] * outcome[:, 1:]).sum(axis=1)
        return (value - self.centre[trial]) / self.scale[trial]

    def receive(self, delivery: Delivery) -> None:
        trial, cost = delivery.trial, self.prior.of_costs(delivery.cost)
        outcome = self._outcome(delivery.reward, cost)
        self.ledger.add(trial, delivery.point, outcome)
        self.multipliers.add(trial, cost)
        self.first_plays.add(trial, delivery.round, outcome)

    def in_reward_units(self, mean: Floats, std: Floats) -> tuple[Floats, Floats]:
        """Return mean and std of w0 f - sum_j w_j h_j; f itself has no model."""
        unit = self.prior.std
        return unit * (self.centre + self.scale * mean), unit * self.scale * std

    def beliefs(self, mean: Floats, std: Floats, points: Points) -> list[Band] | None:
        if self.multipliers.value.shape[1]:
            return None
        mean, std = self.in_reward_units(mean.T, std.T)
        return [(mean.T, std.T)]

    def end_round(self, rounds: int) -> Revision:
        epoch_ends = self.multipliers.end_round(rounds, self.first_plays.spread)
        moved = self.first_plays.end_with(rounds) | epoch_ends
        if not moved.any():
            return NOTHING
        self.centre, self.scale = self._units().where(moved, Units(self.centre, self.scale))
        if epoch_ends and not self.reuse:
            return Revision(self._noise())
        return Revision(self._noise(), moved.nonzero()[0], self._delivered_plays)

    def forget(self, trial: Ints, rounds: int) -> None:
        self.multipliers.forget(trial)
        self.first_plays.forget(trial, rounds)
        begun = np.isin(np.arange(len(self.centre)), trial)
        self.centre, self.scale = self._unknown.where(begun, Units(self.centre, self.scale))
        self.ledger.forget(trial)

    def _outcome(self, reward: Floats, cost: Floats) -> Floats:
        """Return f, and each h of costs in units, (n,) and (n, C) -> (n, 1 + C)."""
        return np.column_stack([*self.prior.of(reward), self.multipliers.penalty.transform(cost)])

    def _units(self) -> Units:
        weights = self.multipliers.weights
        weight = np.column_stack([weights.reward, -weights.cost])
        if self.standardize:
            return self.given.completed_by(self.first_plays.units(weight))
        literal = np.maximum(weights.reward, LEAST_SCALE)
        return self.given.completed_by(Units(weight @ self.first_plays.prior, literal))

    def _noise(self) -> Floats:
        kappa = self.multipliers
        noise = kappa.penalty.noise_std(kappa.value, self.reward_noise, self.cost_noise)
        return kappa.weights.reward * noise / self.scale

    def _delivered_plays(self, trial: int, point: Ints) -> SufficientStatistics:
        weights, scale = self.multipliers.weights, self.scale[trial]
        weight = np.append(weights.reward[trial], -weights.cost[trial])
        return self.ledger.weighted(trial, point, weight / scale, self.centre[trial] / scale)


class PenalisedModels(SeparateModels):
    """w0 ucb_f - sum_j w_j h(lcb_gj): the optimistic reward less the penalty of optimistic costs."""

    def __init__(
        self, model: Model, num_trials: int, *, penalty: Penalty, epoch: int, assumed: CostModelSpec
    ):
        self.multipliers = Multipliers(penalty, num_trials, model.setting.num_constraints, epoch)
        self.epoch = epoch
        super().__init__(model, num_trials, assumed)

    def observe(self, trial: Ints, cost: Floats) -> None:
        self.multipliers.add(trial, cost)

    def combined(self, scores: Floats, bands: Iterable[Band], t: Ints) -> Floats:
        weights = self.multipliers.weights
        total = weights.reward[:, None] * scores
        for j, band in enumerate(bands):
            lower = self.lower(j, band, t)
            total -= weights.cost[:, j, None] * self.multipliers.penalty.transform(lower)
        return total

    def move(self, rounds: int) -> bool:
        return self.multipliers.end_round(rounds, self.first_plays.spread)

    def forget(self, trial: Ints, rounds: int) -> None:
        self.multipliers.forget(trial)
        super().forget(trial, rounds)


def penalised_parts(
    setting: Setting,
    penalty: Penalty,
    *,
    reading: str = "default",
    epoch: int = EPOCH,
    delta: float = 0.1,
    **options: Unpack[PenalisedOptions],
) -> PenalisedParts:
    """Return the parts of an agent that models f - sum_j kappa_j h_j and moves kappa once an epoch.

    Args:
        penalty: defines how costs enter, and how their multipliers move.
        reading: "paper" plays the argmax of the pseudocode: every epoch begins with a fresh GP(0, k) of the
            objective itself, neither divided by 1 + sum_j kappa_j nor centred nor scaled, with the same k, B
            and lambda; its first play is uniform, because all arms tie; multipliers, psi and step are in the
            units of f and g, and the step of the dual is the experiments' 0.5. "default" takes the defaults
            of `PenalisedOptions`, divides the objective by 1 + sum_j kappa_j, and steps by `adaptive_step`.
        epoch, delta: see `parts_of`.
    """
    taken: Any = {**chosen("reading", reading, READINGS), **options}
    separate, given = taken.get("models") == "separate", {"reuse": True, "incumbent_first": True, **options}
    if separate:
        where, remedy = "with separate models, which are never fresh", 'take models="penalised"'
        require_left_out("reuse", given["reuse"], True, where, remedy)
    if separate or taken.get("reuse", True):
        where = "where epochs do not begin with a fresh posterior"
        require_left_out("incumbent_first", given["incumbent_first"], True, where, "take reuse=False")
    return parts_of(setting, penalty, epoch=epoch, delta=delta, **taken)


@typed
def parts_of(
    setting: Setting,
    penalty: Penalty,
    *,
    epoch: Annotated[int, count("it is the number of rounds S between two updates")] = EPOCH,
    reuse: bool = True,
    delta: Delta = 0.1,
    models: str = "penalised",
    standardize: bool = True,
    incumbent_first: bool = True,
    initial: int | None = None,
    **options: Unpack[UnitOptions],
) -> PenalisedParts:
    """Return the parts of the default reading, with changes by the options; S and delta as for an agent."""
    require_choice("models", models, ("penalised", "separate"))
    separate = models == "separate"
    initial = min(FIRST, epoch) if initial is None else initial
    if separate:
        require_own_means(options)
    quantities, taken = 1 + setting.num_constraints if separate else 1, {"rkhs_bound": BOUND, **options}
    model, given, prior, cost_noise = in_units(
        setting, quantities, standardize, not standardize, initial=initial, **taken
    )
    if initial > epoch:
        raise ValueError(f"initial must lie in 0..epoch = {epoch}, got {initial}")
    share = delta / (penalty.union * math.ceil(setting.horizon / epoch))
    given = given.in_units(prior.each if separate else prior.std)
    units: dict[str, Any] = {"standardize": standardize, "given": given, "prior": prior}
    if separate:
        least = None if standardize else NOISE_FLOOR * model.prior_std**2
        assumed = CostModelSpec(**units, noise=cost_noise, least=least, width=IMPROVED, delta=share)
        made = partial(PenalisedModels, penalty=penalty, epoch=epoch, assumed=assumed)
        return PenalisedParts(model, made, share, separate=True)
    made = partial(Penalised, penalty=penalty, epoch=epoch, cost_noise=cost_noise, reuse=reuse, **units)
    return PenalisedParts(model, made, share, None if reuse else incumbent_first)
