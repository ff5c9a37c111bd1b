"""Rules that combine other rules: one for the first rounds, and one restricted to active arms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.types import Bools, Floats

from ..beliefs.base import Belief
from .candidates import Candidates, Rule, Slopes


@dataclass(frozen=True)
class Among:
    """Another rule, restricted to active candidates; the others score minus infinity."""

    rule: Rule

    @property
    def unitless(self) -> bool:
        """True where the other rule's scores have no unit."""
        return getattr(self.rule, "unitless", False)

    def __call__(self, candidates: Candidates) -> Floats:
        """Return the scores, (B, A)."""
        return np.where(candidates.active, self.rule(candidates), -np.inf)


@dataclass(frozen=True)
class Starting:
    """One rule for the first rounds, and another afterwards.

    Args:
        rounds: the number of first rounds.
        first: the rule of these rounds.
        then: the rule afterwards.
    """

    rounds: int
    first: Rule
    then: Rule

    @property
    def unitless(self) -> bool:
        """True where the later rule's scores have no unit; the first rule must agree."""
        return getattr(self.then, "unitless", False)

    @property
    def draws(self) -> bool:
        """True where the later rule's scores are random."""
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
        """Return the slopes of the round's rule, which all trials must share; None where it has none."""
        early = candidates.t <= self.rounds
        rule = self.first if early.all() else None if early.any() else self.then
        slopes = getattr(rule, "slopes", None)
        return None if slopes is None else slopes(candidates)

    def refuted(self, belief: Belief) -> Bools | None:
        """Return where the later rule is refuted."""
        return refuted(self.then, belief)


def refuted(rule: Rule, belief: Belief) -> Bools | None:
    """Return where a belief contradicts a rule's assumptions, (B,); None for a rule without this test."""
    tells = getattr(rule, "refuted", None)
    return None if tells is None else tells(belief)
