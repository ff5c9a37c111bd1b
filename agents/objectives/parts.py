"""Models of the reward and of each cost, from the setting and the options of agents that keep constraints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from bandit_envs.basics.arguments import require_integer, written_as
from bandit_envs.basics.types import Floats
from bandit_envs.problem.setting import Setting

from ..beliefs.by_name import MakeBelief
from ..beliefs.delivered import Delivered
from ..kernels.amplitude import is_found, unit_kernel
from ..model.defaults import NOISE_FLOOR, DefaultBound, ModelOptions, SharedOptions, require_noise_variance
from ..model.model import Model
from ..model.units import PerCost, PriorUnits, centred_model, known_per_cost
from ..options import Delta, PerTrial, require_left_out, typed
from .base import Objective
from .first_plays import GivenUnits, Values
from .separate_models import IMPROVED, CostModelSpec

FIRST, NOISE_VARIANCE, BOUND = 5, 0.01, DefaultBound(2.0)
NO_WIDTH = 1.0  # of bands that are not used


class CostOptions(SharedOptions, total=False):
    """Options of agents that keep constraints, whatever they model."""

    constraint_prior_std: PerCost | None
    """Prior std of each cost, or of all, its unit with `standardize`; default None: the setting's, else the
    reward's."""
    constraint_noise_std: PerCost | None
    """Std of the noise on costs, in their unit; default None: the setting's.

    Where that is withheld it is the reward's; with models of reward and costs apart it is as large a share of
    a cost's scale as the reward's noise is of the reward's scale, and lambda is the reward's.
    """


class UnitOptions(CostOptions, total=False):
    """Options of agents whose models have a centre and a scale."""

    centre: Values | None
    """m, the prior mean of the weighted objective w0 f - sum_j w_j h_j, in its unit; with separate models of
    the reward and of each cost, 1 + C numbers. Default None: as `standardize` says."""
    scale: Values | None
    """s, the prior standard deviation of the same; default None: as `standardize` says."""
    noise_variance: float | None
    """Lambda, in units of the scaled objective, with separate models of the reward in prior variances; at
    least 1e-10. Default None: 0.01 with `standardize`, else that of the reward.

    That of a cost with a model of its own is the square of its noise, but at least 1e-6 of the prior variance
    as the model's is, and with `standardize` at least the reward's: a scale of few plays is rough.
    """


class PenalisedOptions(UnitOptions, total=False):
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


class ReadingOptions(PenalisedOptions, total=False):
    """Options of agents that follow the paper or depart from it, which override what the reading says."""

    reading: str
    """"paper" plays the pseudocode's argmax; default "default", see `penalised_parts` for what it changes."""
    epoch: int
    """Rounds S between two updates of the multipliers; default 20."""


class PenalisedParts(NamedTuple):
    """Parts of an agent that keeps constraints."""

    model: Model  # of the scaled objective, with a unit kernel
    objective: Callable[..., Objective]  # from the model and the number of trials
    delta: float  # failure probability of one epoch
    incumbent_first: bool | None = None  # of epochs that begin afresh; None where they do not
    separate: bool = False  # whether reward and costs are modelled apart, and learn hyperparameters each


def require_own_means(options: Mapping[str, Any]) -> None:
    """Raise where fits are asked for what models of reward and costs apart do not learn."""
    for name, default in (("fit_on", "arrived"), ("fit_mean", False)):
        given, where = options.get(name, default), "where reward and costs have separate models"
        remedy = "their prior means are taken from the first delivered plays, or published"
        require_left_out(name, given, default, where, remedy)


def with_equal_noise(setting: Setting) -> Setting:
    """Return the setting without noise by arm; a setting without is not checked anew."""
    return setting if setting.noise_profile is None else setting.with_facts(noise_profile=None)


def in_prior_stds(model: Model, noise_variance: PerTrial) -> Model:
    """Return the model of an objective in its own prior stds: a unit kernel and one lambda."""
    require_noise_variance(noise_variance, 1.0)
    return replace(
        model,
        kernel=unit_kernel(model.kernel, model.prior_std),
        noise_std=model.relative_noise,
        noise_variance=noise_variance,
    )


class SeparateModelsOptions(UnitOptions, total=False):
    """Options of agents that model reward and costs apart; `prior_mean` is left out.

    With `refit_every` the reward and each cost learn a kernel and a noise each, by one schedule, and with the
    stds `fit_spread`, `fit_amplitude_spread` and `fit_noise_spread` around each one's own. B stays the same.
    """

    standardize: bool | None
    """Centre and scale reward and costs by uniform first plays; else they are in prior stds around the
    prior mean and 0. Default None: where no kernel is published, or no `constraint_prior_std`.
    `rkhs_bound` is then 2 by default."""
    initial: int | None
    """The number of uniform first plays; default None: 5 with `standardize`, else 0."""


