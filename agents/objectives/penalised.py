"""The reward less a penalty for its costs: modelled as one function, or each apart (Shi & Eryilmaz 2022)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np

from bandit_envs.basics.arguments import require_choice, require_integer, require_probability
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.setting import Setting

from ..beliefs.points import Points
from ..kernels.amplitude import unit_kernel
from ..model.defaults import NOISE_FLOOR, DefaultBound, ModelOptions, SharedOptions, require_noise_variance
from ..model.model import Model
from ..model.rounds import Delivery
from ..model.units import PerCost, PriorUnits, Units, centred_model, known_per_cost
from ..named import chosen
from ..options import require_left_out, typed
from ..posteriors import SufficientStatistics
from ..validation import PerTrial, require_costs
from .base import NOTHING, Band, Objective, Revision
from .first_plays import GivenUnits, Ledger, Values, first_plays_of
from .penalties import LinearDual, Multipliers, Penalty, Weights
from .separate_models import IMPROVED, CostModelSpec, SeparateModels

LEAST_SCALE = 1e-150  # below it values could overflow; multipliers are useless long before
EPOCH, FIRST, NOISE_VARIANCE, BOUND = 20, 5, 0.01, DefaultBound(2.0)
PAPER_STEP = 0.5


class Penalised(Objective):
    """y = (w0 f - sum_j w_j h_j - m) / s, whose weights move after every epoch of S rounds.

    Because a posterior mean is linear in the values, the sums of f and of each h_j at each arm suffice to
    compute the values of *all* past plays under new weights. Centre m and scale s are the mean and the std of
    the objective over the first plays, which are uniform, under the weights of the epoch: this is
    pessimistic, because most points are worse than the ones that will be played. Alternatively the user gives
    them, or neither: then m is the prior's and s = w0, which is f - sum_j kappa_j h_j as in the paper. The
    reward and each cost are first divided by their units, the largest prior stds unless the paper is taken
    literally: multipliers, steps and psi have no units.

    Args:
        reuse: True computes the values of all plays anew; False if every epoch has a fresh posterior.
        standardize: True estimates m and s from the first plays.
        given: the user's m and s in prior stds, if any.
        cost_noise: stds of the noise on the costs in these units, (C,); None for the reward's.
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
        self.first_plays = first_plays_of(model, prior, num_trials)
        self.reward_noise = model.noise_std
        self.cost_noise = np.reshape(model.noise_std, (-1, 1)) if cost_noise is None else cost_noise
        self.reuse, self.given, self.prior = reuse, given, prior
        self.standardize, self.epoch = standardize, epoch
        self._unknown = self._units()
        self.centre, self.scale = self._unknown
        size = model.gram.size  # on a box the played points, at first none
        self.ledger = Ledger(num_trials, 1 + num_constraints, size)  # of rewards and transformed costs

    @property
    def weights(self) -> Weights:
        """w0 and w of this epoch."""
        return self.multipliers.weights

    def begin(self) -> Revision:
        return Revision(self._noise())

    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        require_costs(cost, self.multipliers.value.shape[1])
        (reward,), cost = self.prior.of(reward), self.prior.of_costs(cost)
        h = self.multipliers.penalty.transform(cost)
        value = self.weights.reward[trial] * reward - (self.weights.cost[trial] * h).sum(axis=1)
        return (value - self.centre[trial]) / self.scale[trial]

    def receive(self, delivery: Delivery) -> None:
        """Add rewards, transformed costs, and the epoch's costs to their sums."""
        trial = delivery.trial
        (reward,), cost = self.prior.of(delivery.reward), self.prior.of_costs(delivery.cost)
        h = self.multipliers.penalty.transform(cost)
        outcome = np.column_stack([reward, h])
        self.ledger.add(trial, delivery.point, outcome)
        self.multipliers.add(trial, cost)
        self.first_plays.add(trial, delivery.round, outcome)

    def in_reward_units(self, mean: Floats, std: Floats) -> tuple[Floats, Floats]:
        """Return mean and std of w0 f - sum_j w_j h_j; f itself has no model."""
        unit = self.prior.std
        return unit * (self.centre + self.scale * mean), unit * self.scale * std

    def beliefs(self, mean: Floats, std: Floats, points: Points) -> list[Band] | None:
        """Return None, or without costs, where the sum is the reward, its mean and std."""
        if self.multipliers.value.shape[1]:
            return None
        mean, std = self.in_reward_units(mean.T, std.T)
        return [(mean.T, std.T)]

    def end_round(self, rounds: int) -> Revision:
        """Estimate the scale after the first plays; move the multipliers after every epoch."""
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

    def _units(self) -> Units:
        """Return the units of the objective under the weights of the epoch."""
        weight = np.column_stack([self.weights.reward, -self.weights.cost])
        if self.standardize:
            return self.given.completed_by(self.first_plays.units(weight))
        literal = np.maximum(self.weights.reward, LEAST_SCALE)
        return self.given.completed_by(Units(weight @ self.first_plays.prior, literal))

    def _noise(self) -> Floats:
        """Return R_l of the scaled objective, (B,)."""
        noise_std = self.multipliers.penalty.noise_std
        noise = noise_std(self.multipliers.value, self.reward_noise, self.cost_noise)
        return self.weights.reward * noise / self.scale

    def _delivered_plays(self, trial: int, point: Ints) -> SufficientStatistics:
        """Return delivered plays of a trial's points, (u,), and the sums of their scaled values."""
        weight = np.append(self.weights.reward[trial], -self.weights.cost[trial])
        scale = self.scale[trial]
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


