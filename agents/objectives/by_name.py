"""Constraints by name: the objectives with which an agent keeps costs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Unpack

import numpy as np

from bandit_envs.problem.setting import Setting

from ..model.model import Model
from ..model.units import PerCost, once_model
from ..named import made
from .base import Reward
from .parts import (
    FIRST,
    CostModelOptions,
    PenalisedParts,
    ReadingOptions,
    each_with_own_noise,
    require_own_means,
)
from .penalised import penalised_parts
from .penalties import GROWING, PSI, RHO, UNLIMITED, LinearDual, Multiplicative, Price, Schedule
from .primal_dual import CAP, Dual, Feasible, primal_dual_parts, rectified_parts
from .safe import SafeModelOptions, safe_parts

Options = dict[str, Any]
PAPER_STEP = 0.5  # of the dual in the experiments of Algorithm 3
BY_RULE = "rule"  # the rule reads the beliefs about costs, and nothing changes its scores


def constraint_for(setting: Setting, together: bool = False) -> str:
    """Return the name of a setting's default constraint; see docs/constraints.md and docs/field.md.

    Reward and costs must share one model, be `together`, where scores without a unit cannot be weighed
    against costs.
    """
    if not setting.num_constraints:
        return "none"
    if not together:
        return "config"
    exact = setting.constraint_noise_std is not None and np.all(np.equal(setting.constraint_noise_std, 0))
    return "multiplicative" if exact else "dual"


def _unconstrained(setting: Setting, delta: float, options: Options) -> PenalisedParts:
    return PenalisedParts(Model.of(setting, **options), Reward, delta)


def _dual(
    setting: Setting, delta: float, options: Options, step: float | None = None, **own: Unpack[ReadingOptions]
) -> PenalisedParts:
    penalty = LinearDual(PAPER_STEP if step is None and own.get("reading") == "paper" else step)
    return penalised_parts(setting, penalty, delta=delta, **own, **options)


def _multiplicative(
    setting: Setting,
    delta: float,
    options: Options,
    psi: str = "exponential",
    psi_options: dict[str, float] | None = None,
    **own: Unpack[ReadingOptions],
) -> PenalisedParts:
    penalty = Multiplicative(made("psi", psi, PSI, psi_options))
    return penalised_parts(setting, penalty, delta=delta, **own, **options)


def _rectified(
    schedule: Schedule, setting: Setting, delta: float, options: Options, **own: Unpack[CostModelOptions]
) -> PenalisedParts:
    return rectified_parts(setting, schedule, delta=delta, **own, **options)


def _epbo(
    setting: Setting, delta: float, options: Options, rho: Price = RHO, **own: Unpack[CostModelOptions]
) -> PenalisedParts:
    return rectified_parts(setting, Schedule(rho), delta=delta, **own, **options)


def _pdcbo(
    setting: Setting, delta: float, options: Options, step: float = 1.0, **own: Unpack[CostModelOptions]
) -> PenalisedParts:
    return primal_dual_parts(setting, Dual(step), delta=delta, **own, **options)


def _ckb(
    setting: Setting,
    delta: float,
    options: Options,
    step: float | None = None,
    cap: float = CAP,
    estimate: str = "ucb",
    clip: float | None = None,
    **own: Unpack[CostModelOptions],
) -> PenalisedParts:
    dual = Dual(step, cap, observed=False, estimate=estimate, clip=clip)
    return primal_dual_parts(setting, dual, delta=delta, **own, **options)


def _by_rule(
    setting: Setting, delta: float, options: Options, constraint_noise_std: PerCost | None = None
) -> PenalisedParts:
    require_own_means(options)
    known: Any = {"initial": FIRST, **options}
    model, assumed = each_with_own_noise(once_model(setting, **known), constraint_noise_std, standardize=True)
    objective = partial(Feasible, assumed=assumed, weighs=False)
    return PenalisedParts(model, objective, delta, separate=True)


def _safe(
    setting: Setting,
    delta: float,
    options: Options,
    sets: str = "bands",
    patience: int | None = None,
    **own: Unpack[SafeModelOptions],
) -> PenalisedParts:
    return safe_parts(setting, sets=sets, patience=patience, delta=delta, **own, **options)


# Builders from the setting, the failure probability, the options of the model and the constraint's own.
CONSTRAINTS: dict[str, Callable[..., PenalisedParts]] = {
    "none": _unconstrained,
    "dual": _dual,
    "multiplicative": _multiplicative,
    "config": partial(_rectified, UNLIMITED),
    "rpol": partial(_rectified, GROWING),
    "epbo": _epbo,
    "pdcbo": _pdcbo,
    "ckb": _ckb,
    "safe": _safe,
    BY_RULE: _by_rule,
}
APART = ("config", "rpol", "epbo", "pdcbo", "ckb")  # those that always model reward and costs separately
