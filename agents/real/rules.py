"""The rule by which points are scored: their value now, and what they may improve in the rounds left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.setting import Setting

from .horizon import Outlay, exchange, outlay, scores
from .learner import Learner
from .posterior import Predicted, SurrogatePosterior, joined
from .quantities import RealParts
from .running import at_least
from .spaces import DecisionSpace, Here


class RoundFacts(NamedTuple):
    """What a rule reads of a round."""

    here: Here
    pending: Ints  # points whose feedback counts and is to come
    left: float  # rounds after the delivery of this round's feedback
    delay: float  # of feedback, in rounds
    use: float  # rounds in which that is expected to be of use
    budget: float | None  # what is left of it, without pending plays; None without one
    least: Floats | None = None  # of the pending plays' prices, (n,); None where nothing tells them


class HorizonRule:
    """Scores points by their value now and what they may improve in the rounds that use their feedback.

    Where plays have costs, limits, prices or both, these count as `horizon` says.
    """

    def __init__(self, setting: Setting, learners: Sequence[Learner], space: DecisionSpace, parts: RealParts):
        self._learners, self._space, self._parts = learners, space, parts
        self._num_limits = setting.num_constraints
        self._has_costs = setting.num_constraints > 0 or setting.budget is not None
        self.likeliest: float | None = None  # largest P(all limits are kept) in the last choice

    def __call__(self, now: RoundFacts, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Return some points and their scores, (n,) each; on a box `rng` draws them."""
        first, *others = posteriors = self._informed(now)

        def bound(found: Sequence[Predicted], points: Ints) -> Floats:
            return self._score(first, found[0], self._outlay(found[1:], now.here, points), points, now)

        points = self._space.surveyed(now.here, posteriors, bound, rng)
        asked = [*self._learners[0].posteriors, *others]
        pending = now.pending if self._parts.pending else None
        found = [each.at(points, pending) for each in asked]
        scored = self._scored(found, points, now)
        for width in self._space.widths:
            near = self._space.around(now.here, points[np.argsort(-scored, kind="stable")], width, rng)
            found = [joined(one, each.at(near, pending)) for one, each in zip(found, asked, strict=True)]
            points = np.append(points, near)
            scored = self._scored(found, points, now)
        return points, scored

    def _scored(self, found: Sequence[Predicted], points: Ints, now: RoundFacts) -> Floats:
        """Return the scores of points, (n,), from what is known of reward, in each state, and costs."""
        of_reward = self._learners[0]
        states = of_reward.posteriors
        costs = self._outlay(found[len(states) :], now.here, points)
        if self._num_limits:
            self.likeliest = float(costs.kept.max())
        known = zip(states, found, strict=False)
        return of_reward.averaged([self._score(*each, costs, points, now) for each in known])

    def _informed(self, now: RoundFacts) -> list[SurrogatePosterior]:
        """Return the posterior of each quantity, that of the price with what running plays tell of it."""
        found = [learner.posteriors[0] for learner in self._learners]
        if now.least is not None:
            values = self._learners[-1].values
            found[-1] = at_least(found[-1], now.pending, values.bent(values.scaled(now.least))[0])
        return found

    def costs(self, here: Here, points: Ints) -> Outlay:
        """Return what plays of points cost, by delivered feedback."""
        return self._outlay(
            [learner.posteriors[0].at(points) for learner in self._learners[1:]], here, points
        )

    def _score(
        self, posterior: SurrogatePosterior, reward: Predicted, costs: Outlay, points: Ints, now: RoundFacts
    ) -> Floats:
        values = self._learners[0].values
        above = (self._space.prior_mean(points) + (values.zero if self._has_costs else 0.0)) / values.size
        value = values.moments(reward.mean, reward.known)[0] + above
        if not self._has_costs:
            noise = posterior.noise_at(points)
            return self._parts.score(value, reward.mean + above, reward.variance, noise, now.use)
        worth = exchange(value, costs, now.budget is not None, self._space.spread)
        plays = now.left
        if now.budget is not None:
            rest = max(now.budget - len(now.pending) * worth.price, 0.0)
            plays = min(plays, max(rest / worth.price - now.delay, 0.0))
        share = self._parts.limits_share if self._num_limits else 1.0
        return scores(value, reward.mean + above, np.sqrt(reward.variance), costs, worth, share * plays)

    def _outlay(self, found: Sequence[Predicted], here: Here, points: Ints) -> Outlay:
        each: list[Any] = [
            (learner.values, one) for learner, one in zip(self._learners[1:], found, strict=True)
        ]
        limits, rest = each[: self._num_limits], each[self._num_limits :]
        price = rest[0] if rest else self._space.prices(here, points)
        return outlay(limits, price, len(points))
