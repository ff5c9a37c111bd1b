"""The named algorithms for long-term constraints (Shi & Eryilmaz 2022)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from bandit_envs.setting import Setting

from .assembly import Agent, assemble
from .capabilities import handles
from .first_plays import FirstPlays, GivenUnits, Values
from .kernel_shape import unit_kernel
from .model import Model
from .multipliers import Multipliers
from .named_parts import make_gamma
from .objectives import Penalised
from .penalties import Exponential, LinearDual, Multiplicative, Penalty, Polynomial, Psi
from .rule_makers import WithWidth
from .rules import UCB, Thompson
from .separate_models import SeparateModels
from .surrogate_agent import surrogate_model
from .validation import Numeric, require_integer, require_not_negative
from .widths import ImprovedWidth, Width

EPOCH, FIRST, NOISE_VARIANCE, BOUND = 20, 5, 0.01, 2.0
PSI: dict[str, Callable[..., Psi]] = {"exponential": Exponential, "polynomial": Polynomial}


@handles("delay", "context", "constraint")
def gp_ucb_noiseless_constraints(
    setting: Setting,
    *,
    epoch: int = EPOCH,
    psi: str = "exponential",
    psi_options: dict[str, float] | None = None,
    reuse: bool = True,
    inner: str = "ucb",
    num_trials: int | None = None,
    **options: Any,
) -> Agent:
    """Algorithm 2: multiplicative multipliers on psi(g), for constraints that are seen without noise.

    Args:
        setting: what is published of the problem.
        epoch: rounds S between two updates of the multipliers.
        psi: "exponential" (exp(c x)) or "polynomial" ((c x + 1)^n), 1 for x <= 0.
        psi_options: {"c": ..., "n": ...}.
        reuse: recompute the values of all past plays under the new multipliers, instead of the paper's fresh
            posterior in every epoch.
        inner: "ucb" (IGP-UCB) or "thompson" (GP-TS, the paper's Remark 1).
        num_trials: None, or B.
        **options: see `_assemble`, and those of the model.
    """
    if psi not in PSI:
        raise ValueError(f"psi must be one of {', '.join(PSI)}, got {psi!r}")
    penalty = Multiplicative(PSI[psi](**(psi_options or {})))
    given = options.get("constraint_noise_std")
    noise = setting.constraint_noise_std if given is None else given
    if noise:
        _warn_of_noise(noise)
    return _assemble(setting, penalty, epoch, reuse, inner, num_trials, **options)


@handles("delay", "context", "constraint")
def gp_ucb_noisy_constraints(
    setting: Setting,
    *,
    epoch: int = EPOCH,
    step: float = 5.0,
    reuse: bool = True,
    inner: str = "ucb",
    num_trials: int | None = None,
    **options: Any,
) -> Agent:
    """Algorithm 3: linear multipliers by dual descent, for constraints that are seen with noise.

    Args:
        setting: what is published of the problem.
        epoch: rounds S between two updates of the multipliers.
        step: of the dual descent; the paper's experiments take 0.5.
        reuse: as for `gp_ucb_noiseless_constraints`.
        inner: "ucb", or "thompson", which here is an extension of the paper.
        num_trials: None, or B.
        **options: see `_assemble`, and those of the model.
    """
    return _assemble(setting, LinearDual(step), epoch, reuse, inner, num_trials, **options)


def _assemble(
    setting: Setting,
    penalty: Penalty,
    epoch: int,
    reuse: bool,
    inner: str,
    num_trials: int | None,
    *,
    delta: float = 0.1,
    gamma: Any = "realised",
    models: str = "penalised",
    standardize: bool = True,
    incumbent_first: bool = True,
    initial: int | None = None,
    centre: Values | None = None,
    scale: Values | None = None,
    constraint_noise_std: float | None = None,
    noise_variance: float = NOISE_VARIANCE,
    **options: Any,
) -> Agent:
    """Return an agent for a penalised objective.

    Args:
        setting, penalty, epoch, reuse, inner, num_trials: as above.
        delta: failure probability of all epochs together.
        gamma: see `make_gamma`.
        models: "penalised" (one of the objective, as in the paper) or "separate" (one of f and one of each g,
            combined optimistically; `reuse` means nothing there).
        standardize: centre and scale the objective by its uniform first plays; False is the literal paper,
            centre 0 and scale 1.
        incumbent_first: with `reuse=False`, begin an epoch at the last epoch's best mean.
        initial: how many first plays are uniform; default 5, or all of a shorter epoch.
        centre, scale: m and s, in place of what the first plays say: the prior mean and the deviation of the
            weighted objective w0 f - sum_j w_j h_j; with separate models, of f and of each g, 1 + C numbers.
        constraint_noise_std: deviation of the noise on costs; default the setting's, else the reward's.
        noise_variance: lambda, in units of the scaled objective.
        **options: of the model, but for `prior_mean` and `refit_every`; `rkhs_bound` is B in units of the
            scaled objective, default 2, which suits `reuse` and IGP-UCB: with 1 some 4 runs in 50 on the
            two discs stay in the wrong one. With `reuse=False` or Thompson sampling 1 is better there.
    """
    if inner not in ("ucb", "thompson"):
        raise ValueError(f"inner must be ucb or thompson, got {inner!r}")
    require_integer("epoch", epoch, 1, "it is the number of rounds S between two updates")
    if models not in ("penalised", "separate"):
        raise ValueError(f"models must be penalised or separate, got {models!r}")
    initial = min(FIRST, epoch) if initial is None else initial
    require_integer("initial", initial, 0, "it is the number of uniform first plays")
    if initial > epoch:
        raise ValueError(f"initial must lie in 0..epoch = {epoch}, got {initial}")
    given = GivenUnits(
        0.0 if centre is None and not standardize else centre,
        1.0 if scale is None and not standardize else scale,
    )
    given.require(1 + setting.num_constraints if models == "separate" else 1)
    options = {"rkhs_bound": BOUND, **options, "noise_variance": noise_variance, "initial": initial}
    model = surrogate_model(setting, **options)
    model = model.with_kernel(unit_kernel(model.kernel, model.deviation))
    share = delta / (penalty.deltas * math.ceil(setting.horizon / epoch))
    shared = {"given": given, "cost_noise": _cost_noise(model, constraint_noise_std)}
    objective_of = (
        partial(_separate, penalty=penalty, epoch=epoch, delta=share, **shared)
        if models == "separate"
        else partial(
            _penalised,
            penalty=penalty,
            epoch=epoch,
            restart=not reuse,
            incumbent_first=incumbent_first,
            **shared,
        )
    )
    width_of = partial(_width, gamma=gamma, delta=share, union=2 if inner == "thompson" else 1)
    return assemble(
        model,
        WithWidth(Thompson if inner == "thompson" else UCB, width_of),
        num_trials,
        objective=objective_of,
    )


def _width(model: Model, gamma: Any, delta: float, union: int) -> Width:
    return ImprovedWidth(model.rkhs_bound, model.noise_std, make_gamma(gamma, model), delta, union)


def _cost_noise(model: Model, given: float | None) -> Numeric:
    """What is given, else published, else that of the reward."""
    if given is not None:
        require_not_negative("constraint_noise_std", given, "it is a standard deviation")
        return given
    published = model.setting.constraint_noise_std
    return model.noise_std if published is None else published


def _penalised(
    model: Model,
    num_trials: int,
    penalty: Penalty,
    epoch: int,
    given: GivenUnits,
    cost_noise: Numeric,
    **switches: bool,
) -> Penalised:
    setting = model.setting
    return Penalised(
        Multipliers(penalty, num_trials, setting.num_constraints, epoch),
        FirstPlays(num_trials, 1 + setting.num_constraints, model.initial),
        model.gram.size,
        given=given,
        noise=(model.noise_std, cost_noise),
        **switches,
    )


def _separate(model: Model, num_trials: int, penalty: Penalty, epoch: int, **parts: Any) -> SeparateModels:
    setting = model.setting
    return SeparateModels(
        model,
        Multipliers(penalty, num_trials, setting.num_constraints, epoch),
        FirstPlays(num_trials, 1 + setting.num_constraints, model.initial),
        **parts,
    )


def _warn_of_noise(std: float) -> None:
    warnings.warn(
        f"psi of noisy costs is biased (constraint_noise_std={std:g}); take 'gp-ucb-noisy-constraints'",
        UserWarning,
        stacklevel=3,
    )
