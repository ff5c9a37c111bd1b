"""Covariances of the plays on a box are the kernel's, however many are computed at once."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern, WhiteKernel

from agents.kernels import visited
from agents.kernels.visited import Visited, VisitedGram

KERNEL = 2.0 * Matern([0.3, 0.6], nu=2.5) + WhiteKernel(0.1)


@pytest.mark.parametrize("part_bytes", [1, 8 * 9 * 2, 2**20])
def test_covariances_in_parts_are_the_kernels(part_bytes, monkeypatch):
    monkeypatch.setattr(visited, "PART_BYTES", part_bytes)
    plays = Visited(2)
    for pair in np.random.default_rng(0).random((9, 2)):
        plays.index(pair)
    gram, rows = VisitedGram(KERNEL, plays), np.array([4, 0, 8, 4, 2])
    whole = KERNEL(plays.features)
    np.testing.assert_allclose(gram.between(rows, np.arange(9)), whole[rows], rtol=1e-12)
    assert gram.between(rows[:0], rows).shape == (0, 5)
