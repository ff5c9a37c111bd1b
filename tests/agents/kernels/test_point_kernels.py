"""Kernels between points: scikit-learn's values, their slopes, shorter length scales, and parts."""

import numpy as np
import pytest
from scipy.linalg import cho_factor, cho_solve
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

from agents.kernels import visited
from agents.kernels.amplitude import has_length_scale, inflation, shortened
from agents.kernels.slopes import in_theta, linearise, prior_variance, with_theta
from agents.kernels.visited import Visited, VisitedGram
from bandit_envs.kernels.kernels import NAMED, OnColumns, TableKernel, make_kernel

KERNELS = {
    "squared exponential": RBF(0.4),
    "anisotropic": RBF([0.3, 0.6, 0.9]),
    "matern12": Matern([0.3, 0.6, 0.9], nu=0.5),
    "matern32": Matern(0.5, nu=1.5),
    "matern52": Matern([0.3, 0.6, 0.9], nu=2.5),
    "matern of infinite order": Matern(0.5, nu=np.inf),
    "matern of another order": Matern(0.5, nu=2.0),
    "rational quadratic": RationalQuadratic(0.4, 1.3),
    "linear": DotProduct(0.3),
    "power": DotProduct(0.3) ** 2,
    "periodic": ExpSineSquared(0.7, 1.1),
    "scaled": ConstantKernel(2.3) * Matern(0.5, nu=2.5),
    "fixed length-scale": ConstantKernel(2.3) * RBF([0.3, 0.6, 0.9], "fixed"),
    "fixed shape": RationalQuadratic(0.4, 1.3, alpha_bounds="fixed"),
    "with white noise": RBF(0.4) + WhiteKernel(0.3),
    "product over contexts": OnColumns(RBF(0.5), [0]) * OnColumns(Matern([0.2, 0.4], nu=1.5), [1, 2]),
    "sum over contexts": OnColumns(RBF(0.5), [0]) + OnColumns(RationalQuadratic(0.2), [2, 1]),
}


@pytest.fixture(params=KERNELS.values(), ids=KERNELS.keys())
def kernel(request):
    return request.param


def points(size, seed):
    return np.random.default_rng(seed).random((size, 3))


def test_a_kernel_between_points_is_scikit_learns(kernel):
    x, plays = points(6, 0), points(9, 1)
    np.testing.assert_allclose(linearise(kernel, x, plays).values, kernel(x, plays), rtol=1e-12, atol=1e-14)


def test_slopes_in_the_points_are_those_of_finite_differences(kernel):
    x, plays, step = points(6, 0), points(9, 1), 1e-6
    weight = np.random.default_rng(2).normal(size=(6, 9))
    slope = linearise(kernel, x, plays).gradient(weight)
    for j, shift in enumerate(step * np.eye(3)):
        change = (weight * (kernel(x + shift, plays) - kernel(x - shift, plays))).sum(axis=1) / (2 * step)
        np.testing.assert_allclose(slope[:, j], change, rtol=1e-7, atol=1e-8)


def test_slopes_of_the_prior_variance_are_those_of_finite_differences(kernel):
    x, step = points(6, 0), 1e-6
    variance, slope = prior_variance(kernel, x)
    np.testing.assert_array_equal(variance, kernel.diag(x))
    for j, shift in enumerate(step * np.eye(3)):
        change = (kernel.diag(x + shift) - kernel.diag(x - shift)) / (2 * step)
        np.testing.assert_allclose(slope[:, j], change, rtol=1e-7, atol=1e-8)


def test_slopes_in_the_hyperparameters_are_scikit_learns(kernel):
    x = points(12, 3)
    weight = np.random.default_rng(4).normal(size=(12, 12))
    weight += weight.T
    values, slopes = kernel(x, eval_gradient=True)
    mine, pull_back = in_theta(kernel, x)
    np.testing.assert_allclose(mine, values, rtol=1e-12, atol=1e-14)
    pulled = pull_back(weight)
    assert pulled.shape == kernel.theta.shape
    np.testing.assert_allclose(pulled, np.einsum("ij,ijp->p", weight, slopes), rtol=1e-9, atol=1e-10)


def test_a_kernel_with_other_hyperparameters_is_scikit_learns(kernel):
    theta = kernel.theta + np.random.default_rng(5).normal(size=kernel.theta.shape)
    found, expected = with_theta(kernel, theta), kernel.clone_with_theta(theta)
    assert found == expected
    np.testing.assert_array_equal(found.theta, expected.theta)
    np.testing.assert_array_equal(found.bounds, expected.bounds)


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


def test_slopes_vanish_at_a_play_itself_under_stationary_kernels():
    x = points(4, 0)
    for order in (0.5, 1.5, 2.5):
        slope = linearise(Matern(0.3, nu=order), x, x).gradient(np.eye(4))
        np.testing.assert_allclose(slope, 0.0, atol=1e-14)


def test_a_covariance_of_things_without_coordinates_has_no_length_scale():
    assert not has_length_scale(TableKernel(np.eye(3)))
    assert has_length_scale(ConstantKernel(2.0) * RBF(0.1))


@pytest.mark.parametrize(("factor", "bound"), [(1.2, 1.10), (2.0, 1.41), (4.0, 2.0)])
def test_the_bound_in_one_dimension_is_the_root_of_the_factor(factor, bound):
    assert inflation(factor, 1) == pytest.approx(bound, abs=0.005)
    assert inflation(factor, 4) == pytest.approx(factor**2)