class CostModelOptions(SeparateModelsOptions, total=False):
    """Options of agents that also model each cost."""

    cost_width: Any
    """Width of the costs' bands: "improved" (IGP-UCB, the default), or what `make_width` takes."""
    cost_belief: MakeBelief
    """Builder of each cost's belief from the model and the number of trials; default `Delivered`."""


@typed
def in_units(
    setting: Setting,
    quantities: int,
    standardize: bool,
    literal: bool = False,
    *,
    initial: int,
    centre: Values | None = None,
    scale: Values | None = None,
    constraint_prior_std: PerCost | None = None,
    constraint_noise_std: PerCost | None = None,
    noise_variance: float | None = None,
    **options: Unpack[SharedOptions],
) -> tuple[Model, GivenUnits, PriorUnits, Floats | None]:
    """Return the model of what is modelled, the user's units, prior stds, and in these the noise on costs.

    The model is in prior stds, too; if `literal` all prior stds are 1, and it is in the units of the setting.
    """
    require_integer("initial", initial, 0, "it is the number of uniform first plays")
    given = GivenUnits(centre, scale)
    given.require(quantities)
    taken: ModelOptions = {**options, "initial": initial}
    if literal:
        taken["noise_variance"] = noise_variance
    # Of reward and costs together the noise differs otherwise: R, the largest std, bounds it.
    model = centred_model(with_equal_noise(setting), **taken)
    stds = (1.0, 1.0) if literal else (model.prior_std, constraint_prior_std)
    prior = PriorUnits.of_setting(setting, *stds)
    noise = prior.of_costs(known_per_cost("constraint_noise_std", setting, constraint_noise_std))
    if not literal:
        usual = NOISE_VARIANCE if standardize else model.relative_variance
        model = in_prior_stds(model, usual if noise_variance is None else noise_variance)
    return model, given, prior, noise


@typed
def model_and_costs(
    setting: Setting,
    *,
    delta: Delta = 0.1,
    cost_width: Any = IMPROVED,
    cost_belief: MakeBelief = Delivered,
    standardize: bool | None = None,
    initial: int | None = None,
    **options: Unpack[UnitOptions],
) -> tuple[Model, CostModelSpec]:
    """Return the model of the reward in prior stds, with a unit kernel, and the assumptions about costs.

    All bands share delta alike: one constraint more widens all that depend on it, even if it is never active.
    """
    require_own_means(options)
    if standardize is None:
        stds = known_per_cost("constraint_prior_std", setting, options.get("constraint_prior_std"))
        withheld = stds is None and setting.num_constraints > 0
        standardize = withheld or setting.kernel is None or is_found(setting.kernel)
    initial = (FIRST if standardize else 0) if initial is None else initial
    if standardize:
        options = {"rkhs_bound": BOUND, **options}
    quantities = 1 + setting.num_constraints
    model, given, prior, noise = in_units(setting, quantities, standardize, initial=initial, **options)
    share, least = delta / quantities, None if standardize else NOISE_FLOOR
    units = standardize, given.in_units(prior.each), prior
    assumed = CostModelSpec(*units, noise, least, cost_width, share, cost_belief)
    with written_as({"width": "cost_width"}):
        for cost in assumed.models(model, np.ones((1, quantities))) or [model]:
            assumed.width_of(cost)
    return model, assumed


def each_with_own_noise(
    model: Model,
    constraint_noise_std: PerCost | None,
    *,
    standardize: bool,
    cost_belief: MakeBelief = Delivered,
) -> tuple[Model, CostModelSpec]:
    """Return the model of the reward in prior stds and the assumptions about costs, without bands.

    Lambda of a quantity is the square of its own noise, at least 1e-6 of the prior variance; noise that is
    withheld of costs is as large a share of the prior std as the reward's. The model has a prior mean of 0.
    """
    setting = model.setting
    prior = PriorUnits.of_setting(setting, model.prior_std)
    noise = prior.of_costs(known_per_cost("constraint_noise_std", setting, constraint_noise_std))
    assumed = CostModelSpec(standardize, GivenUnits(), prior, noise, NOISE_FLOOR, NO_WIDTH, 0.1, cost_belief)
    alike = replace(model, setting=with_equal_noise(setting))
    return in_prior_stds(alike, model.relative_variance), assumed
