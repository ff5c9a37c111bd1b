"""Acquisition rules: functions that score each trial's candidates."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from bandit_envs.basics.options import Checked, PerTrial, not_negative
from bandit_envs.basics.types import Floats, Ints

from ..beliefs.base import Belief
from ..beliefs.points import Points
from ..widths.base import Width
from .candidates import ZERO, Candidates, ConfidenceBand, Rule, Slopes
from .improvement import (
    improvement_climbed,
    log_expected_improvement,
    standardised_improvement,
    standardised_slopes,
)

Margin = Annotated[float, not_negative("it is the least improvement that counts")]


@dataclass(frozen=True)
class UCB(Rule):
    """mu + w sigma, the upper end of the confidence band; w is the width plus the bias."""

    width: Width

    def __call__(self, candidates: Candidates) -> Floats:
        scores = _factor(candidates, self.width) * candidates.std
        return np.add(scores, candidates.mean, scores)

    def factor(self, candidates: Candidates) -> Floats | float:
        return _factor(candidates, self.width)

    def slopes(self, candidates: Candidates) -> Slopes:
        mean = np.ones_like(candidates.mean)
        return Slopes(mean, _factor(candidates, self.width) * mean)

    def bands(self, belief: Belief, points: Points, t: Ints) -> list[ConfidenceBand]:
        return [ConfidenceBand.of_width(self.width, belief, points, t)]


@dataclass(frozen=True)
class BandUCB(Rule):
    """mu + h, the upper end of the belief's own band for functions of norm B, valid with 1 - delta."""

    rkhs_bound: PerTrial  # B, or (B,)
    delta: float

    def __call__(self, candidates: Candidates) -> Floats:
        return candidates.mean + candidates.half_width(self.rkhs_bound, self.delta)


@dataclass(frozen=True)
class Thompson(Rule):
    """One joint sample of GP(mu, w^2 k), as in GP-TS; with w = 1 it is plain Thompson sampling."""

    width: Width
    draws = True

    def __call__(self, candidates: Candidates) -> Floats:
        return candidates.sample(_factor(candidates, self.width))

    def bands(self, belief: Belief, points: Points, t: Ints) -> list[ConfidenceBand]:
        return [ConfidenceBand.of_width(self.width, belief, points, t)]


@dataclass(frozen=True)
class RandomUCB(Rule):
    """mu + w Z sigma, one Z ~ N(0, 1) a round for all arms, from memory of RandGP-UCB (Zhou & Ji 2022)."""

    width: Width
    draws = True

    def __call__(self, candidates: Candidates) -> Floats:
        return candidates.mean + self._factor(candidates) * candidates.std

    def slopes(self, candidates: Candidates) -> Slopes:
        mean = np.ones_like(candidates.mean)
        return Slopes(mean, self._factor(candidates) * mean)

    def _factor(self, candidates: Candidates) -> Floats:
        normal = np.array([[rng.standard_normal()] for rng in candidates.rngs])  # (B, 1)
        return normal * _factor(candidates, self.width)


@dataclass(frozen=True)
class ExpectedImprovement(Checked, Rule):
    """log E[max(f - incumbent - xi, 0)]; the logarithm, because the expectation underflows far from data."""

    xi: Margin = 0.0
    unitless = True

    def __call__(self, candidates: Candidates) -> Floats:
        """Return scores that are logarithms, -inf where no improvement is possible, (B, A)."""
        return log_expected_improvement(_improvement(candidates, self.xi), candidates.std)

    def slopes(self, candidates: Candidates) -> Slopes:
        scores, in_mean, in_std = improvement_climbed(_improvement(candidates, self.xi), candidates.std)
        return Slopes(in_mean, in_std, scores)


@dataclass(frozen=True)
class KnowledgeGradient(Rule):
    """log (E[max(mu'(x), mu'(j))] - mu(j)) of the means after a noisy play of x, j the best play so far.

    The two-point form of the knowledge gradient, at most the gain of the best of all means. The incumbent
    must be the largest mean over plays. Without noise it is expected improvement.
    """

    unitless = True

    def __call__(self, candidates: Candidates) -> Floats:
        """Return scores that are logarithms, -inf for the best play itself, (B, A)."""
        return log_expected_improvement(_improvement(candidates, 0.0), candidates.change)


@dataclass(frozen=True)
class ProbabilityOfImprovement(Checked, Rule):
    """(mu - incumbent - xi) / sigma, which ranks like P(f > incumbent + xi) but does not underflow."""

    xi: Margin = 0.01
    unitless = True

    def __call__(self, candidates: Candidates) -> Floats:
        """Return scores in standard deviations, -inf or inf where sigma is 0, (B, A)."""
        return standardised_improvement(_improvement(candidates, self.xi), candidates.std)

    def slopes(self, candidates: Candidates) -> Slopes:
        return Slopes(*standardised_slopes(_improvement(candidates, self.xi), candidates.std))


@dataclass(frozen=True)
class PosteriorMean(Rule):
    """mu: pure exploitation."""

    def __call__(self, candidates: Candidates) -> Floats:
        return candidates.mean.copy()

    def slopes(self, candidates: Candidates) -> Slopes:
        return Slopes(np.ones_like(candidates.mean), np.zeros_like(candidates.mean))


@dataclass(frozen=True)
class PosteriorVariance(Rule):
    """sigma, which ranks like the variance: pure exploration, the greedy experimental design."""

    def __call__(self, candidates: Candidates) -> Floats:
        return candidates.std.copy()

    def slopes(self, candidates: Candidates) -> Slopes:
        return Slopes(np.zeros_like(candidates.std), np.ones_like(candidates.std))


@dataclass(frozen=True)
class AnyArm(Rule):
    """Constant score: ties are broken at random, so every arm is equally likely."""

    def __call__(self, candidates: Candidates) -> Floats:
        return np.zeros_like(candidates.mean)


@dataclass(frozen=True)
class PosteriorSample(Rule):
    """One joint posterior sample of f."""

    def __call__(self, candidates: Candidates) -> Floats:
        return candidates.sample()


def _factor(candidates: Candidates, width: Width) -> Floats | float:
    """Return w, (B, 1); a number where all trials have the same, which multiplies arrays in half the time."""
    factor, bias = width(candidates.t[:, 0], candidates.gain[:, 0]), candidates.bias
    if bias is not ZERO:
        factor = factor + bias[:, 0]
    if not getattr(factor, "ndim", 0):  # of a width of the user's own
        factor = np.broadcast_to(factor, len(candidates.t))
    first = factor.item(0)
    return first if len(factor) == 1 or (factor == first).all() else factor[:, None]


def _improvement(candidates: Candidates, xi: float) -> Floats:
    return candidates.mean - (candidates.incumbent + xi)
