"""Acquisition rules: how much each trial wants to play each candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from bandit_envs.basics.arguments import require_not_negative
from bandit_envs.basics.types import Bools, Floats, Ints

from ..beliefs.base import Belief, Ridge
from ..validation import PerTrial
from ..widths.base import Width
from .improvement import (
    log_expected_improvement,
    log_improvement_slopes,
    standardised_improvement,
)


class Candidates(Protocol):
    """What an agent believes about the A points it may play in this round; computed when it is asked for."""

    @property
    def mean(self) -> Floats:
        """Posterior mean, (B, A)."""
        ...

    @property
    def std(self) -> Floats:
        """Posterior standard deviation, (B, A)."""
        ...

    @property
    def t(self) -> Ints:
        """1, 2, ..., the rounds started since the last restart, (B,)."""
        ...

    @property
    def gain(self) -> Floats:
        """Realised information gain of the rounds before, (B,)."""
        ...

    @property
    def bias(self) -> Floats | float:
        """What pending feedback adds to the width, (B,)."""
        ...

    @property
    def weight_norm(self) -> Floats:
        """|a_x|, (B, A), the norm of the weights in the mean of the observations y: mu(x) - m(x) = a_x'y."""
        ...

    @property
    def ridges(self) -> Sequence[Ridge]:
        """What the plays say under each regularisation of the belief; as a rule the model's lambda alone."""
        ...

    @property
    def active(self) -> Bools:
        """Whether they may still be the best, (B, A); all may, but in beliefs that strike off arms."""
        ...

    @property
    def rngs(self) -> Sequence[np.random.Generator]:
        """Generators for what the rule draws itself, one a trial, new ones in every round.

        On a box a rule scores several sets of candidates in a round, and draws the same in each: a coin that
        is tossed before anything of the candidates' number is one coin a round.
        """
        ...

    @property
    def incumbent(self) -> Floats:
        """The value to improve on, in the agent's meaning, (B,)."""
        ...

    def deviation(self) -> Floats:
        """Draw one joint posterior sample of f - mean, (B, A)."""
        ...

    def sampled_maximum(self) -> Floats:
        """Draw one joint posterior sample of f and return the largest value that may be played, (B,).

        On a box it is the largest that the search finds, the same for all candidates of a round.
        """
        ...

    def drawing(self, trials: Bools) -> Candidates:
        """The same, but only these trials, (B,), draw samples; what the others would draw means nothing."""
        ...


class Slopes(NamedTuple):
    """How a score changes with the belief at its candidate, (B, A) each."""

    mean: Floats
    std: Floats


class Rule(Protocol):
    """Turns what is believed into scores; the candidate of the largest score is played.

    Scores are in the units of the reward, or the rule has a class attribute `unitless = True`. Where a score
    depends on the mean and the deviation at its candidate alone, a method `slopes(candidates)` that returns
    its `Slopes`, or None, lets agents on boxes climb. One whose score is random has `draws = True`. A method
    `refuted(belief)` may tell where feedback contradicts what the rule assumes.
    """

    def __call__(self, candidates: Candidates) -> Floats:
        """Return the scores, (B, A), as a new array."""
        ...


@dataclass(frozen=True)
class UCB:
    """mu + w sigma, the upper end of the confidence band; w is the width plus the bias."""

    width: Width

    def __call__(self, candidates: Candidates) -> Floats:
        """Return scores in the units of the reward, (B, A)."""
        return _above(candidates, self.width, candidates.std)

    def slopes(self, candidates: Candidates) -> Slopes:
        """1 and w."""
        mean = np.ones_like(candidates.mean)
        return Slopes(mean, _factor(candidates, self.width)[:, None] * mean)


@dataclass(frozen=True)
class Thompson:
    """One joint sample of GP(mu, w^2 k), as in GP-TS; with w = 1 it is plain Thompson sampling."""

    width: Width
    draws: ClassVar[bool] = True

    def __call__(self, candidates: Candidates) -> Floats:
        """Return scores in the units of the reward, (B, A)."""
        return _above(candidates, self.width, candidates.deviation())


@dataclass(frozen=True)
class ExpectedImprovement:
    """log E[max(f - incumbent - xi, 0)]; the logarithm, because the expectation underflows far from data."""

    xi: PerTrial = 0.0  # or (B,)
    unitless: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_not_negative("xi", self.xi, "it is the least improvement that counts")

    def __call__(self, candidates: Candidates) -> Floats:
        """Return scores that are logarithms, -inf where no improvement is possible, (B, A)."""
        return log_expected_improvement(_improvement(candidates, self.xi), candidates.std)

    def slopes(self, candidates: Candidates) -> Slopes:
        """Those of the logarithm."""
        return Slopes(*log_improvement_slopes(_improvement(candidates, self.xi), candidates.std))


@dataclass(frozen=True)
class ProbabilityOfImprovement:
    """(mu - incumbent - xi) / sigma, which ranks like P(f > incumbent + xi) but does not underflow."""

    xi: PerTrial = 0.01  # or (B,)
    unitless: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_not_negative("xi", self.xi, "it is the least improvement that counts")

    def __call__(self, candidates: Candidates) -> Floats:
        """Return scores in standard deviations, -inf or inf where sigma is 0, (B, A)."""
        return standardised_improvement(_improvement(candidates, self.xi), candidates.std)

    def slopes(self, candidates: Candidates) -> Slopes:
        """1 / sigma and -gap / sigma^2; 0 where sigma is 0."""
        known = candidates.std <= 0.0
        inverse = np.where(known, 0.0, 1.0 / np.where(known, 1.0, candidates.std))
        return Slopes(inverse, -_improvement(candidates, self.xi) * inverse**2)


@dataclass(frozen=True)
class PosteriorMean:
    """Mu: pure exploitation."""

    def __call__(self, candidates: Candidates) -> Floats:
        """Return scores in the units of the reward, (B, A)."""
        return candidates.mean.copy()

    def slopes(self, candidates: Candidates) -> Slopes:
        """1 and 0."""
        return Slopes(np.ones_like(candidates.mean), np.zeros_like(candidates.mean))


@dataclass(frozen=True)
class PosteriorVariance:
    """Sigma, which ranks like the variance: pure exploration, the greedy experimental design."""

    def __call__(self, candidates: Candidates) -> Floats:
        """Return scores in the units of the reward, (B, A)."""
        return candidates.std.copy()

    def slopes(self, candidates: Candidates) -> Slopes:
        """0 and 1."""
        return Slopes(np.zeros_like(candidates.std), np.ones_like(candidates.std))


@dataclass(frozen=True)
class AnyArm:
    """The same score for all: ties are broken at random, so every arm is as likely."""

    def __call__(self, candidates: Candidates) -> Floats:
        """Return zeros, (B, A)."""
        return np.zeros_like(candidates.mean)


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


def sample(candidates: Candidates) -> Floats:
    """One joint posterior sample of f, (B, A)."""
    return candidates.mean + candidates.deviation()


def _above(candidates: Candidates, width: Width, step: Floats) -> Floats:
    scores = _factor(candidates, width)[:, None] * step
    scores += candidates.mean
    return scores


def _factor(candidates: Candidates, width: Width) -> Floats:
    """W, (B,)."""
    return width(candidates.t, candidates.gain) + candidates.bias


def _improvement(candidates: Candidates, xi: PerTrial) -> Floats:
    return candidates.mean - (candidates.incumbent + xi)[:, None]
