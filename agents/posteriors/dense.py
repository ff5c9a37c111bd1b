"""Posterior of any kernel in the form of whole covariance matrices."""

import math
from functools import cached_property
from typing import cast

import numpy as np
from scipy.linalg import get_blas_funcs, qr, solve_triangular

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram

from .table import TablePosterior

(_gemm,) = get_blas_funcs(("gemm",), dtype=np.float64)

BLOCK = 32  # pending vectors u: fewer mean more passes over (N, N), more mean longer columns
SMALLEST_PIVOT = 1e-5  # of the prior's root; smaller pivots are not inverted in a draw


class DensePosterior(TablePosterior):
    """Posterior that stores Sigma = Sigma_0 - U'U, (B, N, N) and (B, BLOCK, N); O(N^2) an observation.

    A full block of U is subtracted from Sigma_0 by one matrix product, which reads the matrix once
    for BLOCK observations. The best form for a few hundred points and many more rounds.
    """

    def __init__(self, gram: Gram, noise: float | Floats, num_trials: int):
        super().__init__(gram, noise, num_trials)
        self._covariance = np.tile(gram.dense, (num_trials, 1, 1))  # (B, N, N) Sigma_0
        self._pending = np.zeros((num_trials, BLOCK, gram.size))  # (B, BLOCK, N) U; unused rows are zero
        self._used = np.zeros(num_trials, dtype=np.int64)  # rows of U in use
        self._depth = 0  # the largest of them
        self._all = np.arange(num_trials)

    def columns(self, trial: Ints, point: Ints) -> Floats:
        return self._columns(trial, trial, point)

    def _columns(self, rows: slice | Ints, trial: Ints, point: Ints) -> Floats:
        column = self._covariance[trial, point]
        shared = self._pending[trial, : self._depth, point]
        column -= np.matmul(shared[:, None, :], self._pending[rows, : self._depth])[:, 0]
        return column

    def _absorb(self, trial: Ints, point: Ints, noise: Floats) -> tuple[Floats, Floats]:
        rows = self._rows(trial)
        root = self._columns(rows, trial, point)
        scale = np.sqrt(noise + root[self._all[: len(trial)], point])
        root /= scale[:, None]
        self._pending[trial, self._used[rows]] = root
        self._used[rows] += 1
        self._depth += 1
        if self._depth == BLOCK:
            self._subtract_pending()
        return root, scale

    def _absorb_one(self, i: int, x: int) -> tuple[Floats, float]:
        used = self._used.item(i)
        pending = self._pending[i, :used]
        root = self._covariance[i, x] - pending[:, x] @ pending
        scale = math.sqrt(self.noise.item(i) + root.item(x))
        root /= scale
        self._pending[i, used] = root
        self._used[i] = used + 1
        self._depth = max(self._depth, used + 1)
        if self._depth == BLOCK:
            self._subtract_pending()
        return root, scale

    def _subtract_pending(self) -> None:
        # A trial that observes less often keeps its rows until half a block justifies the product.
        for i in (self._used >= BLOCK // 2).nonzero()[0].tolist():
            # In place, one trial at a time: a batched product would copy (B, N, N).
            pending = self._pending[i].T
            _gemm(-1.0, pending, pending, 1.0, self._covariance[i].T, trans_b=1, overwrite_c=1)
            self._clear(i)
        self._depth = int(self._used.max())

    def _deviate(self, weight: Floats, played: list[Ints], noise: list[Floats]) -> Floats:
        # With f' = K a + g Matheron's rule is g + Sigma (a - n g / lambda - sqrt(n / lambda) e). For a = 0
        # it would be a difference of numbers n / lambda times as large as the sample.
        point, to_source, to_rest = self._prior_draw
        rate, rest = self.count / self.noise[:, None], weight @ to_rest
        pull = -rate * rest - np.sqrt(rate) * self._everywhere(played, noise)
        pull[:, point] += weight @ to_source
        pull = pull[:, :, None]
        sample = self._covariance @ pull
        sample -= self._pending.swapaxes(1, 2) @ (self._pending @ pull)
        return rest + sample[:, :, 0]

    @cached_property
    def _prior_draw(self) -> tuple[Ints, Floats, Floats]:
        """Points P (k,) and matrices (r, k), (r, N) that split z @ R into a @ K[P] and a small rest g.

        With R[:, P] = Q_1 T_1 from a pivoted QR of R, a = T_1^-1 Q_1'z and g = R'(I - Q_1 Q_1') z.
        """
        root = self.gram.root
        found = qr(root, mode="economic", pivoting=True)
        orthogonal, triangle, point = cast(tuple[Floats, Floats, Ints], found)
        # A larger T_1 amplifies the rounding of Sigma, a smaller one leaves a larger rest g.
        k = np.count_nonzero(np.abs(np.diag(triangle)) > SMALLEST_PIVOT * abs(triangle[0, 0]))
        basis = orthogonal[:, :k]
        to_source = solve_triangular(triangle[:k, :k], basis.T).T
        return point[:k], to_source, root - basis @ (basis.T @ root)

    def _forget(self, trial: Ints) -> None:
        self._covariance[trial] = self.gram.dense
        self._clear(trial)

    def _restore_trial(self, i: int) -> None:
        *_, rows = self._condensed(i)
        self._covariance[i] = self.gram.dense - rows.T @ rows
        self._clear(i)

    def _clear(self, trial: int | Ints) -> None:
        self._pending[trial] = 0.0
        self._used[trial] = 0
