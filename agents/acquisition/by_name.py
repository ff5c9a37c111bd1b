"""Acquisition rules by name, and rules of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

from bandit_envs.basics.arguments import require_probability

from ..model.model import Model
from ..named import made, require_no_options
from ..widths.base import Width
from ..widths.by_name import improved_width, make_width
from .candidates import Rule
from .dmm import dmm
from .of_model import Always, WithMargin, WithWidth
from .randomised import EIMS, PIMS, OfSize
from .rules import (
    UCB,
    ExpectedImprovement,
    PosteriorMean,
    PosteriorVariance,
    ProbabilityOfImprovement,
    RandomUCB,
    Thompson,
)

MakeRule = Callable[[Model], Rule]
IMPROVED = "improved"  # the width of IGP-UCB and GP-TS
WITH_WIDTH = ("ucb", "thompson", "random-ucb")
UNITLESS = ("ei", "pi", "pims", "eims")  # their scores are logarithms or multiples of the std


def make_rule(rule: Any, width: Any, delta: float, options: Any = None) -> MakeRule:
    """Return the builder of the rule from the model.

    Args:
        rule: a name in `RULES`, or a `Rule`: any callable that turns `Candidates` into scores, (B, A).
        width: of "ucb", "thompson" and "random-ucb": "improved", or a width of `make_width`. It must be left
            out with other rules, which have none or their own.
        delta: failure probability of the width.
        options: of a named rule.
    """
    require_probability("delta", delta)
    left_out = isinstance(width, str) and width == IMPROVED
    if isinstance(rule, str):
        if rule in RULES and rule not in WITH_WIDTH and not left_out:
            raise ValueError(f"width must be left out with the rule {rule!r}, which has none, got {width!r}")
        return made("rule", rule, RULES, options, width, delta)
    require_no_options("rule", rule, options)
    _require_rule(rule)
    if not left_out:
        raise ValueError(
            f"width must be left out where the rule is no name, got {width!r}; the rule has its own"
        )
    return Always(rule)


def _require_rule(rule: Any) -> None:
    """Raise unless the rule can be called with candidates."""
    expected = f"one of {', '.join(RULES)}, or an object that is called with candidates and scores them"
    if isinstance(rule, type):
        raise ValueError(f"rule must be {expected}, got the class {rule.__name__}; make an object of it")
    try:
        signature(rule).bind(None)
    except TypeError as error:  # also of what cannot be called
        raise ValueError(f"rule must be {expected}, got {rule!r}: {error}") from None


def with_width(rule: Callable[[Width], Rule], union: int, width: Any, delta: float) -> MakeRule:
    """Return the builder of a rule with a width; "improved" shares delta among `union` failures."""
    if isinstance(width, str) and width == IMPROVED:
        return WithWidth(rule, partial(improved_width, delta=delta, union=union))
    return WithWidth(rule, partial(make_width, width, delta=delta))


# Builders from the width, the failure probability and the rule's own options.
RULES: dict[str, Callable[..., MakeRule]] = {
    "ucb": partial(with_width, UCB, 1),
    "thompson": partial(with_width, Thompson, 2),
    "random-ucb": partial(with_width, RandomUCB, 1),
    "ei": lambda width, delta, xi=0.0: WithMargin(ExpectedImprovement, xi),
    "pi": lambda width, delta, xi=0.01: WithMargin(ProbabilityOfImprovement, xi),
    "dmm": lambda width, delta: partial(dmm, delta=delta),
    "irgp": lambda width, delta, size=None: OfSize(size),
    "pims": lambda width, delta: Always(PIMS()),
    "eims": lambda width, delta: Always(EIMS()),
    "mean": lambda width, delta: Always(PosteriorMean()),
    "variance": lambda width, delta: Always(PosteriorVariance()),
}
