"""Named algorithms for functions outside the space, corrupted rewards and heavy tails.

All are upper confidence bounds that enlarge a valid band of the clean problem; by default that band has the
AMM width.

Readable form: tests/references/robust.py.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Unpack

from bandit_envs.basics.arguments import require_choice
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import WithWidth
from ..acquisition.candidates import Rule
from ..acquisition.robust import CorruptedRewards, ExactMisspecification, Misspecification, RobustUCB
from ..acquisition.rules import UCB
from ..agent.assembly import Agent, assemble
from ..beliefs.delivered import Alike
from ..model.model import Model
from ..model.options import ModelOptions
from ..objectives.robust import Truncated, moment_of, truncation
from ..protocol import handles
from ..validation import PerTrial
from ..widths.base import Width
from ..widths.by_name import make_width
from ..widths.robust import CorruptedWidth, MisspecifiedWidth, TruncatedWidth

EXTRAS = ("sharp", "paper")
EXACT = "exact"


@handles("delay", "context", "box", "availability")
def ec_gp_ucb(
    setting: Setting,
    *,
    eps: PerTrial | None = None,
    extra: str = "sharp",
    width: str | float | Width = "amm",
    delta: PerTrial = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """EC-GP-UCB: a band for functions that are eps from the kernel's space (Bogunovic & Krause 2021).

    Args:
        eps: |f - f_0| <= eps at all points, f_0 of norm B; default the published value, else 0.
        extra: "sharp", the worst case for f_0; "paper", eps sqrt((t - 1) / lambda) sigma; or "exact", the
            worst case for f itself, which is the narrowest band of f at played arms but a poorer rule: it
            favours the other arms.
        width: of the clean band, see `gp_ucb`.
    """
    require_choice("extra", extra, (*EXTRAS, EXACT))
    far = setting.misspecification if eps is None else eps
    rule_of = partial(_misspecified, eps=0.0 if far is None else far, extra=extra, width=width, delta=delta)
    return assemble(Model.of(setting, **options), rule_of, num_trials, belief=Alike)


@handles("delay", "context", "box", "availability")
def rgp_ucb(
    setting: Setting,
    *,
    budget: PerTrial | None = None,
    extra: str = "sharp",
    width: str | float | Width = "amm",
    delta: PerTrial = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """RGP-UCB: a band for rewards that an attacker may change by C in total (Bogunovic et al. 2020).

    Args:
        budget: C; default the published corruption, else 0.
        extra: "sharp", the exact worst case, or "paper", C / sqrt(lambda) sigma.
        width: of the clean band, see `gp_ucb`.
    """
    require_choice("extra", extra, EXTRAS)
    most = setting.corruption if budget is None else budget
    rule_of = partial(_corrupted, budget=0.0 if most is None else most, extra=extra, width=width, delta=delta)
    return assemble(Model.of(setting, **options), rule_of, num_trials, belief=Alike)


@handles("delay", "context", "box", "availability", "horizon")
def tgp_ucb(
    setting: Setting,
    *,
    alpha: float = 1.0,
    moment: float | None = None,
    delta: PerTrial = 0.1,
    num_trials: int | None = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    """TGP-UCB: truncation of rewards with heavy tails (Ray Chowdhury & Gopalan 2019).

    It is for the worst case: on lighter tails its band is several times too wide.

    Args:
        alpha: in (0, 1]: E|y|^(1 + alpha) is finite.
        moment: a bound on it, for y minus the average prior mean; default follows from B and R.
        **options: of the model, see `ModelOptions`; noise_variance is 1 prior variance by default.
    """
    model = Model.of(setting, **options)
    if options.get("noise_variance") is None:
        model = replace(model, noise_variance=max(model.deviation**2, 1e-12))  # a WhiteKernel is the noise
    width_of = partial(_truncated_width, alpha=alpha, moment=moment, delta=delta)
    objective = partial(Truncated, alpha=alpha, moment=moment)
    return assemble(model, WithWidth(UCB, width_of), num_trials, belief=Alike, objective=objective)


def _misspecified(model: Model, *, eps: PerTrial, extra: str, width: Any, delta: PerTrial) -> Rule:
    clean = make_width(width, model, delta)
    if extra == "paper":
        return UCB(MisspecifiedWidth(clean, eps, model.noise_variance))
    return RobustUCB(clean, ExactMisspecification(eps) if extra == EXACT else Misspecification(eps))


def _corrupted(model: Model, *, budget: PerTrial, extra: str, width: Any, delta: PerTrial) -> Rule:
    clean = make_width(width, model, delta)
    if extra == "paper":
        return UCB(CorruptedWidth(clean, budget, model.noise_variance))
    return RobustUCB(clean, CorruptedRewards(budget))


def _truncated_width(model: Model, *, alpha: float, moment: float | None, delta: PerTrial) -> Width:
    largest = truncation(moment_of(model, alpha, moment), alpha, model.setting.horizon)
    return TruncatedWidth(model.rkhs_bound, largest, alpha, model.noise_variance, delta)
