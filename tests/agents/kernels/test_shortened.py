"""Kernels with shorter length-scales."""

import numpy as np
import pytest
from scipy.linalg import cho_factor, cho_solve
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from agents.kernels.amplitude import has_length_scale, inflation, shortened
from bandit_envs.kernels.kernels import NAMED, OnColumns, make_kernel

POINTS = np.random.default_rng(0).random((12, 2))
STATIONARY = [name for name in NAMED if has_length_scale(make_kernel(name))]
FACTORS = (1.0, 1.2, 2.0, 4.0)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("name", STATIONARY)
def test_a_shortened_kernel_is_the_kernel_of_stretched_points(name, factor):
    kernel = ConstantKernel(3.0) * make_kernel(name, 0.4)
    np.testing.assert_allclose(shortened(kernel, factor)(POINTS), kernel(factor * POINTS), rtol=1e-12)


def test_every_length_scale_of_a_product_is_shortened_and_its_bounds_with_it():
    kernel = OnColumns(RBF([0.4]), [0]) * OnColumns(Matern(0.2, (0.1, 0.5)), [1])
    half = shortened(kernel, 2.0)
    np.testing.assert_allclose(half(POINTS), kernel(2.0 * POINTS), rtol=1e-12)
    assert half.get_params()["k2__kernel__length_scale_bounds"] == pytest.approx((0.05, 0.25))
    assert shortened(RBF(0.4, "fixed"), 2.0).length_scale_bounds == "fixed"


def norm(kernel, points, values):
    """The least norm of functions with these values, (n,) -> a number."""
    return np.sqrt(values @ cho_solve(cho_factor(kernel(points) + 1e-10 * np.eye(len(points))), values))


@pytest.mark.parametrize("name", STATIONARY)
@pytest.mark.parametrize("factor", FACTORS)
def test_the_norm_of_a_function_grows_by_no_more_than_the_bound(name, factor):
    """The bound of sqrt(c) in one dimension: 1.10, 1.41 and 2.0 at these factors."""
    centres, grid = np.linspace(0.1, 0.9, 5)[:, None], np.linspace(-1.0, 2.0, 90)[:, None]
    kernel, weights = make_kernel(name, 0.2), np.array([1.0, -0.5, 0.8, 0.3, -1.0])
    exact = np.sqrt(weights @ kernel(centres) @ weights)
    there = norm(shortened(kernel, factor), grid, kernel(grid, centres) @ weights)
    assert there <= inflation(factor, 1) * exact * (1.0 + 1e-6)
