"""Rules by name and of the user's own, how they follow from a model, and rules that ask other rules."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Annotated, Any

import numpy as np

from bandit_envs.basics.arguments import require, require_probability
from bandit_envs.basics.options import Checked, not_negative
from bandit_envs.basics.types import Bools, Floats

from ..beliefs.base import Belief
from ..model.model import Model
from ..named import is_name, made, name_of, require_no_options
from ..widths.base import Width
from ..widths.by_name import improved_width, make_width
from . import rules
from .candidates import Candidates, OwnRule, Rule, RuleMemory, Slopes
from .randomised import EIMS, PIMS, OfSize
from .robust import dmm

MakeRule = Callable[[Model], Rule]
IMPROVED = "improved"  # the width of IGP-UCB and GP-TS
WITH_WIDTH = ("ucb", "thompson", "random-ucb")
UNITLESS = ("ei", "pi", "pims", "eims")  # their scores are logarithms or multiples of the std


@dataclass(frozen=True)
class Always:
    """Builder of a rule that does not depend on the model."""

    rule: Rule | Callable[[Candidates], Floats]  # the second becomes a rule

    def __post_init__(self) -> None:
        object.__setattr__(self, "rule", own_rule(self.rule))

    def __call__(self, model: Model) -> Rule:
        assert isinstance(self.rule, Rule)
        return self.rule


@dataclass(frozen=True)
class WithWidth:
    """Builder of a rule whose width follows from the model."""

    rule: Callable[[Width], Rule]
    width_of: Callable[[Model], Width]

    def __call__(self, model: Model) -> Rule:
        return self.rule(self.width_of(model))


@dataclass(frozen=True)
class WithMargin(Checked):
    """Builder of a rule with a least improvement xi, which is stated without a unit."""

    rule: Callable[[float], Rule]  # builds the rule from the improvement in units of the reward
    xi: Annotated[float, not_negative("it is the least improvement that counts, in prior stds")]

    def __call__(self, model: Model) -> Rule:
        """Return the rule with its margin in units of the model's values."""
        return self.rule(np.multiply(self.xi, model.prior_std))


def unit_of(rule: Rule, model: Model) -> float:
    """Return the unit of a rule's scores: the model's prior std, or 1 for scores without a unit."""
    return 1.0 if rule.unitless else model.prior_std


@dataclass(frozen=True)
class Among(Rule):
    """Another rule, restricted to active candidates; the others score minus infinity."""

    rule: Rule

    def __post_init__(self) -> None:
        object.__setattr__(self, "unitless", self.rule.unitless)

    def memory(self, num_trials: int) -> RuleMemory | None:
        return self.rule.memory(num_trials)

    def __call__(self, candidates: Candidates) -> Floats:
        return np.where(candidates.active, self.rule(candidates), -np.inf)


@dataclass(frozen=True)
class Starting(Rule):
    """One rule for the first rounds, and another afterwards."""

    rounds: int
    first: Rule
    then: Rule

    def __post_init__(self) -> None:
        for name in ("unitless", "draws"):  # in which the first rule must agree
            object.__setattr__(self, name, getattr(self.then, name))

    def __call__(self, candidates: Candidates) -> Floats:
        early = candidates.t <= self.rounds
        if not early.any():
            return self.then(candidates)
        if early.all():
            return self.first(candidates)
        first, then = candidates.drawing(early[:, 0]), candidates.drawing(~early[:, 0])
        return np.where(early, self.first(first), self.then(then))

    def slopes(self, candidates: Candidates) -> Slopes | None:
        """Return the slopes of the round's rule, which all trials must share; None where it has none."""
        early = candidates.t <= self.rounds
        rule = self.first if early.all() else None if early.any() else self.then
        return None if rule is None else rule.slopes(candidates)

    def memory(self, num_trials: int) -> RuleMemory | None:
        return self.then.memory(num_trials)

    def refuted(self, belief: Belief) -> Bools | None:
        return self.then.refuted(belief)


def make_rule(rule: Any, width: Any, delta: float, options: Any = None) -> MakeRule:
    """Return the builder of a rule from the model, by a name in `RULES` or of the user's own.

    `width` is "improved" or what `make_width` takes; only "ucb", "thompson" and "random-ucb" have one.
    """
    require_probability("delta", delta)
    left_out = is_name(width, IMPROVED)
    if (name := name_of(rule)) is not None:
        if name in RULES and name not in WITH_WIDTH and not left_out:
            raise ValueError(f"width must be left out with the rule {name!r}, which has none, got {width!r}")
        return made("rule", name, RULES, options, width, delta)
    require_no_options("rule", rule, options)
    require(left_out, "width", "left out where the rule is no name: the rule has its own", width)
    return Always(rule)


def own_rule(rule: Any) -> Rule:
    """Return a rule itself, or any callable of the user's own as a rule; raise for what is neither."""
    expected = f"one of {', '.join(RULES)}, or an object that is called with candidates and scores them"
    if isinstance(rule, type):
        raise ValueError(f"rule must be {expected}, got the class {rule.__name__}; make an object of it")
    try:
        signature(rule).bind(None)
    except TypeError as error:  # also of what cannot be called
        raise ValueError(f"rule must be {expected}, got {rule!r}: {error}") from None
    return rule if isinstance(rule, Rule) else OwnRule(rule)


def with_width(rule: Callable[[Width], Rule], union: int, width: Any, delta: float) -> MakeRule:
    """Return the builder of a rule with a width; "improved" shares delta among `union` failures."""
    if is_name(width, IMPROVED):
        return WithWidth(rule, partial(improved_width, delta=delta, union=union))
    return WithWidth(rule, partial(make_width, width, delta=delta))


# Builders from the width, the failure probability and the rule's own options.
RULES: dict[str, Callable[..., MakeRule]] = {
    "ucb": partial(with_width, rules.UCB, 1),
    "thompson": partial(with_width, rules.Thompson, 2),
    "random-ucb": partial(with_width, rules.RandomUCB, 1),
    "ei": lambda width, delta, xi=0.0: WithMargin(rules.ExpectedImprovement, xi),
    "pi": lambda width, delta, xi=0.01: WithMargin(rules.ProbabilityOfImprovement, xi),
    "dmm": lambda width, delta: partial(dmm, delta=delta),
    "irgp": lambda width, delta, size=None: OfSize(size),
    "pims": lambda width, delta: Always(PIMS()),
    "eims": lambda width, delta: Always(EIMS()),
    "mean": lambda width, delta: Always(rules.PosteriorMean()),
    "variance": lambda width, delta: Always(rules.PosteriorVariance()),
}
