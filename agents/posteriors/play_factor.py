r"""One trial's plays as a growing Cholesky factor, without a table over the points.

Row r represents n_r plays of the point x_r with value sum b_r; a point may have several rows. With the L of
`decomposition` and v(x) = L^-1 k(X, x), mu(x) = v(x)' L^-1 (b / n) and Sigma(x, x') = k(x, x') - v(x)'v(x').
"""

import math
from typing import Any, Protocol

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

from .base import SufficientStatistics
from .decomposition import Triangle, spare_capacity

SLACK = 1.65  # rows a distinct point at which they are merged (measured)
SPARE = 16  # further rows, so that the first plays do not merge every time


class Factor(Protocol):
    """Plays X that determine the posterior: mu = k(x, X) a, var = k(x, x) - |L^-1 k(X, x)|^2."""

    @property
    def features(self) -> Floats:
        """X, (k, D)."""
        ...

    @property
    def weights(self) -> Floats:
        """a, (k,)."""
        ...

    @property
    def smoothed(self) -> Floats:
        """Posterior means at X, (k,)."""
        ...

    def solve(self, values: Floats) -> Floats:
        """Return v = L^-1 c from covariances with X, (k, n) -> (k, n)."""
        ...

    def back(self, values: Floats) -> Floats:
        """Return the weights of these covariances in b'v, L'^-1 b, (k, n) -> (k, n)."""
        ...

    def weight_norm(self, explained: Floats) -> Floats:
        """Return |a_x| of points with v(x) = L^-1 k(X, x), (k, n) -> (n,)."""
        ...