class PenalisedOptions(SharedOptions, total=False):
    """Options of agents that keep long-term constraints; `prior_mean` is left out.

    `refit_every` learns a kernel k_l of the objective and its noise at the ends of epochs, once in so many
    rounds, which the paper allows; `rkhs_bound` is B in units of the scaled objective, default 2, which suits
    `reuse` and IGP-UCB; with `reuse=False` or Thompson sampling 1 is better. Other defaults are those of
    `reading="default"`.
    """

    reuse: bool
    """Compute the values of all past plays anew under the new multipliers, instead of the paper's fresh
    posterior in every epoch; default True."""
    models: str
    """"penalised" (one of the objective, as in the paper, the default) or "separate" (one of f and one of
    each g, combined optimistically; they begin no epoch afresh)."""
    standardize: bool
    """Centre and scale the objective by its uniform first plays, and take rewards and costs in prior
    deviations; default True. False is the paper: f - sum_j kappa_j h_j in its own units, under the prior that
    the setting publishes."""
    incumbent_first: bool
    """With `reuse=False`, begin an epoch at the last epoch's best mean; default True."""
    initial: int | None
    """The number of uniform first plays; default None: 5, or all of a shorter epoch."""
    centre: Values | None
    """m, the prior mean of the weighted objective w0 f - sum_j w_j h_j, in its unit; with separate models of
    f and of each g, 1 + C numbers. Default None: what the first plays say."""
    scale: Values | None
    """s, the prior standard deviation of the same; default None: what the first plays say."""
    constraint_prior_std: PerCost | None
    """Prior std of each cost, or of all, its unit with `standardize`; default None: the setting's, else the
    reward's."""
    constraint_noise_std: PerCost | None
    """Standard deviation of the noise on costs, in their unit; default None: the setting's, and where it is
    withheld the reward's."""
    noise_variance: float | None
    """Lambda, in units of the scaled objective, at least 1e-10; default None: 0.01, and without `standardize`
    that of the reward. With separate models it is the reward's, see `SeparateModelsOptions`."""


class PenalisedParts(NamedTuple):
    """Parts of an agent that keeps constraints."""

    model: Model  # of the scaled objective, with a unit kernel
    objective: Callable[..., Objective]  # from the model and the number of trials
    delta: float  # failure probability of one epoch
    incumbent_first: bool | None = None  # of epochs that begin afresh; None where they do not
    separate: bool = False  # whether reward and costs are modelled apart, and learn hyperparameters each


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
            units of f and g. "default" changes five things: the values of all plays are used again under the
            new multipliers (`reuse`); the objective is divided by 1 + sum_j kappa_j, centred and scaled by 5
            uniform first plays, and all quantities are in prior stds (`standardize`, `initial`); with
            `reuse=False` an epoch begins at the last one's best mean (`incumbent_first`); lambda is 0.01 of
            the scaled objective; and the step of the dual is `adaptive_step`, not the experiments' 0.5.
        epoch, delta: see `parts_of`.
        **options: they override the reading.
    """
    taken: Any = {**chosen("reading", reading, READINGS), **options}
    _require_an_effect(options, separate=taken.get("models") == "separate", reuse=taken.get("reuse", True))
    return parts_of(setting, penalty, epoch=epoch, delta=delta, **taken)


def dual(step: float | None, reading: str) -> LinearDual:
    """Return the penalty of Algorithm 3, by default with the reading's step."""
    chosen("reading", reading, READINGS)
    return LinearDual(PAPER_STEP if step is None and reading == "paper" else step)


