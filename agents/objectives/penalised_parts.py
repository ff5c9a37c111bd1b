"""Models of one penalised objective, and objectives in epochs, from the setting and an agent's options."""

from __future__ import annotations

import math
from functools import partial
from typing import Annotated, Any, Unpack

from bandit_envs.basics.arguments import require_choice, require_integer
from bandit_envs.basics.options import count
from bandit_envs.problem.setting import Setting

from ..model.defaults import NOISE_FLOOR, ModelOptions, SharedOptions
from ..model.units import PerCost, PriorUnits, centred_model, known_per_cost
from ..named import chosen
from ..options import Delta, require_left_out, typed
from .first_plays import GivenUnits, Values
from .parts import (
    BOUND,
    FIRST,
    NOISE_VARIANCE,
    CostOptions,
    PenalisedParts,
    in_prior_stds,
    require_own_means,
    with_equal_noise,
)
from .penalised import Penalised, PenalisedModels
from .penalties import LinearDual, Penalty
from .separate_models import IMPROVED, CostModelSpec

EPOCH = 20
PAPER_STEP = 0.5

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


class PenalisedOptions(CostOptions, total=False):
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
    noise_variance: float | None
    """Lambda, in units of the scaled objective, at least 1e-10; default None: 0.01, and without `standardize`
    that of the reward. With separate models it is the reward's, see `SeparateModelsOptions`."""


class ReadingOptions(PenalisedOptions, total=False):
    """Options of agents that follow the paper or depart from it, which override what the reading says."""

    reading: str
    """"paper" plays the pseudocode's argmax; default "default", see `penalised_parts` for what it changes."""
    epoch: int
    """Rounds S between two updates of the multipliers; default 20."""


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
    """
    taken: Any = {**chosen("reading", reading, READINGS), **options}
    separate = taken.get("models") == "separate"
    if separate:
        where, remedy = "with separate models, which are never fresh", 'take models="penalised"'
        require_left_out("reuse", options.get("reuse", True), True, where, remedy)
    if separate or taken.get("reuse", True):
        first = options.get("incumbent_first", True)
        where = "where epochs do not begin with a fresh posterior"
        require_left_out("incumbent_first", first, True, where, "take reuse=False")
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
    epoch: Annotated[int, count("it is the number of rounds S between two updates")] = EPOCH,
    reuse: bool = True,
    delta: Delta = 0.1,
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
    model = centred_model(with_equal_noise(setting), **taken)
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
