r"""One trial's posterior at some of its points, updated with new plays on access.

Of the factor's v(x) = L^-1 k(X, x) it keeps the columns of A cells, V (k, A). A play adds the row

    V[k] = (k(x_k, cells) - L[k, :k] V[:k]) / L[k, k].
"""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.kernels.gram import TOLERANCE
from bandit_envs.kernels.roots import pivoted_root, white

from .condensed import solve_rows, solve_vector
from .play_factor import FIRST_CAPACITY, PlayFactor


class CellRows:
    """Mean, variance and samples at A points; O(k A) for each new play.

    Args:
        factor: the plays of the trial.
        cells: points, ascending, (A,).
    """

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

    def deviation(self, rng: np.random.Generator) -> Floats:
        """Draw f - mean jointly, (A,).

        A root R of the covariance as it was after `_root_at` rows gives a draw g = z R of that posterior. For
        later plays Matheron's rule subtracts the part of it that they explain, V' L^-1 (g(x) +
        sqrt(lambda / n) e) with their rows of V and L. It saves an O(A^3) root while all plays are among the
        cells.
        """
        rows, place = self.rows, self._since_root()
        drawn = white(rng, self._root) @ self._root
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
        self._reserve(new)
        triangle, rows = self.factor.triangle, self._rows[old:new]
        rows[:] = self.factor.gram.between(self.factor.point[old:], self.cells)
        rows -= triangle[old:, :old] @ self._rows[:old]
        solve_rows(triangle[old:, old:], rows)
        self._variance -= np.einsum("ka,ka->a", rows, rows)
        self._used = new

    def _reserve(self, rows: int) -> None:
        old = len(self._rows)
        if rows > old:
            self._rows = np.pad(self._rows, ((0, max(rows, 2 * old) - old), (0, 0)))
