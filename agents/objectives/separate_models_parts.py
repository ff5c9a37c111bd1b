"""The model of the reward and the assumptions about costs, for agents that model them separately."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from bandit_envs.basics.arguments import require_integer, require_probability, written_as
from bandit_envs.problem.setting import Setting

from ..beliefs.by_name import MakeBelief
from ..beliefs.delivered import Delivered
from ..kernels.amplitude import is_found
from ..model.defaults import NOISE_FLOOR, ModelOptions, SharedOptions
from ..model.model import Model
from ..model.units import PerCost, PriorUnits, centred_model, known_per_cost
from ..options import typed
from .first_plays import GivenUnits, Values
from .penalised import BOUND, FIRST, NOISE_VARIANCE, in_prior_stds, require_own_means
from .separate_models import IMPROVED, CostModelSpec

NO_WIDTH = 1.0  # of bands that are not used


class SeparateModelsOptions(SharedOptions, total=False):
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
    centre: Values | None
    """Centre of the reward and of each cost in their units, 1 + C numbers; default None: as `standardize`."""
    scale: Values | None
    """Scale of the reward and of each cost in their units, 1 + C numbers; default None: as `standardize`."""
    constraint_prior_std: PerCost | None
    """Prior std of each cost, or of all, in their units; default None: the setting's, else the reward's."""
    constraint_noise_std: PerCost | None
    """Standard deviation of the noise on costs, in their unit; default None: the setting's.

    Where that is withheld, it is as large a share of a cost's scale as the reward's noise is of the reward's
    scale, and lambda is the reward's.
    """
    noise_variance: float | None
    """Lambda of the reward, in prior variances; default None: 0.01 with `standardize`, else the model's.

    That of a cost is the square of its own noise, but at least 1e-6 of the prior variance as the model's is,
    and with `standardize` at least the reward's: a scale of few plays is rough.
    """


class CostModelOptions(SeparateModelsOptions, total=False):
    """Options of agents that also model each cost."""

    cost_width: Any
    """Width of the costs' bands: "improved" (IGP-UCB, the default), or what `make_width` takes."""
    cost_belief: MakeBelief
    """Builder of each cost's belief from the model and the number of trials; default `Delivered`."""


@typed
def model_and_costs(
    setting: Setting,
    *,
    delta: float = 0.1,
    cost_width: Any = IMPROVED,
    cost_belief: MakeBelief = Delivered,
    standardize: bool | None = None,
    initial: int | None = None,
    centre: Values | None = None,
    scale: Values | None = None,
    constraint_prior_std: PerCost | None = None,
    constraint_noise_std: PerCost | None = None,
    noise_variance: float | None = None,
    **options: Unpack[SharedOptions],
) -> tuple[Model, CostModelSpec]:
    """Return the model of the reward in prior stds, with a unit kernel, and the assumptions about costs.

    All bands share delta alike: one constraint more widens all that depend on it, even if it is never active.
    """
    require_probability("delta", delta)
    require_own_means(options)
    if standardize is None:
        stds = known_per_cost("constraint_prior_std", setting, constraint_prior_std)
        withheld = stds is None and setting.num_constraints > 0
        standardize = withheld or setting.kernel is None or is_found(setting.kernel)
    initial = (FIRST if standardize else 0) if initial is None else initial
    require_integer("initial", initial, 0, "it is the number of uniform first plays")
    given = GivenUnits(centre, scale)
    given.require(1 + setting.num_constraints)
    taken: ModelOptions = {**options, "initial": initial}
    if standardize:
        taken = {"rkhs_bound": BOUND, **taken}
    model = centred_model(replace(setting, noise_profile=None), **taken)
    prior = PriorUnits.of_setting(setting, model.prior_std, constraint_prior_std)
    cost_noise = prior.of_costs(known_per_cost("constraint_noise_std", setting, constraint_noise_std))
    default = NOISE_VARIANCE if standardize else model.relative_variance
    model = in_prior_stds(model, default if noise_variance is None else noise_variance)
    share = delta / (1 + setting.num_constraints)
    least = None if standardize else NOISE_FLOOR
    units = standardize, given.in_units(prior.each), prior
    assumed = CostModelSpec(*units, cost_noise, least, cost_width, share, cost_belief)
    with written_as({"width": "cost_width"}):
        for cost in assumed.models(model, np.ones((1, 1 + setting.num_constraints))) or [model]:
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
    alike = replace(model, setting=replace(setting, noise_profile=None))
    return in_prior_stds(alike, model.relative_variance), assumed
