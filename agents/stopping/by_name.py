"""Stopping rules by name, for options that come from a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import isclass
from typing import Any

from bandit_envs.basics.arguments import ArgumentError, is_text, require, require_probability

from ..model.model import Model
from ..named import made, require_called_with
from ..validation import PerTrial
from ..widths.base import Width
from ..widths.by_name import make_width
from .by_change import MinimaGap, Plateau
from .by_price import GradientWorthPrice, ImprovementWorthPrice, IndexAboveMean
from .by_regret import BestArm, Gap, RegretBound
from .outlook import StoppingRule

ARGUMENT = "stopping"
Rules = Callable[[], dict[str, StoppingRule]]  # makes the rules of one trial, by label


def make_rules(stopping: Any, model: Model) -> Rules:
    """Return what makes the stopping rules of a trial.

    Args:
        stopping: a name in `RULES`, a pair of a name and its options, such as ("knowledge-gradient",
            {"price": 0.01}), a `StoppingRule` of one's own, or several: label -> any of these.

    Raises:
        ValueError: no rule has that name or takes that option, or none makes sense in this setting.
    """
    require_lasting(model)
    several = isinstance(stopping, Mapping)
    specs = dict(stopping) if several else {_label(stopping): stopping}
    require(len(specs) > 0, ARGUMENT, "at least one rule", stopping)
    for label in specs:
        require(is_text(label), f"label of {ARGUMENT}", "text in one line", label)

    def rules() -> dict[str, StoppingRule]:
        return {label: _make(spec, model) for label, spec in specs.items()}

    rules()  # raises now rather than at the reset
    return rules


def require_lasting(model: Model) -> None:
    """Raise where one recommendation at the end has no meaning."""
    setting = model.setting
    if setting.has_contexts:
        remedy = "left out with contexts, each of which has a best arm of its own"
        raise ArgumentError(ARGUMENT, f"must be {remedy}; recommend for one context instead")
    if setting.may_change:
        raise ArgumentError(
            ARGUMENT, "must be left out where functions change: what is best now may not stay so"
        )
    if setting.aggregated:
        raise ArgumentError(ARGUMENT, "must be left out where feedback is a sum over unknown rounds")


def _label(stopping: Any) -> str:
    spec = stopping[0] if isinstance(stopping, list | tuple) and stopping else stopping
    return spec if isinstance(spec, str) else getattr(spec, "__name__", type(spec).__name__)


def _make(spec: Any, model: Model) -> Any:
    pair = isinstance(spec, list | tuple) and len(spec) == 2 and isinstance(spec[1], Mapping)
    name, options = spec if pair else (spec, None)
    if isinstance(name, str):
        return made(ARGUMENT, name, RULES, options, model)
    require(not pair, ARGUMENT, f"a pair of a name ({', '.join(RULES)}) and its options", spec)
    require(not isclass(spec), ARGUMENT, f"one of {', '.join(RULES)}, or a rule, an object", spec)
    require_called_with(ARGUMENT, spec, 1, f"one of {', '.join(RULES)}, or a rule called with an outlook")
    return spec


def _width(model: Model, width: Any, delta: float, beta_scale: PerTrial | None) -> Width:
    require_probability("delta", delta)
    return make_width(width, model, delta, beta_scale)


def _gap(
    model: Model, eps: float, width: Any = None, delta: float = 0.1, beta_scale: PerTrial | None = None
) -> StoppingRule:
    return Gap(_width(model, width, delta, beta_scale), eps)


def _best_arm(
    model: Model,
    eps: float,
    width: Any = "amm",
    delta: float = 0.1,
    beta_scale: PerTrial | None = None,
    bands: str = "single",
) -> StoppingRule:
    if model.setting.continuous:
        raise ArgumentError(ARGUMENT, 'must not be "best-arm" on a box; take "gap" or "knowledge-gradient"')
    if bands == "difference" and width not in ELLIPSOIDS:
        words = f'one of {", ".join(ELLIPSOIDS)} with bands="difference", which needs an ellipsoid'
        raise ArgumentError("width", f"must be {words}, got {width!r}")
    return BestArm(_width(model, width, delta, beta_scale), eps, bands)


def _minima_gap(
    model: Model,
    threshold: float | None = None,
    share: float = 0.01,
    reading: str = "wilson",
    width: Any = None,
    delta: float = 0.1,
    beta_scale: PerTrial | None = None,
) -> StoppingRule:
    refused = "on a box" if model.setting.continuous else "with delays" if model.setting.max_delay else ""
    if refused:
        remedy = 'take "gap" or "knowledge-gradient"'
        raise ArgumentError(
            ARGUMENT, f'must not be "minima-gap" {refused}, which compares two rounds; {remedy}'
        )
    return MinimaGap(_width(model, width, delta, beta_scale), threshold, share, reading)


ELLIPSOIDS = ("amm", "self-normalised")
# Builders from the model, with the rule's options.
RULES: dict[str, Callable[..., StoppingRule]] = {
    "knowledge-gradient": lambda model, price: GradientWorthPrice(price),
    "expected-improvement": lambda model, price: ImprovementWorthPrice(price),
    "gittins": lambda model, price: IndexAboveMean(price),
    "gap": _gap,
    "best-arm": _best_arm,
    "regret-bound": lambda model, eps, delta=0.05, error=0.01, most=4096: RegretBound(
        eps, delta, error, most
    ),
    "minima-gap": _minima_gap,
    "plateau": lambda model, rounds=5, share=0.01: Plateau(rounds, share),
}
