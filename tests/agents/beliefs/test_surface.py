"""What is believed anywhere in a box is the regression on the plays."""

import numpy as np
from box_cases import KERNEL, NOISE, factor_of, plays, surface_of
from sklearn.gaussian_process import GaussianProcessRegressor

from agents.beliefs.surface import Surface
from agents.kernels.visited import Visited


def test_the_surface_is_scikit_learns_regression():
    x, y = plays()
    x, y = np.vstack([x, x[:4]]), np.concatenate([y, y[:4] + 0.2])  # some points twice
    raw = GaussianProcessRegressor(KERNEL, alpha=NOISE, optimizer=None).fit(x, y)
    at = np.random.default_rng(1).random((20, 2))
    mean, std = surface_of(x, y).predict(at)
    expected_mean, expected_std = raw.predict(at, return_std=True)
    np.testing.assert_allclose(mean, expected_mean, atol=1e-9)
    np.testing.assert_allclose(std, expected_std, atol=1e-9)


def test_late_corrections_move_the_surface_as_if_they_had_come_in_time():
    x, y = plays()
    late = factor_of(x, np.zeros(len(y)))
    for i, value in enumerate(y.tolist()):
        late.correct(i, value)
    at = np.random.default_rng(1).random((9, 2))
    expected = surface_of(x, y).predict(at)
    found = Surface(KERNEL, late, late, 0.0).predict(at)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_points_are_the_same_only_if_they_are_equal():
    visited = Visited(2)
    numbers = [
        visited.index(np.array(p)) for p in ([0.5, 0.5], [0.5, 0.5 + 1e-17], [0.5 + 1e-12, 0.5], [-0.0, 0.0])
    ]
    assert numbers == [0, 0, 1, 2]
    assert visited.index(np.array([0.0, 0.0])) == 2
    grown = [visited.index(np.array([i / 7.0, 2.0])) for i in range(200)]
    assert grown == list(range(3, 203))
    np.testing.assert_array_equal(visited.features[3:, 0], np.arange(200) / 7.0)
