"""Rules that ask other rules: for the first rounds, and among what is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.types import Bools, Floats

from ..beliefs.base import Belief
from .candidates import Candidates, Rule, Slopes


@dataclass(frozen=True)
class Among:
    """Another rule among the candidates that may still be the best; minus infinity for the others."""

    rule: Rule

    @property
    def unitless(self) -> bool:
        """Whether the other rule's scores are."""
        return getattr(self.rule, "unitless", False)

    def __call__(self, candidates: Candidates) -> Floats:
        """Return the scores, (B, A)."""
        return np.where(candidates.active, self.rule(candidates), -np.inf)


@dataclass(frozen=True)
class Starting:
    """Another rule for the first rounds.

    Args:
        rounds: how many.
        first: the rule of these rounds.
        then: the rule afterwards.
    """

    rounds: int
    first: Rule
    then: Rule

    @property
    def unitless(self) -> bool:
        """Whether the later rule's scores are; the first rule's should be likewise."""
        return getattr(self.then, "unitless", False)

    @property
    def draws(self) -> bool:
        """Whether the later rule's scores are random."""
        return getattr(self.then, "draws", False)

    def __call__(self, candidates: Candidates) -> Floats:
        """Return the scores of the rule of each trial's round, (B, A)."""
        early = candidates.t <= self.rounds
        if not early.any():
            return self.then(candidates)
        if early.all():
            return self.first(candidates)
        first, then = candidates.drawing(early), candidates.drawing(~early)
        return np.where(early[:, None], self.first(first), self.then(then))

    def slopes(self, candidates: Candidates) -> Slopes | None:
        """Those of the rule of the round, which all trials must share; None where it has none."""
        early = candidates.t <= self.rounds
        rule = self.first if early.all() else None if early.any() else self.then
        slopes = getattr(rule, "slopes", None)
        return None if slopes is None else slopes(candidates)

    def refuted(self, belief: Belief) -> Bools | None:
        """What the later rule says of it."""
        return refuted(self.then, belief)


def refuted(rule: Rule, belief: Belief) -> Bools | None:
    """Whether what is believed contradicts a rule's assumptions, (B,); None of a rule that cannot tell."""
    tells = getattr(rule, "refuted", None)
    return None if tells is None else tells(belief)
