"""The points of the largest mean + w std among very many, found without computing it at all of them.

Points are taken in slabs. Let a slab's largest score have been s, with width v, when the mean was R'm. Later,
with the mean R'(m + d) and the width w, no score of the slab exceeds

    s + max |r_x'd| + max(w - v, 0) max std,

since a variance only falls. With r_x = r_1 (x) r' of a product of kernels and d as a matrix D, |r_x'd| is at
most |D'r_1| |r'|. Slabs are computed in the order of their bounds, until none can hold the best.
"""

from collections import deque

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.kronecker import Kronecker

SLABS = 64  # at least; more have tighter bounds, and cost more calls
LATEST = 8  # plays that bring a slab's variance up to date; computing it anew costs no more than these


class BandSearch:
    """Searches the posterior of one trial of this mean and variance, (N,) each, and two factors R or more."""

    def __init__(self, factors: Kronecker, mean: Floats, variance: Floats):
        self._slabs = factors.divided(SLABS)
        self._mean, self._variance = mean.copy(), variance.copy()
        self._std = np.sqrt(np.maximum(variance, 0.0))
        self._num_plays, self._latest = 0, deque[Floats](maxlen=LATEST)
        self._moved = np.zeros((factors.ranks[0], factors.rank // factors.ranks[0]))  # d as a matrix
        rows = [slab.factors.roots[0].T for slab in self._slabs]
        self._first = np.zeros((len(rows), max(map(len, rows)), len(self._moved)))  # (S, n, r_1), rows r_1
        for first, each in zip(self._first, rows, strict=True):
            first[: len(each)] = each
        self._rest = factors.largest_rest  # max |r'|
        # Of each slab: its largest score and std, and the d, width and number of plays under which they were.
        self._top = np.full(len(self._slabs), np.inf)
        self._largest_std = np.array([self._std[slab.points].max() for slab in self._slabs])
        self._moved_then = np.zeros((len(self._slabs), *self._moved.shape))
        self._width_then = np.zeros(len(self._slabs))
        self._plays_then = [0] * len(self._slabs)

    def note(self, weight: Floats, innovation: float) -> None:
        """Note a play that moves the mean by R'w times the innovation, and the variance by -(R'w)^2."""
        self._moved += innovation * weight.reshape(self._moved.shape)
        self._latest.append(weight)
        self._num_plays += 1

    def largest(self, width: float, tie: float, covariance: Floats) -> Ints | None:
        """Return the points whose mean + w std is within `tie` of the largest, ascending, (n,); None for NaN.

        w >= 0 is the width, and `covariance` that of the weights, (r, r).
        """
        bound, best, seen = self._bounds(width), -np.inf, set[int]()
        near: list[tuple[Ints, Floats]] = []
        while bound[j := int(bound.argmax())] >= best - tie:
            if j in seen:  # the variance of long ago does not rule it out
                self._refresh(j, covariance)
            seen.add(j)
            points, factors = self._slabs[j]
            scores = factors.expand(self._moved.reshape(1, -1))[0]
            scores += self._mean[points]
            scores += width * self._std[points]
            bound[j] = self._top[j] = scores.max()
            self._moved_then[j], self._width_then[j] = self._moved, width
            if self._plays_then[j] == self._num_plays:
                best, bound[j] = max(best, bound[j]), -np.inf
                (there,) = (scores >= best - tie).nonzero()
                near.append((points.start + there, scores[there]))
        if not near:
            return None
        found, scores = (np.concatenate(each) for each in zip(*near, strict=True))
        return np.sort(found[scores >= best - tie])

    def _bounds(self, width: float) -> Floats:
        """Return what no score of a slab exceeds, (S,)."""
        change = np.matmul(self._first, self._moved - self._moved_then)
        norm = np.sqrt(np.einsum("snr,snr->sn", change, change).max(axis=1))
        wider = np.maximum(width - self._width_then, 0.0)
        return self._top + self._rest * norm + wider * self._largest_std

    def _refresh(self, j: int, covariance: Floats) -> None:
        """Bring the variance of a slab up to date."""
        points, factors = self._slabs[j]
        late = self._num_plays - self._plays_then[j]
        if late > LATEST:
            self._variance[points] = factors.quadratic(covariance)
        else:
            for weight in list(self._latest)[-late:]:
                self._variance[points] -= factors.expand(weight[None])[0] ** 2
        self._std[points] = np.sqrt(np.maximum(self._variance[points], 0.0))
        self._largest_std[j], self._plays_then[j] = self._std[points].max(), self._num_plays
