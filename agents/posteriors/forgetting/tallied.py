r"""A memory that stores sums of its plays at each point, whatever their number.

With n the sum of the weights of the plays of each of the u remembered points X, and b that of their values,

    L L' = K_XX + diag(lambda / n),    V = L^-1 K_X,    e = L^-1 (b / n).
"""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

from ..condensed import solve_rows, solve_vector
from ..play_factor import PlayFactor
from ..sufficient_statistics import SufficientStatistics
from .memory import Memory


class Tallied(Memory):
    """Memory that recomputes its factor, O(u^3 + u^2 A), when a subclass has changed the sums."""

    def __init__(self, gram: Gram, noise: float):
        super().__init__(gram, noise)
        self._count, self._total = np.zeros(gram.size), np.zeros(gram.size)  # n, b
        self._squares = np.zeros(gram.size)  # sums of the squared weights
        self._forget_factor()

    @property
    def factor(self) -> PlayFactor:
        """The plays with their present weights; O(u^3) after every change."""
        if self._play_factor is None:
            seen = self.statistics
            self._play_factor = PlayFactor(self.gram, self.noise, seen, self._squares[seen.point])
        return self._play_factor

    def rows(self, cells: Ints | None) -> Floats:
        """Return V = L^-1 K_X, L L' = K_XX + diag(lambda / n), (u, A); None for all N. Read only."""
        key = None if cells is None else cells.tobytes()
        if key not in self._rows:
            point, triangle = self._factor()
            place = np.arange(self.gram.size) if cells is None else cells
            rows = self.gram.columns(point) if cells is None else self.gram.between(point, place)
            solve_rows(triangle, rows)
            self._rows[key] = rows
        return self._rows[key]

    @property
    def innovation(self) -> Floats:
        """L^-1 (b / n), (u,)."""
        point, triangle = self._factor()
        return solve_vector(triangle, self._total[point] / self._count[point])

    @property
    def gain(self) -> float:
        """1/2 logdet(I + diag(n / lambda) K_XX)."""
        point, triangle = self._factor()
        return float(np.log(triangle.diagonal()).sum() + 0.5 * np.log(self._count[point] / self.noise).sum())

    @property
    def statistics(self) -> SufficientStatistics:
        """Sums of weights and of weighted values."""
        return SufficientStatistics.of(self._count, self._total)

    def _factor(self) -> tuple[Ints, Floats]:
        """Return the remembered points X, (u,), and L, (u, u)."""
        if self._known is None:
            point = self._count.nonzero()[0]
            covariance = self.gram.between(point, point)
            covariance[np.diag_indices(len(point))] += self.noise / self._count[point]
            self._known = point, np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
        return self._known

    def _forget_factor(self) -> None:
        self._known: tuple[Ints, Floats] | None = None
        self._play_factor: PlayFactor | None = None
        self._rows: dict[bytes | None, Floats] = {}
