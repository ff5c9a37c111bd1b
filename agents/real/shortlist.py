"""Which arms come first, and which of a large set are scored at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from .posterior import Predicted, SurrogatePosterior

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

    def __init__(self, num_arms: int):
        self.num_arms, self.whole = num_arms, num_arms <= MOST
        self._kept: list[Covariances] = []  # of each posterior

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
        if not self._kept:
            self._kept = [Covariances(self.num_arms) for _ in posteriors]
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
