"""The rules by which arms are scored, which arms come first, and which of a large set are scored at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting

from .horizon import Outlay, exchange, outlay, scores
from .learner import Learner
from .posterior import Predicted, SurrogatePosterior
from .quantities import RealParts
from .running import at_least


class RoundFacts(NamedTuple):
    """What a rule reads of a round."""

    context: int
    offered: Bools  # (A,)
    pending: Ints  # points whose feedback counts and is to come
    left: float  # rounds after the delivery of this round's feedback
    delay: float  # of feedback, in rounds
    use: float  # rounds in which that is expected to be of use
    budget: float | None  # what is left of it, without pending plays; None without one
    least: Floats | None = None  # of the pending plays' prices, (n,); None where nothing tells them


class HorizonRule:
    """Scores arms by their value now and what they may improve in the rounds that use their feedback.

    Where plays have costs, limits, prices or both, these count as `horizon` says.
    """

    def __init__(self, setting: Setting, learners: Sequence[Learner], offset: Floats, parts: RealParts):
        self._learners, self._offset, self._parts = learners, offset, parts
        self._candidates = Shortlist(setting.decisions.num_arms, len(learners))
        known, size = setting.known_costs, len(setting.decisions.points)
        self._known = None if known is None else np.array(np.broadcast_to(known, size), dtype=np.float64)
        self._num_limits = setting.num_constraints
        self._has_costs = setting.num_constraints > 0 or setting.budget is not None
        self.likeliest: float | None = None  # largest P(all limits are kept) in the last choice

    def __call__(self, now: RoundFacts) -> tuple[Ints, Floats]:
        """Return some arms and their scores, (n,) each."""
        first, *others = posteriors = self._informed(now)

        def bound(found: Sequence[Predicted], points: Ints) -> Floats:
            return self._score(first, found[0], self._outlay(found[1:], points), points, now)

        arms = self._candidates.among(now.context, now.offered, posteriors, bound)
        points = now.context * self._candidates.num_arms + arms
        pending = now.pending if self._parts.pending else None
        costs = self._outlay([one.at(points, pending) for one in others], points)
        if self._num_limits:
            self.likeliest = float(costs.kept.max())
        of_reward = self._learners[0]
        each = [self._score(one, one.at(points, pending), costs, points, now) for one in of_reward.posteriors]
        return arms, of_reward.averaged(each)

    def _informed(self, now: RoundFacts) -> list[SurrogatePosterior]:
        """Return the posterior of each quantity, that of the price with what running plays tell of it."""
        found = [learner.posteriors[0] for learner in self._learners]
        if now.least is not None:
            values = self._learners[-1].values
            found[-1] = at_least(found[-1], now.pending, values.bent(values.scaled(now.least))[0])
        return found

    def costs(self, points: Ints) -> Outlay:
        """Return what plays of points cost, by delivered feedback."""
        return self._outlay([learner.posteriors[0].at(points) for learner in self._learners[1:]], points)

    def _score(
        self, posterior: SurrogatePosterior, reward: Predicted, costs: Outlay, points: Ints, now: RoundFacts
    ) -> Floats:
        values = self._learners[0].values
        above = (self._offset[points] + (values.zero if self._has_costs else 0.0)) / values.size
        value = values.moments(reward.mean, reward.known)[0] + above
        if not self._has_costs:
            noise = posterior.noise_at(points)
            return self._parts.score(value, reward.mean + above, reward.variance, noise, now.use)
        worth = exchange(value, costs, now.budget is not None)
        plays = now.left
        if now.budget is not None:
            rest = max(now.budget - len(now.pending) * worth.price, 0.0)
            plays = min(plays, max(rest / worth.price - now.delay, 0.0))
        share = self._parts.limits_share if self._num_limits else 1.0
        return scores(value, reward.mean + above, np.sqrt(reward.variance), costs, worth, share * plays)

    def _outlay(self, found: Sequence[Predicted], points: Ints) -> Outlay:
        each: list[Any] = [
            (learner.values, one) for learner, one in zip(self._learners[1:], found, strict=True)
        ]
        limits, rest = each[: self._num_limits], each[self._num_limits :]
        price = rest[0] if rest else None if self._known is None else self._known[points]
        return outlay(limits, price, len(points))


MOST = 2550  # arms of a set that is scored whole
SHORT = 1000  # arms of a large set that are scored
FIRST_ROWS = 64


class Covariances:
    """Covariances of all arms with the points of a posterior, kept while hyperparameters and points stay."""

    def __init__(self, num_arms: int):
        self._num_arms = num_arms
        self._of: tuple[int, bytes] | None = None  # context and hyperparameters of the rows
        self._place: dict[int, int] = {}  # the row of each point
        self._rows = np.empty((0, num_arms))
        self._left = np.empty(0)

    def predicted(self, z: int, posterior: SurrogatePosterior) -> Predicted:
        """Return the mean of all arms in a context, and a bound of the variance, (A,) each.

        The bound is the variance that the one played point leaves that tells most of the arm.
        """
        self._update(z, posterior)
        rows = [self._place[point] for point in posterior.seen.point.tolist()]
        alpha = posterior.alpha
        if rows == list(range(len(rows))):
            first = self._rows[: len(rows)]
        elif len(rows) == len(self._place):  # in another order: nothing is copied
            first, alpha = self._rows[: len(rows)], alpha[np.argsort(rows)]
        else:
            first = self._rows[rows]
        return Predicted(posterior.centre + alpha @ first, self._left, self._left)

    def _update(self, z: int, posterior: SurrogatePosterior) -> None:
        """Add the covariances of points that were played since."""
        surrogate, theta = posterior.surrogate, posterior.theta
        points, seen = z * self._num_arms + np.arange(self._num_arms), posterior.seen.point.tolist()
        gone = self._place.keys() - seen  # after a restart: they would leave the bound too small
        if gone or self._of != (z, theta.tobytes()):
            self._of, self._place = (z, theta.tobytes()), {}
            self._left = surrogate.variance(theta, points)
        fresh = np.array([point for point in seen if point not in self._place])
        if not len(fresh):
            return
        rows, used = surrogate.covariance(theta, fresh, points), len(self._place)
        if used + len(fresh) > len(self._rows):
            more = max(FIRST_ROWS, len(self._rows), used + len(fresh))
            self._rows = np.vstack([self._rows, np.empty((more, self._num_arms))])
        self._rows[used : used + len(fresh)] = rows
        self._place.update(zip(fresh.tolist(), range(used, used + len(fresh)), strict=True))
        noise = surrogate.variance(theta, fresh) + posterior.noise_at(fresh)
        left = surrogate.variance(theta, points) - (np.square(rows) / noise[:, None]).max(axis=0)
        self._left = np.minimum(self._left, np.maximum(left, 0.0))


class Shortlist:
    """Proposes arms: all, or those of the largest scores where variances are replaced by their bounds."""

    def __init__(self, num_arms: int, quantities: int):
        self.num_arms, self.whole = num_arms, num_arms <= MOST
        self._kept = [Covariances(num_arms) for _ in range(quantities)]

    def among(
        self,
        z: int,
        offered: Bools,
        posteriors: Sequence[SurrogatePosterior],
        score: Callable[[list[Predicted], Ints], Floats],
    ) -> Ints:
        """Return the arms to score in a context, (n,) ascending."""
        arms = offered.nonzero()[0]
        if self.whole or len(arms) <= SHORT:
            return arms
        found = [kept.predicted(z, one) for kept, one in zip(self._kept, posteriors, strict=True)]
        bound = score(found, z * self.num_arms + np.arange(self.num_arms))
        bound[~offered] = -np.inf
        short = np.argpartition(-bound, SHORT)[:SHORT]
        seen = posteriors[0].seen.point
        played = seen[seen // self.num_arms == z] % self.num_arms
        return np.union1d(short, played[offered[played]])


LOOKED_AT = 2000  # arms among which they are spread
SPREAD = 30  # that are spread out; then at random


def spread_out(arms: Floats, numeric: Bools, rng: np.random.Generator) -> Ints:
    """Return an order of arms, (A, D) in [0, 1]: the most central, then the farthest of the inner half.

    Choices have no centre: arms of choices alone are in a random order.

    Args:
        numeric: which columns are numbers, (D,).
        rng: breaks ties, and draws the arms that are looked at in a large set.
    """
    some = rng.permutation(len(arms))
    if not numeric.any():
        return some
    looked_at = some[:LOOKED_AT]
    distance = np.square(arms[looked_at][:, numeric] - 0.5).sum(axis=1)
    order = np.argsort(distance, kind="stable")
    inner = looked_at[order[: max(1, (len(order) + 1) // 2)]]
    chosen = [0]
    nearest = np.full(len(inner), np.inf)
    while len(chosen) < min(SPREAD, len(inner)):
        nearest = np.minimum(nearest, np.square(arms[inner] - arms[inner[chosen[-1]]]).sum(axis=1))
        nearest[chosen] = -1.0
        chosen.append(int(nearest.argmax()))
    first = inner[chosen]
    return np.concatenate([first, some[~np.isin(some, first)]])
