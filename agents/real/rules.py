"""The rules by which arms are scored: for the rounds that are left, and where plays have costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting

from .costs import Outlay, exchange, outlay, scores
from .learner import Learner
from .parts import RealParts
from .posterior import Predicted, SurrogatePosterior
from .shortlist import Shortlist


class RoundFacts(NamedTuple):
    """What a rule reads of a round."""

    context: int
    offered: Bools  # (A,)
    pending: Ints  # points whose feedback counts and is to come
    left: float  # rounds after the delivery of this round's feedback
    delay: float  # of feedback, in rounds
    use: float  # rounds in which that is expected to be of use
    budget: float | None  # what is left of it, without pending plays; None without one


class HorizonRule:
    """Scores arms by their value now and what they may improve in the rounds that use their feedback."""

    likeliest: float | None = None  # there are no limits

    def __init__(self, setting: Setting, learners: Sequence[Learner], offset: Floats, parts: RealParts):
        self._parts = parts
        (self._learner,), self._offset = learners, offset
        self._candidates = Shortlist(setting.decisions.num_arms, 1)

    def __call__(self, now: RoundFacts) -> tuple[Ints, Floats]:
        """Return some arms and their scores, (n,) each."""
        first, *_ = posteriors = self._learner.posteriors
        arms = self._candidates.among(
            now.context, now.offered, [first], lambda found, points: self._score(first, found[0], points, now)
        )
        points = now.context * self._candidates.num_arms + arms
        pending = now.pending if self._parts.pending else None
        each = [self._score(one, one.at(points, pending), points, now) for one in posteriors]
        return arms, np.mean(each, axis=0)

    def costs(self, points: Ints) -> Outlay:
        """Return what plays of points cost: nothing."""
        return outlay([], None, len(points))

    def _score(
        self, posterior: SurrogatePosterior, found: Predicted, points: Ints, now: RoundFacts
    ) -> Floats:
        values = self._learner.values
        above = self._offset[points] / values.size
        value = values.moments(found.mean, found.known)[0] + above
        noise = posterior.noise_at(points)
        return self._parts.score(value, found.mean + above, found.variance, noise, now.use)


class PricedRule:
    """Scores arms whose plays have costs: limits, prices or both; see `costs`."""

    def __init__(self, setting: Setting, learners: Sequence[Learner], offset: Floats, parts: RealParts):
        self._learners, self._offset, self._parts = learners, offset, parts
        self._candidates = Shortlist(setting.decisions.num_arms, len(learners))
        known, size = setting.known_costs, len(setting.decisions.points)
        self._known = None if known is None else np.array(np.broadcast_to(known, size), dtype=np.float64)
        self._num_limits = setting.num_constraints
        self.likeliest: float | None = None  # largest P(all limits are kept) in the last choice

    def __call__(self, now: RoundFacts) -> tuple[Ints, Floats]:
        """Return some arms and their scores, (n,) each."""
        posteriors = [learner.posteriors[0] for learner in self._learners]

        def bound(found: Sequence[Predicted], points: Ints) -> Floats:
            return self._score(found[0], self._outlay(found, points), points, now)

        arms = self._candidates.among(now.context, now.offered, posteriors, bound)
        points = now.context * self._candidates.num_arms + arms
        first, *others = posteriors
        pending = now.pending if self._parts.pending else None
        found = [first.at(points, pending), *(one.at(points) for one in others)]
        costs = self._outlay(found, points)
        if self._num_limits:
            self.likeliest = float(costs.kept.max())
        return arms, self._score(found[0], costs, points, now)

    def costs(self, points: Ints) -> Outlay:
        """Return what plays of points cost, by delivered feedback."""
        return self._outlay([learner.posteriors[0].at(points) for learner in self._learners], points)

    def _score(self, reward: Predicted, costs: Outlay, points: Ints, now: RoundFacts) -> Floats:
        values = self._learners[0].values
        above = (self._offset[points] + values.zero) / values.size
        value = values.moments(reward.mean, reward.known)[0] + above
        worth = exchange(value, costs, now.budget is not None)
        plays = now.left
        if now.budget is not None:
            rest = max(now.budget - len(now.pending) * worth.price, 0.0)
            plays = min(plays, max(rest / worth.price - now.delay, 0.0))
        share = self._parts.limits_share if self._num_limits else 1.0
        return scores(value, reward.mean + above, np.sqrt(reward.variance), costs, worth, share * plays)

    def _outlay(self, found: Sequence[Predicted], points: Ints) -> Outlay:
        each: list[Any] = [(learner.values, one) for learner, one in zip(self._learners, found, strict=True)]
        limits, rest = each[1 : 1 + self._num_limits], each[1 + self._num_limits :]
        price = rest[0] if rest else None if self._known is None else self._known[points]
        return outlay(limits, price, len(points))
