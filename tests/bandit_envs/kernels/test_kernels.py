"""Kernels by name and on some columns, and draws from their roots."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

from bandit_envs.kernels.definite import FEW, pivoted_root, quick_white
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import NAMED, OnColumns, make_kernel
from bandit_envs.kernels.kronecker import Kronecker
from bandit_envs.laws import GPSample, RKHSFunction
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problems import build

LINE = np.random.default_rng(0).random((25, 1))


@pytest.mark.parametrize("name", NAMED)
def test_every_named_kernel_is_a_covariance(name):
    kernel = make_kernel(name, 0.3)
    covariance = kernel(LINE)
    np.testing.assert_array_equal(covariance, covariance.T)
    np.testing.assert_allclose(np.diag(covariance), kernel.diag(LINE), rtol=1e-15)
    # What rounding makes of eigenvalues that are 0: n eps of the largest.
    values = np.linalg.eigvalsh(covariance)
    assert values[0] > -25 * 1e-15 * values[-1]


@pytest.mark.parametrize("name", [name for name in NAMED if make_kernel(name).is_stationary()])
def test_the_length_scale_of_a_stationary_kernel_is_in_the_units_of_the_points(name):
    one, other = make_kernel(name, 0.3)(LINE), make_kernel(name, 0.6)(2.0 * LINE)
    np.testing.assert_allclose(other, one, rtol=1e-12)
    np.testing.assert_array_equal(np.diag(one), 1.0)


@pytest.mark.parametrize("name", NAMED)
def test_every_named_kernel_makes_a_problem(name):
    problem = build("gp", {"kernel": name, "num_arms": 15, "horizon": 5})
    assert problem.kernel == make_kernel(name)
    means = problem.draw(0).means
    assert np.isfinite(means).all()
    assert np.ptp(means) > 0


KERNELS = {"low rank": RBF(0.3), "full rank": Matern(0.3, nu=1.5)}
# A factor that is no power of two rounds every covariance otherwise, as another processor rounds sums.
SCALES = (1e3, 3e-3, 7.0)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("law", [GPSample(), RKHSFunction()])
@pytest.mark.parametrize("dim", [1, 2])
def test_a_draw_scales_with_the_amplitude_on_a_symmetric_grid(kernel, law, dim):
    points = unit_grid(49, dim)
    plain = law.draw(Gram(kernel, points), np.random.default_rng(1)).values
    for scale in SCALES:
        rng = np.random.default_rng(1)
        drawn = law.draw(Gram(ConstantKernel(scale**2) * kernel, points), rng).values
        np.testing.assert_allclose(drawn / scale, plain, atol=1e-5)  # what the cut of the rank leaves


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_what_is_drawn_later_does_not_depend_on_the_rank(kernel):
    later = []
    for tail in (0.0, 1e-13):
        rng = np.random.default_rng(1)
        Gram(kernel + ConstantKernel(1.0 + tail), unit_grid(30)).white(rng)
        later.append(rng.random())
    assert later[0] == later[1]


RANKS = {"below": (20, 21), "at": (FEW, FEW + 1), "beyond": (100, 101)}


@pytest.mark.parametrize("rank", RANKS.values(), ids=RANKS)
def test_a_quick_draw_has_the_same_entries_and_moves_the_stream_by_as_much_whatever_the_rank(rank):
    rngs = [np.random.default_rng(1) for _ in rank]
    one, other = (quick_white(r, 111, rng) for rng, r in zip(rngs, rank, strict=True))
    assert np.array_equal(one, other[: rank[0]])
    assert rngs[0].random() == rngs[1].random()


@pytest.mark.parametrize("rank", RANKS.values(), ids=RANKS)
def test_so_does_one_of_several_factors(rank):
    rngs = [np.random.default_rng(1) for _ in rank]
    drawn = [
        Kronecker([np.zeros((r, 333)), np.zeros((5, 30))], (111, 10)).quick_white(rng).reshape(r, 5)
        for rng, r in zip(rngs, rank, strict=True)
    ]
    assert np.array_equal(drawn[0], drawn[1][: rank[0]])
    assert rngs[0].random() == rngs[1].random()


def test_the_entries_of_quick_draws_are_white():
    rng, draws = np.random.default_rng(1), 400
    z = np.array([quick_white(100, 111, rng) for _ in range(draws)])
    deviations = (z.T @ z / draws - np.eye(100)) * np.sqrt(draws / (1 + np.eye(100)))
    assert np.abs(deviations).max() < 5.5  # of 5,050 nearly normal ones, in one of 5,000 runs more
    later = (z[1:].T @ z[:-1]) / np.sqrt(draws - 1)  # nor does a round tell of the next
    assert np.abs(later).max() < 5.5


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_one_factor_draws_as_its_matrix(kernel):
    gram = Gram(kernel, unit_grid(300))
    drawn = [each.quick_white(np.random.default_rng(1)) for each in (gram, gram.kronecker)]
    assert np.array_equal(*drawn)


def test_a_root_is_one_of_the_covariance():
    gram = Gram(KERNELS["full rank"], unit_grid(49, 2))
    root, pivots = pivoted_root(gram.dense.copy(), 1e-14)
    np.testing.assert_allclose(root.T @ root, gram.dense, atol=1e-13)
    assert np.array_equal(np.tril(root[:, pivots], -1), np.zeros((len(root),) * 2))


# --- kernels on columns of (context, arm) pairs are scikit-learn's on those columns ---

POINTS = np.random.default_rng(0).random((12, 3))
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
    x = np.random.default_rng(1).random((60, 3))
    y = np.linalg.cholesky(kernel(x) + 1e-3 * np.eye(60)) @ np.random.default_rng(2).standard_normal(60)
    start = kernel.clone_with_theta(np.log(np.full(kernel.n_dims, 0.3)))
    model = GaussianProcessRegressor(start, alpha=1e-3, n_restarts_optimizer=1, random_state=0).fit(x, y)
    fitted: Any = model.kernel_
    truth = model.log_marginal_likelihood(kernel.theta)
    assert model.log_marginal_likelihood(fitted.theta) >= truth - 1e-6
    slopes = model.log_marginal_likelihood(fitted.theta, eval_gradient=True)[1]
    inside = (fitted.theta > fitted.bounds[:, 0] + 1e-6) & (fitted.theta < fitted.bounds[:, 1] - 1e-6)
    assert np.abs(slopes[inside]).max() < 1e-2
    np.testing.assert_allclose(start.theta, np.log(0.3))  # the given kernel is left alone
