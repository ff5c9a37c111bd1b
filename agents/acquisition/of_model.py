"""Builders of rules from a model: objects, so that an agent can be pickled in mid-run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require_not_negative

from ..model.model import Model
from ..validation import PerTrial
from ..widths.base import Width
from .candidates import Rule


@dataclass(frozen=True)
class Always:
    """Builder of a rule that does not depend on the model."""

    rule: Rule

    def __call__(self, model: Model) -> Rule:
        """Return the rule."""
        return self.rule


@dataclass(frozen=True)
class WithWidth:
    """Builder of a rule whose width follows from the model.

    Args:
        rule: builds the rule from its width.
        width_of: builds the width from the model.
    """

    rule: Callable[[Width], Rule]
    width_of: Callable[[Model], Width]

    def __call__(self, model: Model) -> Rule:
        """Return the rule with the model's width."""
        return self.rule(self.width_of(model))


@dataclass(frozen=True)
class WithMargin:
    """Builder of a rule with a least improvement xi, which is stated without a unit.

    Args:
        rule: builds the rule from the improvement in units of the reward.
        xi: the improvement in prior stds.
    """

    rule: Callable[[PerTrial], Rule]
    xi: PerTrial

    def __post_init__(self) -> None:
        require_not_negative("xi", self.xi, "it is the least improvement that counts, in prior stds")

    def __call__(self, model: Model) -> Rule:
        """Return the rule with its margin in units of the model's values."""
        return self.rule(np.multiply(self.xi, model.deviation))


def unit_of(rule: Rule, model: Model) -> float:
    """Return the unit of a rule's scores: the model's prior std, or 1 for scores without a unit."""
    return 1.0 if getattr(rule, "unitless", False) else model.deviation