@typed
def parts_of(
    setting: Setting,
    penalty: Penalty,
    *,
    epoch: int = EPOCH,
    reuse: bool = True,
    delta: float = 0.1,
    models: str = "penalised",
    standardize: bool = True,
    incumbent_first: bool = True,
    initial: int | None = None,
    centre: Values | None = None,
    scale: Values | None = None,
    constraint_prior_std: PerCost | None = None,
    constraint_noise_std: PerCost | None = None,
    noise_variance: float | None = None,
    **options: Unpack[SharedOptions],
) -> PenalisedParts:
    """Return the parts of the default reading, with changes by the options; S and delta as for an agent."""
    require_probability("delta", delta)  # before epochs share it
    require_integer("epoch", epoch, 1, "it is the number of rounds S between two updates")
    require_choice("models", models, ("penalised", "separate"))
    initial = min(FIRST, epoch) if initial is None else initial
    require_integer("initial", initial, 0, "it is the number of uniform first plays")
    if initial > epoch:
        raise ValueError(f"initial must lie in 0..epoch = {epoch}, got {initial}")
    if models == "separate":
        require_own_means(options)
    given = GivenUnits(centre, scale)
    given.require(1 + setting.num_constraints if models == "separate" else 1)
    taken: ModelOptions = {"rkhs_bound": BOUND, **options, "initial": initial}
    if not standardize:
        taken["noise_variance"] = noise_variance
    # Of reward and costs together the noise differs otherwise: R, the largest std, bounds it.
    model = centred_model(replace(setting, noise_profile=None), **taken)
    stds = constraint_prior_std if standardize else 1.0
    prior = PriorUnits.of_setting(setting, model.prior_std if standardize else 1.0, stds)
    cost_noise = prior.of_costs(known_per_cost("constraint_noise_std", setting, constraint_noise_std))
    if standardize:
        model = in_prior_stds(model, NOISE_VARIANCE if noise_variance is None else noise_variance)
    share = delta / (penalty.union * math.ceil(setting.horizon / epoch))
    given = given.in_units(prior.each if models == "separate" else prior.std)
    units: dict[str, Any] = {"standardize": standardize, "given": given, "prior": prior}
    if models == "separate":
        least = None if standardize else NOISE_FLOOR * model.prior_std**2
        assumed = CostModelSpec(**units, noise=cost_noise, least=least, width=IMPROVED, delta=share)
        made = partial(PenalisedModels, penalty=penalty, epoch=epoch, assumed=assumed)
        return PenalisedParts(model, made, share, separate=True)
    made = partial(Penalised, penalty=penalty, epoch=epoch, cost_noise=cost_noise, reuse=reuse, **units)
    return PenalisedParts(model, made, share, None if reuse else incumbent_first)


def _require_an_effect(given: Mapping[str, Any], separate: bool, reuse: bool) -> None:
    """Raise where an option of fresh posteriors is given, but there are none."""
    if separate:
        where, remedy = "with separate models, which are never fresh", 'take models="penalised"'
        require_left_out("reuse", given.get("reuse", True), True, where, remedy)
    if separate or reuse:
        where = "where epochs do not begin with a fresh posterior"
        first = given.get("incumbent_first", True)
        require_left_out("incumbent_first", first, True, where, "take reuse=False")


def require_own_means(options: Mapping[str, Any]) -> None:
    """Raise where fits are asked for what models of reward and costs apart do not learn."""
    for name, default in (("fit_on", "arrived"), ("fit_mean", False)):
        given, where = options.get(name, default), "where reward and costs have separate models"
        remedy = "their prior means are taken from the first delivered plays, or published"
        require_left_out(name, given, default, where, remedy)


def in_prior_stds(model: Model, noise_variance: PerTrial) -> Model:
    """Return the model of an objective in its own prior stds: a unit kernel and one lambda."""
    require_noise_variance(noise_variance, 1.0)
    return replace(
        model,
        kernel=unit_kernel(model.kernel, model.prior_std),
        noise_std=model.relative_noise,
        noise_variance=noise_variance,
    )
