"""The points that one trial has played on a box, numbered, and the prior covariance on them."""

from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.definite import blocks

from .slopes import linearise

FIRST_CAPACITY = 64  # points; doubled whenever they are full
PART_BYTES = 2**19  # of covariances computed at once: larger blocks need fresh memory and are slower


class Visited:
    """Features of distinct (context, arm) pairs, (n, width), in the order in which they were first played."""

    def __init__(self, width: int):
        self.size = 0
        self._features = np.empty((FIRST_CAPACITY, width))
        self._index: dict[bytes, int] = {}

    @property
    def features(self) -> Floats:
        """Features of all pairs, (u, dz + d). Read only."""
        return self._features[: self.size]

    def index(self, pair: Floats) -> int:
        """Return the number of a pair, (dz + d,): a new number unless exactly this pair was played before."""
        pair = pair + 0.0  # turns -0.0 into 0.0
        found = self._index.setdefault(pair.tobytes(), self.size)
        if found == self.size:
            if self.size == len(self._features):
                self._features = np.concatenate([self._features, np.empty_like(self._features)])
            self._features[self.size] = pair
            self.size += 1
        return found

    def gram(self, kernel: Any) -> "VisitedGram":
        """Return the prior covariance of a kernel on the points, which grows as they do."""
        return VisitedGram(kernel, self)


class VisitedGram:
    """Prior covariance of a kernel on the visited points, whose number may grow."""

    def __init__(self, kernel: Any, visited: Visited):
        self.kernel, self._visited = kernel, visited
        self._known = np.empty(0)  # prior variances

    @property
    def size(self) -> int:
        """Number of points."""
        return self._visited.size

    @property
    def points(self) -> Floats:
        """Features, (u, dz + d)."""
        return self._visited.features

    @property
    def diagonal(self) -> Floats:
        """Prior variances, (u,)."""
        if len(self._known) < self.size:
            new = self.kernel.diag(self.points[len(self._known) :])
            self._known = np.concatenate([self._known, np.asarray(new, dtype=np.float64)])
        return self._known

    def between(self, rows: Ints, columns: Ints) -> Floats:
        """Return k(x_i, x_j) of some points with others, (n,) and (m,) -> (n, m); a copy."""
        found, plays, first = np.empty((len(rows), len(columns))), self.points[columns], 0
        for part in blocks(rows, len(columns), PART_BYTES) if found.size else ():
            block = found[first : first + len(part)]
            block[:] = linearise(self.kernel, self.points[part], plays).values
            # A point has its full variance with itself, also under scikit-learn's WhiteKernel.
            row, column = (part[:, None] == columns).nonzero()
            block[row, column] = self.diagonal[part[row]]
            first += len(part)
        return found
