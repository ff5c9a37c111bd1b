"""Named algorithms for delayed feedback.

With contexts they are the contextual algorithms (CGB-SDF, Verma et al. 2022, section 5): points are
(context, arm) pairs. `gp_ucb` under delay learns from delivered feedback and ignores pending plays.

Readable forms: tests/references/delayed.py, randomised.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Annotated, Any, Unpack

from bandit_envs.basics.arguments import require, require_choice, written_as
from bandit_envs.basics.options import whole
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import Always, Starting, WithWidth
from ..acquisition.candidates import Rule
from ..acquisition.rules import UCB, PosteriorVariance, Thompson
from ..agent.assembly import Agent, assemble
from ..beliefs.censored import Censored, largest_shifted
from ..beliefs.imputed import FILL_INS, Hallucinated, Imputed
from ..model.defaults import ModelOptions
from ..model.model import Model
from ..named import is_name
from ..options import typed
from ..protocol import handles, states_propensities
from ..widths.base import FixedWidth, Width
from ..widths.bounded_norm import DelayedWidth
from ..widths.by_name import make_gamma, make_width
from .classic import WidthOptions, upper_bound


class CensoredOptions(ModelOptions, total=False):
    """Options of agents whose pending plays count as some value: of that, of the width and of the model."""

    window: float | None
    """m, in rounds or the units of the published query times; default None: the 95 % quantile of the
    published law of delays, or the largest possible delay where no law is published."""
    width: str | float | Width
    """beta_t: "delayed" (Theorem 1, for lambda > 1), a name of `make_width`, or a number; default 1.0 as in
    the paper's experiments."""
    reward_bound: float | None
    """B_y, which bounds the shifted |y|; default None: `largest_shifted` with "delayed", and with another
    width one prior std, the B_y = 1 of the paper's experiments. 0 leaves the bias out: with a width of 1
    GP-TS-SDF then draws from the posterior itself, a variant without nu_t."""
    fill_in: str
    """The value of a pending play: "zero" (default), "mean" (posterior mean) or "nearest"."""
    noisy: bool
    """Whether sigma has the noise in it, as libraries predict it; see `Censored`; default False."""
    delta: float
    """Failure probability of the width; default 0.1."""
    gamma: Any
    """Information gain of the width; default None: its own, and the realised one with "delayed"."""


@handles("delay", "context", "box", "availability")
def gp_ucb_sdf(
    setting: Setting, *, num_trials: int | None = None, **options: Unpack[CensoredOptions]
) -> Agent:
    """GP-UCB-SDF: argmax mu + (beta_t + bias) sigma, pending values 0 (Verma et al. 2022, Algorithm 1)."""
    return _censoring(setting, UCB, 2, num_trials, **options)


@states_propensities
@handles("delay", "context", "box", "availability")
def gp_ts_sdf(
    setting: Setting, *, num_trials: int | None = None, **options: Unpack[CensoredOptions]
) -> Agent:
    """GP-TS-SDF: argmax of one sample of GP(mu, (beta_t + bias)^2 k) (Verma et al. 2022); as `gp_ucb_sdf`."""
    return _censoring(setting, Thompson, 4, num_trials, **options)


@typed
def _censoring(
    setting: Setting,
    rule: Callable[[Width], Rule],
    union: int,
    num_trials: int | None,
    *,
    window: float | None = None,
    width: str | float | Width = 1.0,
    reward_bound: float | None = None,
    fill_in: str = "zero",
    noisy: bool = False,
    delta: float = 0.1,
    gamma: Any = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    one = window is None or isinstance(window, Real)
    require(one, "window", "one number, the same in all trials", window)
    require_choice("fill_in", fill_in, ("zero", *FILL_INS))
    filling = Censored if fill_in == "zero" else partial(Imputed, fill=FILL_INS[fill_in])
    bounding = is_name(width, "delayed")
    belief = partial(filling, window=window, reward_bound=reward_bound, noisy=noisy, bounding=bounding)
    if bounding:
        width_of = partial(_delayed_width, reward_bound, delta, "realised" if gamma is None else gamma, union)
    else:
        width_of = partial(make_width, width, delta=delta, gamma=gamma)
    return assemble(Model.of(setting, **options), WithWidth(rule, width_of), num_trials, belief=belief)


def _delayed_width(
    reward_bound: float | None, delta: float, gamma: Any, union: int, model: Model
) -> DelayedWidth:
    information = make_gamma(gamma, model)
    bound = (largest_shifted(model) if reward_bound is None else reward_bound) / model.prior_std
    return DelayedWidth(model.rkhs_bound, model.relative_noise, bound, information, delta, union)


@handles("delay", "context", "box", "noise", "availability")
def gp_bucb(
    setting: Setting,
    *,
    width: str | float | Width = 1.0,
    start: Annotated[int, whole(0, "it is the number of first rounds of uncertainty sampling")] = 0,
    num_trials: int | None = None,
    **options: Unpack[WidthOptions],
) -> Agent:
    """GP-BUCB: mean of the delivered feedback, std of all plays (Desautels et al. 2014, Algorithm 1).

    Args:
        width: a name of `make_width` or a number; the theory multiplies it by exp(C).
        start: rounds of uncertainty sampling at the beginning, which keep C small.
    """
    rule, parts = partial(_ucb_after, start), {"belief": Hallucinated}
    return upper_bound(setting, num_trials, parts, rule=rule, width=width, **options)


def _ucb_after(start: int, width: Width) -> Rule:
    return Starting(start, PosteriorVariance(), UCB(width)) if start else UCB(width)


@states_propensities
@handles("delay", "context", "box", "noise", "availability")
def gp_bts(
    setting: Setting, *, scale: float = 1.0, num_trials: int | None = None, **options: Unpack[ModelOptions]
) -> Agent:
    """GP-BTS: samples N(mu of delivered feedback, v^2 k of all plays), v = `scale` (Verma et al. 2022)."""
    with written_as({"value": "scale"}):
        rule = Thompson(FixedWidth(scale))
    return assemble(Model.of(setting, **options), Always(rule), num_trials, belief=Hallucinated)


@states_propensities
@handles("delay", "context", "box", "noise", "availability")
def asy_ts(
    setting: Setting, *, scale: float = 1.0, num_trials: int | None = None, **options: Unpack[ModelOptions]
) -> Agent:
    """Asy-TS: samples N(mu, v^2 k) of the delivered feedback, v = `scale` (Kandasamy et al. 2018)."""
    with written_as({"value": "scale"}):
        rule = Thompson(FixedWidth(scale))
    return assemble(Model.of(setting, **options), Always(rule), num_trials)
