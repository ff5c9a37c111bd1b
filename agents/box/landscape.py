"""How much an agent wants to play each point of a box, in one context and one round."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bandit_envs.types import Floats, Ints

from ..objectives import BoxTerms
from ..rules import Rule
from .path import Path
from .surface import Surface


class BoxView(NamedTuple):
    """What rules read, of A arms of one trial; see `rules.Candidates`."""

    mean: Floats  # (1, A)
    std: Floats  # (1, A)
    round_: Ints  # (1,)
    gain: Floats  # (1,)
    bias: Floats | float  # (1,)
    incumbent: Floats  # (1,)
    sample: Callable[[], Floats]  # -> (1, A)

    def deviation(self) -> Floats:
        """One joint posterior sample of f - mean, (1, A)."""
        return self.sample()


class Landscape:
    """Scores of arms, and their slopes where the rule has any.

    Args:
        rule: turns what is believed into scores.
        surface: what is believed.
        context: features of the context, (dz,).
        facts: the view of no arms: round, gain, bias and incumbent.
        rng: of samples.
        terms: what the objective adds to the scores of the rule, which then have no slopes; None is nothing.
    """

    def __init__(
        self,
        rule: Rule,
        surface: Surface,
        context: Floats,
        facts: BoxView,
        rng: np.random.Generator,
        terms: BoxTerms | None = None,
    ):
        self.rule, self.surface, self.context, self._facts = rule, surface, context, facts
        self._terms = terms
        self._path = Path(surface, rng)

    @property
    def round_(self) -> int:
        """T = 1, 2, ..."""
        return int(self._facts.round_[0])

    def scores(self, arms: Floats) -> Floats:
        """Scores, (n, d) -> (n,); those of all calls are of the same sample where the rule draws one."""
        pairs = self._pairs(arms)
        mean, std = self.surface.predict(pairs)
        scores = self.rule(self._view(pairs, mean, std))[0]
        return scores if self._terms is None else self._terms(scores, pairs, self._facts.round_)

    def climb(self, arms: Floats) -> tuple[Floats, Floats] | None:
        """Scores and slopes, (n, d) -> (n,) and (n, d); None where the rule has no slopes."""
        slopes_of = getattr(self.rule, "slopes", None)
        if slopes_of is None or self._terms is not None:
            return None
        pairs = self._pairs(arms)
        mean, std, pull = self.surface.local(pairs)
        view = self._view(pairs, mean, std)
        of_belief = slopes_of(view)
        if of_belief is None:
            return None
        slope = pull(of_belief.mean[0], of_belief.std[0])
        return self.rule(view)[0], slope[:, len(self.context) :]

    def _view(self, pairs: Floats, mean: Floats, std: Floats) -> BoxView:
        return self._facts._replace(mean=mean[None], std=std[None], sample=lambda: self._path(pairs)[None])

    def _pairs(self, arms: Floats) -> Floats:
        return with_context(self.context, arms)


def with_context(context: Floats, arms: Floats) -> Floats:
    """Features of arms in a context, (dz,) and (n, d) -> (n, dz + d)."""
    return np.hstack([np.broadcast_to(context, (len(arms), len(context))), arms])
