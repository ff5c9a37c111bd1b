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
from .first_plays import FirstPlays
from .kernel_shape import unit_kernel
from .model import Model
from .multipliers import Multipliers
from .named_parts import make_gamma
from .objectives import Penalised
from .penalties import Exponential, LinearDual, Multiplicative, Penalty, Polynomial, Psi
from .rule_makers import WithWidth
from .rules import UCB, Thompson
from .separate_models import SeparateModels
from .validation import require_at_least_one
from .widths import ImprovedWidth, Width

EPOCH, FIRST, NOISE_VARIANCE, BOUND = 20, 5, 0.01, 2.0
PSI: dict[str, Callable[..., Psi]] = {"exponential": Exponential, "polynomial": Polynomial}


@handles("delay", "context", "constraint", "box")
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
    if setting.constraint_noise_std:
        _warn_of_noise(setting.constraint_noise_std)
    return _assemble(setting, penalty, epoch, reuse, inner, num_trials, **options)


@handles("delay", "context", "constraint", "box")
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
    initial: int = FIRST,
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
        standardize: centre and scale the objective by its uniform first plays; False is the literal paper.
        incumbent_first: with `reuse=False`, begin an epoch at the last epoch's best mean.
        initial: how many first plays are uniform.
        noise_variance: lambda, in units of the scaled objective.
        **options: of the model; `rkhs_bound` is B in units of the scaled objective, default 2:
            with 1 a run in twenty on the two discs stays in the wrong one.
    """
    if inner not in ("ucb", "thompson"):
        raise ValueError(f"inner must be ucb or thompson, got {inner!r}")
    require_at_least_one("epoch", epoch, "it is the number of rounds S between two updates")
    if models not in ("penalised", "separate"):
        raise ValueError(f"models must be penalised or separate, got {models!r}")
    if models == "separate" and setting.continuous:
        raise ValueError("models must be 'penalised' on a box, got 'separate'")
    if not 0 <= initial <= epoch:
        raise ValueError(f"initial must lie in 0..epoch = {epoch}, got {initial}")
    model = Model.of(
        setting,
        **{"rkhs_bound": BOUND, **options},
        prior_mean=0.0,
        initial=initial,
        noise_variance=noise_variance,
    )
    model = model.with_kernel(unit_kernel(model.kernel, model.deviation))
    share = delta / (penalty.deltas * math.ceil(setting.horizon / epoch))
    objective_of = (
        partial(_separate, penalty=penalty, epoch=epoch, delta=share)
        if models == "separate"
        else partial(
            _penalised,
            penalty=penalty,
            epoch=epoch,
            restart=not reuse,
            incumbent_first=incumbent_first,
            standardize=standardize,
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


def _penalised(model: Model, num_trials: int, penalty: Penalty, epoch: int, **switches: bool) -> Penalised:
    setting = model.setting
    return Penalised(
        Multipliers(penalty, num_trials, setting.num_constraints, epoch),
        FirstPlays(num_trials, 1 + setting.num_constraints, model.initial),
        model.gram.size,  # of a box, what was played so far: nothing
        noise=(model.noise_std, setting.constraint_noise_std or 0.0),
        **switches,
    )


def _separate(model: Model, num_trials: int, penalty: Penalty, epoch: int, delta: float) -> SeparateModels:
    setting = model.setting
    return SeparateModels(
        model,
        Multipliers(penalty, num_trials, setting.num_constraints, epoch),
        FirstPlays(num_trials, 1 + setting.num_constraints, model.initial),
        cost_noise=setting.constraint_noise_std or 0.0,
        delta=delta,
    )


def _warn_of_noise(std: float) -> None:
    warnings.warn(
        f"psi of noisy costs is biased (constraint_noise_std={std:g}); take 'gp-ucb-noisy-constraints'",
        UserWarning,
        stacklevel=3,
    )
