"""Kernels on columns of (context, arm) pairs are scikit-learn's on those columns."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

from bandit_envs.kernels.kernels import OnColumns

POINTS = np.random.default_rng(0).random((12, 3))


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


INNER = {
    "SE": RBF(0.3),
    "SE of two length-scales": RBF([0.3, 0.6]),
    "scaled Matern": ConstantKernel(2.0) * Matern(0.4, nu=2.5),
    "fixed": RBF(0.3, "fixed"),
    "noise": WhiteKernel(0.5),
}


each_inner = pytest.mark.parametrize("inner", INNER.values(), ids=INNER)


@each_inner
def test_a_kernel_on_columns_is_the_kernel_of_those_columns(inner):
    kernel, seen = OnColumns(inner, [2, 0]), POINTS[:, [2, 0]]
    np.testing.assert_array_equal(kernel(POINTS), inner(seen))
    np.testing.assert_array_equal(kernel(POINTS, POINTS[:4]), inner(seen, seen[:4]))
    np.testing.assert_array_equal(kernel.diag(POINTS), inner.diag(seen))
    for mine, theirs in zip(kernel(POINTS, eval_gradient=True), inner(seen, eval_gradient=True), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert kernel.is_stationary() == inner.is_stationary()


@each_inner
def test_a_kernel_on_columns_has_the_hyperparameters_of_its_kernel(inner):
    kernel = OnColumns(inner, (0, 1))
    np.testing.assert_array_equal(kernel.theta, inner.theta)
    np.testing.assert_array_equal(kernel.bounds, inner.bounds)
    assert kernel.n_dims == inner.n_dims
    names = [f"kernel__{parameter.name}" for parameter in inner.hyperparameters]
    assert [parameter.name for parameter in kernel.hyperparameters] == names
    moved = kernel.clone_with_theta(kernel.theta + 0.5)
    np.testing.assert_allclose(moved.theta, kernel.theta + 0.5)
    np.testing.assert_array_equal(kernel.theta, inner.theta)
    np.testing.assert_allclose(moved(POINTS), inner.clone_with_theta(inner.theta + 0.5)(POINTS[:, [0, 1]]))


def test_kernels_on_columns_are_compared_copied_and_set_by_their_parameters():
    kernel = OnColumns(RBF(0.3), [0])
    assert clone(kernel) == kernel
    assert kernel != OnColumns(RBF(0.3), [1])
    assert kernel != OnColumns(RBF(0.4), [0])
    assert kernel.set_params(kernel__length_scale=0.9) == OnColumns(RBF(0.9), [0])
    assert repr(kernel) == "OnColumns(RBF(length_scale=0.9), [0])"


BOUNDS = (0.05, 5.0)  # narrower than scikit-learn's, which a fit to few data can run into


PAIRS = {
    "product": OnColumns(RBF(0.7, BOUNDS), [0]) * OnColumns(Matern([0.2, 0.5], BOUNDS, nu=2.5), [1, 2]),
    "sum": OnColumns(RBF(0.7, BOUNDS), [0])
    + ConstantKernel(0.5, BOUNDS) * OnColumns(RBF(0.2, BOUNDS), [1, 2]),
}


each_pair = pytest.mark.parametrize("kernel", PAIRS.values(), ids=PAIRS)


@each_pair
def test_gradients_of_products_and_sums_are_slopes(kernel):
    _, gradient = kernel(POINTS, eval_gradient=True)
    for i, step in enumerate(1e-6 * np.eye(kernel.n_dims)):
        above, below = (kernel.clone_with_theta(kernel.theta + sign * step)(POINTS) for sign in (1, -1))
        # A central difference of step 1e-6 is good to about 1e-10.
        np.testing.assert_allclose(gradient[:, :, i], (above - below) / 2e-6, atol=1e-8)


@each_pair
def test_scikit_learn_learns_the_hyperparameters_of_products_and_sums(kernel):
    x = rng(1).random((60, 3))
    y = np.linalg.cholesky(kernel(x) + 1e-3 * np.eye(60)) @ rng(2).standard_normal(60)
    start = kernel.clone_with_theta(np.log(np.full(kernel.n_dims, 0.3)))
    model = GaussianProcessRegressor(start, alpha=1e-3, n_restarts_optimizer=1, random_state=0).fit(x, y)
    fitted: Any = model.kernel_
    truth = model.log_marginal_likelihood(kernel.theta)
    assert model.log_marginal_likelihood(fitted.theta) >= truth - 1e-6
    slopes = model.log_marginal_likelihood(fitted.theta, eval_gradient=True)[1]
    inside = (fitted.theta > fitted.bounds[:, 0] + 1e-6) & (fitted.theta < fitted.bounds[:, 1] - 1e-6)
    assert np.abs(slopes[inside]).max() < 1e-2
    np.testing.assert_allclose(start.theta, np.log(0.3))  # the given kernel is left alone
