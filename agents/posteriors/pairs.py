"""A posterior on (context, arm) pairs, of which a round reads only one context's.

Of the factor's v(x) = L^-1 k(X, x) it keeps the columns of A cells, V (k, A). A play adds the row

    V[k] = (k(x_k, cells) - L[k, :k] V[:k]) / L[k, k].
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.kernels.definite import pivoted_root, white
from bandit_envs.kernels.gram import TOLERANCE, Gram

from .base import Posterior, SufficientStatistics
from .decomposition import FIRST_CAPACITY, solve_rows, solve_vector
from .play_factor import PlayFactor

# Of a trial's latest contexts; not less in a large batch, or trials would depend on the batch.
CACHE_BYTES = 2**26


class CellRows:
    """Mean, variance and samples at A points, ascending; O(k A) for each new play."""

    def __init__(self, factor: PlayFactor, cells: Ints):
        self.factor, self.cells = factor, cells
        self._used = 0  # rows of the factor that V includes
        self._rows = np.empty((FIRST_CAPACITY, len(cells)))  # V
        self._variance = factor.gram.diagonal[cells]  # a copy
        self._root = np.empty((0, len(cells)))  # of Sigma after the first `_root_at` rows, (r, A)
        self._root_at = -1

    @property
    def nbytes(self) -> int:
        """Memory in use."""
        return self._rows.nbytes + self._root.nbytes

    @property
    def mean(self) -> Floats:
        """Posterior mean, (A,)."""
        return self.factor.innovation @ self.rows

    @property
    def variance(self) -> Floats:
        """Posterior variance, (A,). Read only."""
        self._extend()
        return self._variance

    @property
    def weight_norm(self) -> Floats:
        """|a_x|, (A,)."""
        return self.factor.weight_norm(self.rows)

    @property
    def count(self) -> Floats:
        """Plays, (A,)."""
        place, here = self._place(self.factor.point)
        count = np.zeros(len(self.cells))
        np.add.at(count, place[here], self.factor.count[here])
        return count

    @property
    def rows(self) -> Floats:
        """V, (k, A). Read only."""
        self._extend()
        return self._rows[: self._used]

    def centred_sample(self, rng: np.random.Generator) -> Floats:
        """Draw f - mean jointly, (A,).

        A root R of the covariance after `_root_at` rows gives a draw g = z R of that posterior. For later
        plays Matheron's rule subtracts the part of it that they explain, V' L^-1 (g(x) + sqrt(lambda / n) e)
        with their rows of V and L. It saves an O(A^3) root while all plays are among the cells.
        """
        rows, place = self.rows, self._since_root()
        drawn = white(len(self._root), self._root.shape[1], rng) @ self._root
        start, noise = self._root_at, np.sqrt(self.factor.noise / self.factor.count[self._root_at :])
        seen = drawn[place] + noise * rng.standard_normal(len(place))
        return drawn - solve_vector(self.factor.triangle[start:, start:], seen) @ rows[start:]

    def _since_root(self) -> Ints:
        """Return the cells played since the root was taken; take a new root if other points were played."""
        if self._root_at >= 0:
            place, here = self._place(self.factor.point[self._root_at :])
            if here.all():
                return place
        covariance = self.factor.gram.between(self.cells, self.cells)
        covariance -= self.rows.T @ self.rows
        self._root, _ = pivoted_root(covariance, TOLERANCE * float(self.factor.gram.diagonal.max()))
        self._root_at = self._used
        return np.empty(0, dtype=np.int64)

    def _place(self, point: Ints) -> tuple[Ints, Bools]:
        """Return the places of points among the cells, and the mask of points that are cells, (n,) each."""
        place = np.minimum(np.searchsorted(self.cells, point), len(self.cells) - 1)
        return place, self.cells[place] == point

    def _extend(self) -> None:
        old, new = self._used, self.factor.used
        if old == new:
            return
        capacity = len(self._rows)
        if new > capacity:
            self._rows = np.pad(self._rows, ((0, max(new, 2 * capacity) - capacity), (0, 0)))
        triangle, rows = self.factor.triangle, self._rows[old:new]
        rows[:] = self.factor.gram.between(self.factor.point[old:], self.cells)
        rows -= triangle[old:, :old] @ self._rows[:old]
        solve_rows(triangle[old:, old:], rows)
        self._variance -= np.einsum("ka,ka->a", rows, rows)
        self._used = new


class PairPosterior(Posterior):
    """Posterior that stores plays, and rows over the arms of the latest contexts; no table of size N.

    O(t A + t^2) a round of t plays. A context that returns is updated with the plays since, O(t A) each. It
    loops over trials: their plays and contexts differ, and stacking them would copy or pad all rows.
    """

    def __init__(self, gram: Gram, noise: float | Floats, num_trials: int):
        super().__init__(gram, noise, num_trials)
        none = SufficientStatistics.none()
        self._factor = [PlayFactor(gram, each, none) for each in self.noise.tolist()]
        self._seen = [OrderedDict[bytes, CellRows]() for _ in self._factor]  # by cells, the latest last

    @property
    def gain(self) -> Floats:
        return np.array([self.factor(i).gain for i in range(len(self.noise))])

    def observe_sums(self, trial: Ints, point: Ints, plays: Floats, total: Floats) -> None:
        for i, *play in zip(*(each.tolist() for each in (trial, point, total, plays)), strict=True):
            if self._factor[i].crowded:
                self.condition_on(i, self._factor[i].statistics)
            self._factor[i].append(*play)

    def correct(self, trial: Ints, point: Ints, change: Floats) -> None:
        for i, x, dy in zip(trial.tolist(), point.tolist(), change.tolist(), strict=True):
            self._factor[i].correct(x, dy)

    def mean_at(self, cells: Ints | None) -> Floats:
        return np.array([rows.mean for rows in self._at(cells)])

    def variance_at(self, cells: Ints | None) -> Floats:
        return np.array([rows.variance for rows in self._at(cells)])

    def weight_norm_at(self, cells: Ints | None) -> Floats:
        return np.array([rows.weight_norm for rows in self._at(cells)])

    def count_at(self, cells: Ints | None) -> Floats:
        return np.array([rows.count for rows in self._at(cells)])

    def centred_sample_at(self, cells: Ints | None, rngs: Sequence[np.random.Generator]) -> Floats:
        return np.array([rows.centred_sample(rng) for rows, rng in zip(self._at(cells), rngs, strict=True)])

    def mean_of(self, trial: Ints, point: Ints) -> Floats:
        mean = np.empty(len(trial))
        for i in np.unique(trial).tolist():
            factor, mine = self.factor(i), trial == i
            mean[mine] = factor.innovation @ factor.explain(point[mine])
        return mean

    def variance_of(self, trial: Ints, point: Ints) -> Floats:
        variance = self.gram.diagonal[point]
        for i in np.unique(trial).tolist():
            mine = trial == i
            variance[mine] -= (self.factor(i).explain(point[mine]) ** 2).sum(axis=0)
        return variance

    def covariance(self, trial: int, point: Ints, other: Ints) -> Floats:
        factor = self.factor(trial)
        return self.gram.between(point, other) - factor.explain(point).T @ factor.explain(other)

    def factor(self, trial: int) -> PlayFactor:
        """Return the plays of one trial as a factor, which determines its posterior anywhere."""
        return self._factor[trial]

    def reset(self, trial: Ints) -> None:
        for i in trial.tolist():
            self.condition_on(i, SufficientStatistics.none())

    def statistics(self, trial: int) -> SufficientStatistics:
        return self._factor[trial].statistics

    def condition_on(self, trial: int, seen: SufficientStatistics) -> None:
        self._factor[trial] = PlayFactor(self.gram, self.noise.item(trial), seen)
        self._seen[trial].clear()

    def _at(self, cells: Ints | None) -> Iterator[CellRows]:
        if cells is None:
            cells = np.broadcast_to(np.arange(self.gram.size), (len(self.noise), self.gram.size))
        return (self._rows(i, row) for i, row in enumerate(cells))

    def _rows(self, trial: int, cells: Ints) -> CellRows:
        """Return the posterior of a trial at ascending points, (A,)."""
        factor, seen, key = self.factor(trial), self._seen[trial], cells.tobytes()
        if key not in seen:
            while seen and sum(rows.nbytes for rows in seen.values()) > CACHE_BYTES:
                seen.popitem(last=False)
            seen[key] = CellRows(factor, cells)
        seen.move_to_end(key)
        return seen[key]
