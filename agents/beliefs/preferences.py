"""The belief about utilities of one trial, of which only differences are observed, by duels.

Rows of the design are differences F_i - F_j of a root, K = F F', one a pair that met, with the number of
its duels and the wins of i; the posterior is Laplace's (`posteriors.laplace`), O(r^3 + m r^2) a round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from bandit_envs.basics.types import Floats, Ints

from ..model.model import Model
from ..posteriors.laplace import Clicks, Laplace, PlayedRows, laplace, mixture_band

LOGISTIC = Clicks()


class Pairs(NamedTuple):
    """What is believed of the arms of a context and of all pairs of them."""

    mean: Floats  # (A,) mode of the utilities
    difference: Floats  # (A, A) mean_i - mean_j
    std: Floats  # (A, A) posterior std of f_i - f_j


class Preferences:
    """Utilities f ~ GP(m, k) at all points given duels, P(i beats j) = s(f_i - f_j).

    Args:
        model: its kernel and prior mean are those of the utilities, in log odds.
    """

    def __init__(self, model: Model):
        self.model, decisions = model, model.setting.decisions
        self._num_arms = decisions.num_arms
        self.root = np.ascontiguousarray(model.gram.root.T)  # (N, r)
        self._prior = np.broadcast_to(np.asarray(model.prior_mean, dtype=np.float64), len(self.root))
        self._met: dict[tuple[int, int], list[float]] = {}  # (i, j), i < j -> duels, wins of i
        self._fit: Laplace | None = None
        self._start: Floats | None = None

    def receive(self, first: int, second: int, won: float) -> None:
        """Learn that the first point won against the second, 1, lost, 0, or that they tied, 1/2."""
        if first == second:  # the outcome says nothing
            return
        (i, j), won = ((first, second), won) if first < second else ((second, first), 1.0 - won)
        counts = self._met.setdefault((i, j), [0.0, 0.0])
        counts[0] += 1.0
        counts[1] += won
        self._fit = None

    @property
    def rows(self) -> PlayedRows:
        """Return the pairs that met as rows of a design."""
        pairs = np.array(list(self._met), dtype=np.int64).reshape(-1, 2)
        plays, wins = np.array(list(self._met.values()), dtype=np.float64).reshape(-1, 2).T
        i, j = pairs.T
        return PlayedRows(self.root[i] - self.root[j], plays, wins, self._prior[i] - self._prior[j])

    @property
    def fit(self) -> Laplace:
        """Return Laplace's Gaussian of the weights; it starts from the last one."""
        if self._fit is None:
            self._fit = laplace(self.rows, LOGISTIC, self._start)
            self._start = self._fit.weight
        return self._fit

    def at(self, context: Ints) -> Pairs:
        """Return what is believed in a context, (1,)."""
        here = self._points(context)
        mean = self._prior[here] + self.fit.mean(self.root[here])
        return Pairs(mean, mean[:, None] - mean, between(self.fit.factor, self.root[here]))

    def band(self, context: Ints, delta: float) -> Floats:
        """Return the half-widths of the mixture band of f_i - f_j, (A, A), for |f| <= B in all rounds."""
        bound = float(np.asarray(self.model.rkhs_bound))
        found = mixture_band(self.fit, self.rows, LOGISTIC, bound, delta)
        return np.sqrt(2.0 * found.beta) * between(found.factor, self.root[self._points(context)])

    def sample(self, context: Ints, rng: np.random.Generator) -> Floats:
        """Draw the utilities of the arms, (A,)."""
        here = self._points(context)
        return self._prior[here] + self.root[here] @ self.fit.draw(self.model.gram.quick_white(rng))

    def mean(self, context: Ints) -> Floats:
        """Return the mode of the utilities, (1, A)."""
        return self.at(context).mean[None]

    def std(self, context: Ints) -> Floats:
        """Return the posterior std of the utilities, (1, A)."""
        return self.fit.std(self.root[self._points(context)])[None]

    def _points(self, context: Ints) -> slice:
        first = int(context[0]) * self._num_arms
        return slice(first, first + self._num_arms)


def between(factor: Floats, root: Floats) -> Floats:
    """Return sqrt((F_i - F_j)' (L L')^-1 (F_i - F_j)) of all pairs of rows, (r, r) and (A, r) -> (A, A)."""
    half = solve_triangular(factor, root.T, lower=True)
    cross = half.T @ half
    own = np.diag(cross)
    return np.sqrt(np.maximum(own[:, None] + own - 2.0 * cross, 0.0))
