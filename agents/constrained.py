"""The named algorithms for long-term constraints (Shi & Eryilmaz 2022)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from bandit_envs.setting import Setting

from .assembly import Agent, assemble
from .capabilities import handles
from .kernel_shape import unit_kernel
from .model import Model
from .named_parts import make_gamma
from .objectives import Objective, Penalised
from .penalties import Exponential, LinearDual, Multiplicative, Penalty, Polynomial, Psi
from .rules import UCB, Rule, Thompson
from .validation import require_at_least_one
from .widths import ImprovedWidth

EPOCH, FIRST, NOISE_VARIANCE = 20, 5, 0.01
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
    if setting.constraint_noise_std:
        _warn_of_noise(setting.constraint_noise_std)
    return _assemble(setting, penalty, epoch, reuse, inner, num_trials, **options)


@handles("delay", "context", "constraint")
def gp_ucb_noisy_constraints(
    setting: Setting,
    *,
    epoch: int = EPOCH,
    step: float = 2.0,
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
        standardize: centre and scale the objective by its uniform first plays; False is the literal paper.
        incumbent_first: with `reuse=False`, begin an epoch at the last epoch's best mean.
        initial: how many first plays are uniform.
        noise_variance: lambda, in units of the scaled objective.
        **options: of the model; `rkhs_bound` is B in units of the scaled objective, default 1.
    """
    if inner not in ("ucb", "thompson"):
        raise ValueError(f"inner must be ucb or thompson, got {inner!r}")
    require_at_least_one("epoch", epoch, "it is the number of rounds S between two updates")
    if setting.num_constraints < 1:
        raise ValueError("setting must have a constraint, got num_constraints=0; take 'igp-ucb'")
    if not 0 <= initial <= epoch:
        raise ValueError(f"initial must lie in 0..epoch = {epoch}, got {initial}")
    model = Model.of(
        setting,
        **{"rkhs_bound": 1.0, **options},
        prior_mean=0.0,
        initial=initial,
        noise_variance=noise_variance,
    )
    model = model.with_kernel(unit_kernel(model.kernel, model.deviation))
    share = delta / (penalty.deltas * math.ceil(setting.horizon / epoch))
    union = 2 if inner == "thompson" else 1

    def rule(model: Model) -> Rule:
        information = make_gamma(gamma, model)
        width = ImprovedWidth(model.rkhs_bound, model.noise_std, information, share, union)
        return UCB(width) if inner == "ucb" else Thompson(width)

    def objective(model: Model, size: int) -> Objective:
        return Penalised(
            penalty,
            size,
            model.gram.size,
            setting.num_constraints,
            epoch=epoch,
            first=initial,
            restart=not reuse,
            incumbent_first=incumbent_first,
            standardize=standardize,
            noise=(model.noise_std, setting.constraint_noise_std or 0.0),
        )

    return assemble(model, rule, num_trials, objective=objective)


def _warn_of_noise(std: float) -> None:
    warnings.warn(
        f"psi of noisy costs is biased (constraint_noise_std={std:g}); take 'gp-ucb-noisy-constraints'",
        UserWarning,
        stacklevel=3,
    )