class PlayFactor:
    """X, n, b and L of one trial; O(k^2) a play, where k counts the rows, of which it may start with some.

    L is updated on access, row after row, and results do not depend on when. `squares` are sums of the
    squared weights of these plays, (u,), where not all are 1.
    """

    def __init__(self, gram: Gram, noise: float, seen: SufficientStatistics, squares: Floats | None = None):
        size = len(seen.point)
        self.gram, self.noise, self.used = gram, noise, size
        capacity = spare_capacity(size)
        self._point = np.empty(capacity, dtype=np.int64)
        self._count, self._total = np.empty(capacity), np.empty(capacity)
        self._squares = np.ones(capacity)
        self._point[:size], self._count[:size], self._total[:size] = seen
        self._squares[:size] = seen.plays if squares is None else squares
        self._row = {x: r for r, x in enumerate(seen.point.tolist())}  # the last row of a point
        self._together = size  # rows of L that are factorised at once; the others follow one by one
        self._settled = size  # rows whose values did not change after the next row was added
        self._known, self._gain = -1, 0.0  # rows of L, none yet; and their information gain
        self._rows: Triangle | None = None  # L, to which other factors may have added rows
        self._innovation: Floats | None = None  # L^-1 (b / n) of the first rows, None where outdated
        self._weights: Floats | None = None  # a, None where outdated

    @property
    def point(self) -> Ints:
        """X, (k,)."""
        return self._point[: self.used]

    @property
    def count(self) -> Floats:
        """Plays n, (k,)."""
        return self._count[: self.used]

    @property
    def triangle(self) -> Floats:
        """L, (k, k); entries above the diagonal are undefined."""
        return self.rows.values[: self.used, : self.used]

    @property
    def rows(self) -> Triangle:
        """L, perhaps with further rows of another factor."""
        return self._extend()

    def _extend(self) -> Triangle:
        """Add the rows of plays that have none yet; an interruption leaves those that are complete."""
        if self._rows is None:
            size, count = self._together, self._count[: self._together]
            self._rows = Triangle.of(self.gram, self._point[:size], self.noise / count)
            scale = np.diag(self._rows.values)[:size]
            self._gain = float(np.log(scale).sum() + 0.5 * np.log(count / self.noise).sum())
            self._known = size
        for k in range(self._known, self.used):
            noise = self.noise / self._count.item(k)
            self._rows = self._rows.going_on(k, self._point.item(k), noise)
            scale = self._rows.values[k, k]
            self._gain += math.log(scale) - 0.5 * math.log(noise)
            self._known = k + 1
        return self._rows

    @property
    def gain(self) -> float:
        """Information gain, 1/2 logdet(I + K / lambda)."""
        self._extend()
        return self._gain

    @property
    def statistics(self) -> SufficientStatistics:
        """Plays and value sums of the distinct points."""
        return SufficientStatistics.merge(self.point, self.count, self._total[: self.used])

    @property
    def innovation(self) -> Floats:
        """L^-1 (b / n), (k,)."""
        known = self._innovation
        if known is None or len(known) < self.used:  # at once for settled rows, then row by row
            rows, m, innovation = self.rows, self._settled, np.empty(self.used)
            if known is None:
                known = rows.solve(self._total[:m] / self._count[:m], m, 1)
            innovation[: len(known)] = known
            for k in range(len(known), self.used):
                row = rows.values[k]
                innovation[k] = (self._total[k] / self._count[k] - row[:k] @ innovation[:k]) / row[k]
            self._innovation = known = innovation
        return known

    @property
    def features(self) -> Floats:
        """Coordinates of X, (k, d)."""
        return self.gram.points[self.point]

    @property
    def weights(self) -> Floats:
        """a = L'^-1 L^-1 (b / n), (k,), with mu(x) = k(x, X) a."""
        if self._weights is None:
            self._weights = self.back(self.innovation)
        return self._weights

    @property
    def smoothed(self) -> Floats:
        """Posterior mean at X, (k,): b / n less the share of noise in it, lambda a / n."""
        return (self._total[: self.used] - self.noise * self.weights) / self.count

    def weight_norm(self, explained: Floats) -> Floats:
        """Return |a_x| of points with v(x) = L^-1 k(X, x), (k, n) -> (n,).

        The r-th row, a mean of n_r plays, has the weight c_r = (L'^-1 v)_r, and each of its plays c_r / n_r.
        """
        share = self._squares[: self.used] / self.count**2
        return np.sqrt(share @ self.back(explained) ** 2)

    @property
    def crowded(self) -> bool:
        """True if so many rows repeat a point that rebuilding with one row a point is worth its cost."""
        return self.used > SLACK * len(self._row) + SPARE

    def append(self, x: int, total: float, plays: float = 1.0) -> None:
        """Add plays of a point, given the sum of their values, as one row."""
        k = self.used
        if k == len(self._point):
            more = (0, spare_capacity(k) - k)
            self._point, self._count = np.pad(self._point, more), np.pad(self._count, more)
            self._total, self._squares = np.pad(self._total, more), np.pad(self._squares, more)
        self._point[k], self._count[k], self._total[k], self._squares[k] = x, plays, total, plays
        self._row[x] = k
        self._weights = None
        self.used += 1

    def correct(self, x: int, change: float) -> None:
        """Change the value of an earlier play of x; the choice among its rows makes no difference."""
        self._total[self._row[x]] += change
        self._settled = self.used
        self._innovation = self._weights = None

    def explain(self, point: Ints) -> Floats:
        """Return v(x) = L^-1 k(X, x) of some points, (n,) -> (k, n)."""
        return self.solve(self.gram.between(point, self.point).T)

    def solve(self, values: Floats) -> Floats:
        """Return L^-1 b, (k,) or (k, n) of the same shape."""
        return self.rows.solve(values, self.used, 1)

    def back(self, values: Floats) -> Floats:
        """Return L'^-1 b, (k,) or (k, n) of the same shape."""
        return self.rows.solve(values, self.used, 0)

    def leads(self, other: Any) -> bool:
        """Return True if the first rows of another factor are those of this one, in one place."""
        return isinstance(other, PlayFactor) and self.used <= other.used and self.rows is other.rows
