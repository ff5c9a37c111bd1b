"""Contexts come in the stated order, and kernels over (context, arm) pairs are scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

from bandit_envs import BanditEnv
from bandit_envs.kernels.kernels import OnColumns
from bandit_envs.laws import contexts
from bandit_envs.laws.by_name import parse
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problems import build

POINTS = np.random.default_rng(0).random((12, 3))


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# --- sequences ---


def test_blocks_show_each_context_for_a_while_and_begin_again():
    np.testing.assert_array_equal(contexts.Blocks(2).draw(9, 3, rng()), [0, 0, 1, 1, 2, 2, 0, 0, 1])


def test_a_recorded_sequence_is_shown_as_it_is_and_begins_again():
    for indices in ([2, 0, 1], (2, 0, 1), np.array([2, 0, 1])):
        law = contexts.Recorded(indices)  # type: ignore[arg-type]
        np.testing.assert_array_equal(law.draw(5, 3, rng()), [2, 0, 1, 2, 0])


@given(count=st.integers(1, 9), rounds=st.integers(1, 50), seed=st.integers(0, 1000))
def test_a_walk_makes_steps_of_at_most_one_and_stays_inside(count, rounds, seed):
    walk = contexts.Walk().draw(rounds, count, rng(seed))
    assert walk.shape == (rounds,)
    assert walk.min() >= 0
    assert walk.max() < count
    assert (np.abs(np.diff(walk)) <= 1).all()


def test_a_walk_is_uniform_in_every_round():
    ends = np.array([contexts.Walk().draw(6, 4, rng(seed))[[0, 5]] for seed in range(4000)])
    for column in ends.T:
        shares = np.bincount(column, minlength=4) / len(ends)
        assert (np.abs(shares - 0.25) < 4 * np.sqrt(0.25 * 0.75 / len(ends))).all()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"law": "blocks", "length": 0}, "context length must be a positive integer, got 0"),
        ({"law": "recorded", "indices": []}, r"context indices must be a list of integers >= 0, got \[\]"),
        ({"law": "recorded", "indices": [0, -1]}, "context indices must be a list of integers >= 0"),
        ({"law": "recorded", "indices": 3}, "context indices must be a list of integers >= 0, got 3"),
    ],
)
def test_wrong_sequences_are_one_clear_error(spec, message):
    with pytest.raises(ValueError, match=message):
        parse("context", spec, contexts.LAWS)


def test_an_index_of_a_context_that_is_not_there_is_one_clear_error():
    with pytest.raises(ValueError, match=r"context indices must be in 0\.\.2, got 3"):
        contexts.Recorded((0, 3)).draw(5, 3, rng())


# --- kernels on columns ---

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


# --- problems in contexts ---


@pytest.mark.parametrize("combine", ["product", "sum"])
def test_the_kernel_over_pairs_is_the_product_or_sum_over_contexts_and_arms(combine):
    joint = {"combine": combine, "kernel": "matern52", "length_scale": 0.4}
    problem = build("gp", {"num_arms": 9, "num_contexts": 4, "context_dim": 2, "dim": 2,
                           "kernel": "rbf", "context_kernel": joint})  # fmt: skip
    pairs = problem.decisions.points
    assert pairs.shape == (36, 4)
    of_context, of_arm = Matern(0.4, nu=2.5)(unit_grid(4, 2)), RBF(0.2)(unit_grid(9, 2))
    expected = (
        np.kron(of_context, of_arm)
        if combine == "product"
        else np.kron(of_context, np.ones((9, 9))) + np.kron(np.ones((4, 4)), of_arm)
    )
    np.testing.assert_allclose(problem.kernel(pairs), expected, rtol=1e-12)


def test_without_contexts_the_kernel_is_that_of_the_arms():
    assert build("gp", {"context_kernel": {"length_scale": 0.1}}).kernel == RBF(0.2)


def test_functions_in_a_box_vary_with_the_context():
    problem = build("rkhs", {"num_arms": 12, "num_contexts": 3, "continuous": True, "horizon": 60})
    env = BanditEnv(problem)
    env.reset(seed=0)
    means: dict[float, float] = {}
    observation = env.reset(seed=0)[0]
    for _ in range(60):
        key = float(observation[0])
        observation, _, _, _, info = env.step(np.array([0.3]))
        assert means.setdefault(key, info["oracle"]["mean"]) == info["oracle"]["mean"]
        assert info["oracle"]["regret"] >= -1e-9
    assert sorted(means) == [0.0, 0.5, 1.0]
    assert len(set(means.values())) == 3


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"num_contexts": 0}, "num_contexts must be a positive integer, got 0"),
        ({"context_dim": 0}, "context_dim must be a positive integer, got 0"),
        ({"context_kernel": {"combine": "mean"}}, r'"combine"\] must be "product" or "sum", got \'mean\''),
        ({"context_kernel": {"scale": 1}}, r"context_kernel must be a dict of combine, kernel, length_scale"),
        ({"context_kernel": "rbf"}, "context_kernel must be None or a dict, got 'rbf'"),
        ({"num_contexts": 2, "context_kernel": {"kernel": "rfb"}}, "unknown kernel 'rfb'"),
    ],
)
def test_wrong_contexts_are_one_clear_error(keywords, message):
    with pytest.raises(ValueError, match=message):
        build("gp", keywords)
