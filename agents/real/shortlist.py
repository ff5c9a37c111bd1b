"""The arms that are scored: all of a small set; of a large one those whose score may be largest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from .posterior import Predicted, SurrogatePosterior

MOST = 2550  # arms of a set that is scored whole
SHORT = 1000  # arms of a large set that are scored
FIRST_ROWS = 64


class Covariances:
    """Covariances of all arms with the points of a posterior, kept until its hyperparameters change.

    Args:
        num_arms: A.
    """

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
        first = self._rows[: len(rows)] if rows == list(range(len(rows))) else self._rows[rows]
        return Predicted(posterior.centre + posterior.alpha @ first, self._left, self._left)

    def _update(self, z: int, posterior: SurrogatePosterior) -> None:
        """Add the covariances of points that were played since."""
        surrogate, theta = posterior.surrogate, posterior.theta
        points = z * self._num_arms + np.arange(self._num_arms)
        if self._of != (of := (z, theta.tobytes())):
            self._of, self._place = of, {}
            self._left = surrogate.variance(theta, points)
        fresh = np.array([point for point in posterior.seen.point.tolist() if point not in self._place])
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
    """Proposes arms: all, or those of the largest scores where variances are replaced by their bounds.

    Args:
        num_arms: A.
        quantities: how many are modelled.
    """

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
