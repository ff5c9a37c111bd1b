"""Widths and information gains by name, for options that come from a file."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import is_number, require, require_positive, require_probability, written_as

from ..kernels.amplitude import order_of, unit_kernel
from ..model.model import Model
from ..named import is_name, require_called_with
from . import information_gain
from .base import (
    PAPER_CONSTANT,
    ChangePointWidth,
    CompactWidth,
    FiniteSetWidth,
    FixedWidth,
    Width,
    mean_width,
)
from .bounded_norm import AMMWidth, ImprovedWidth, RealBetaWidth, RKHSWidth, SelfNormalisedWidth
from .information_gain import Gamma, Realised

DMM = "dmm"  # the smallest of several bands: an agent and a rule, but not a width
ELSEWHERE = {  # bands that are valid for the plays of certain agents only
    DMM: ("is no multiple of one std", 'the agent "dmm-ucb", or rule="dmm" of gp-agent'),
    "split": (
        "holds where plays depend on no value",
        'an agent that eliminates: "bpe", "phased-elimination"',
    ),
    "ec": ("covers a published misspecification", 'the agent "ec-gp-ucb"'),
}


def make_width(
    width: Any, model: Model, delta: float, beta_scale: float | None = None, gamma: Any = None
) -> Width:
    """Return the width of a confidence band.

    Args:
        width: a name in `WIDTHS`, a number, or a `Width`; None is "finite-set", and "self-normalised" on a
            box, which holds for every kernel and with contexts.
        beta_scale: factor of beta_t in the widths of Srinivas et al.'s Theorems 1 and 2, and in Avanesov's;
            default 1. Other widths raise an error for it, and likewise for `gamma`.
        gamma: see `make_gamma`; default an upper bound for "rkhs", the realised gain for "self-normalised".
    """
    require_probability("delta", delta)  # unused where the width is a number, but validated
    if width is None:
        width = "self-normalised" if model.setting.continuous else "finite-set"
    options = {"beta_scale": beta_scale, "gamma": gamma}
    given = {name: value for name, value in options.items() if value is not None}
    if is_number(width):
        with written_as({"value": "width"}):
            width = FixedWidth(float(width))
    if isinstance(width, type):
        raise ValueError(f"width must be an object, got the class {width.__name__}; make an object of it")
    if isinstance(width, Width):
        require_called_with("width", width, 2, "called with rounds and gains, (B,) each")
        _require_taken(width, (), given)
        return width
    if is_name(width, *ELSEWHERE):
        reason, instead = ELSEWHERE[width]
        require(False, "width", f'another than "{width}", which {reason}; take {instead}', width)
    known = is_name(width, *WIDTHS)
    require(known, "width", f"a number or one of {', '.join(WIDTHS)}, or a width", width)
    _require_taken(width, takes(width), given)
    with written_as({"scale": "beta_scale", "constant": "beta_scale"}):
        return WIDTHS[width](model, delta, **given)


def takes(width: str) -> tuple[str, ...]:
    """Return the options of a named width in addition to model and delta: its keyword-only arguments."""
    parameters = signature(WIDTHS[width]).parameters.values()
    return tuple(each.name for each in parameters if each.kind is each.KEYWORD_ONLY)


def _require_taken(width: str | Width, taken: Sequence[str], given: Mapping[str, Any]) -> None:
    for name in sorted(given.keys() - set(taken)):
        users = ", ".join(f'"{other}"' for other in WIDTHS if name in takes(other))
        raise ValueError(
            f"{name} must be left out with the width {width!r}, which does not take it, got {given[name]!r}; "
            f"leave it out, or take one of the widths {users}"
        )
    if "beta_scale" in given:
        require_positive("beta_scale", given["beta_scale"], "it is a factor of beta_t, 1 for the theorems")


def make_gamma(gamma: Any, model: Model) -> Gamma:
    """Return the information gain of a width, by a name, a number or a `Gamma`.

    "bound" is the smaller of "greedy" and "spectral"; "rate" has constant 1 and is no bound.
    """
    if is_number(gamma):
        with written_as({"value": "gamma"}):
            return information_gain.ConstantGain(float(gamma))
    if isinstance(gamma, Gamma) and not isinstance(gamma, type):
        require_called_with("gamma", gamma, 2, "called with rounds and gains, (B,) each")
        return gamma
    require(is_name(gamma, *GAMMAS), "gamma", f"a number or one of {', '.join(GAMMAS)}", gamma)
    return GAMMAS[str(gamma)](model)


def improved_width(model: Model, *, gamma: Any = None, delta: float = 0.1, union: int = 1) -> Width:
    """Return the width of IGP-UCB (`union` 1) or GP-TS (2); `gamma` is by default the realised gain."""
    information = make_gamma("realised" if gamma is None else gamma, model)
    return ImprovedWidth(model.rkhs_bound, model.relative_noise, information, delta, union)


def _table(bound: Callable[..., Gamma]) -> Callable[[Model], Gamma]:
    def of_model(model: Model) -> Gamma:
        words = '"realised", "rate" or a number on a box, of which there is no table of points'
        require(not model.setting.continuous, "gamma", words, "a bound")
        return bound(model.gram, model.noise_variance, model.setting.horizon)

    return of_model


GAMMAS: dict[str, Callable[[Model], Gamma]] = {
    "realised": lambda model: Realised(),
    "greedy": _table(information_gain.greedy_bound),
    "spectral": _table(information_gain.spectral_bound),
    "bound": _table(information_gain.upper_bound),
    "rate": lambda model: information_gain.rate_for(model.kernel, model.setting.pairs_width),
    "rate-vakili": lambda model: information_gain.rate_for(model.kernel, model.setting.pairs_width, True),
}


def _finite_set(model: Model, delta: float, *, beta_scale: float = 1.0) -> Width:
    words = '"self-normalised", "compact" or a number on a box'
    require(not model.setting.continuous, "width", words, "finite-set")
    return FiniteSetWidth(model.gram.size, delta, beta_scale)


def _compact(model: Model, delta: float, *, beta_scale: float = 1.0) -> Width:
    bounds = np.column_stack([model.setting.low, model.setting.high])  # type: ignore[list-item]
    unit = unit_kernel(model.kernel, model.prior_std)
    return CompactWidth.for_kernel(unit, bounds, delta=delta, scale=beta_scale)


def _rkhs(model: Model, delta: float, *, gamma: Any = "bound") -> Width:
    return RKHSWidth(model.rkhs_bound, make_gamma(gamma, model), delta)


def _of_gain(
    kind: type[SelfNormalisedWidth], model: Model, delta: float, *, gamma: Any = "realised"
) -> Width:
    return kind.of(model, make_gamma(gamma, model), delta)


def _real_beta(model: Model, delta: float) -> Width:
    return RealBetaWidth.of(model, Realised(), delta, relative_variance=model.relative_variance)


def _constant(model: Model, delta: float) -> Width:
    require(not model.setting.continuous, "width", '"amm" or a number on a box', "constant")
    return FixedWidth(mean_width(model.setting.decisions.num_arms))


def _change_point(model: Model, delta: float, *, beta_scale: float = 1.0) -> Width:
    horizon, dim, constant = model.setting.horizon, model.setting.pairs_width, PAPER_CONSTANT
    return ChangePointWidth(horizon, dim, order_of(model.kernel), np.multiply(beta_scale, constant))


# Builders from the model and delta, with further options by keyword.
WIDTHS: dict[str, Callable[..., Width]] = {
    "finite-set": _finite_set,
    "compact": _compact,
    "rkhs": _rkhs,
    "self-normalised": partial(_of_gain, SelfNormalisedWidth),
    "amm": partial(_of_gain, AMMWidth),
    "real-beta": _real_beta,
    "constant": _constant,
    "change-point": _change_point,
}
