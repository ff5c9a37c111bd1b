"""How an algorithm's rule follows from its model: objects, so that an agent can be pickled in mid-run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..model.model import Model
from ..widths.base import Width
from .rules import Rule


@dataclass(frozen=True)
class Always:
    """The same rule whatever the model."""

    rule: Rule

    def __call__(self, model: Model) -> Rule:
        """Return the rule."""
        return self.rule


@dataclass(frozen=True)
class WithWidth:
    """A rule whose width follows from the model.

    Args:
        rule: makes the rule from its width.
        width_of: makes the width from the model.
    """

    rule: Callable[[Width], Rule]
    width_of: Callable[[Model], Width]

    def __call__(self, model: Model) -> Rule:
        """Return the rule with the model's width."""
        return self.rule(self.width_of(model))
