"""Draws on many points have the same law as on few: the ways of many are forced on few here."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

from bandit_envs.kernels import definite
from bandit_envs.kernels import gram as gram_module
from bandit_envs.kernels.circulant import Circulant
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kronecker import Kronecker
from bandit_envs.kernels.random_features import RandomFeatures
from bandit_envs.laws import functions
from bandit_envs.laws.functions import LAWS, GPSample, RKHSFunction
from bandit_envs.problem.decisions import uniform_points, unit_grid
from bandit_envs.problems import build

CASES = {  # kernel, points, how they are drawn
    "factors": (2.0 * RBF([0.3, 0.5]), unit_grid(36, 2), Kronecker),
    "torus": (Matern(0.4, nu=1.5), unit_grid(36, 2), Circulant),
    "torus-of-a-line": (Matern(0.2, nu=2.5), unit_grid(30), Circulant),
    "scattered": (Matern(0.4), uniform_points(30, 3, 0), type(None)),
}
each_case = pytest.mark.parametrize(("kernel", "points", "structure"), CASES.values(), ids=CASES)


@pytest.fixture
def many(monkeypatch):
    monkeypatch.setattr(definite, "SLOW", 10)
    monkeypatch.setattr(definite, "MOST_DENSE", 10)
    monkeypatch.setattr(gram_module, "TRIED", 10)
    monkeypatch.setattr(gram_module, "QUICK", 0.0)
    monkeypatch.setattr(functions, "CENTRES", 10)


def covariance_error(draws, covariance):
    """The largest error of the covariances of draws, in their standard errors."""
    variance = np.diag(covariance)
    error = np.sqrt((np.outer(variance, variance) + covariance**2) / len(draws))
    return (np.abs(draws.T @ draws / len(draws) - covariance) / error).max()


@pytest.mark.sampled(2)
@each_case
def test_gaussian_processes_on_many_points_have_the_kernels_covariance(kernel, points, structure, many):
    gram, rng = Gram(kernel, points), np.random.default_rng(0)
    assert type(gram.structure) is structure
    if gram.structure is None:
        with pytest.raises(ValueError, match="num_arms must be at most"):
            GPSample().draw(gram, rng)
        return
    assert covariance_error(GPSample().draws(gram, rng, 4000), kernel(points)) < 4.5


def test_random_features_are_drawn_with_the_covariance_that_is_declared():
    kernel, points = 2.0 * RandomFeatures(RBF(0.3), 8), uniform_points(12, 3, 0)
    gram = Gram(kernel, points)
    draws = GPSample().draws(gram, np.random.default_rng(0), 1500)
    assert covariance_error(draws, gram.dense) < 4.5
    drawn = GPSample().draw(gram, np.random.default_rng(1))
    np.testing.assert_array_equal(drawn.between(points), drawn.values)


@each_case
@pytest.mark.parametrize("norm", [None, 2.0])
def test_rkhs_functions_on_many_points_have_exactly_their_norm(kernel, points, structure, norm, many):
    gram = Gram(kernel, points)
    drawn = RKHSFunction(norm=norm).draw(gram, np.random.default_rng(3))
    expansion = drawn.between if norm is None else drawn.between.function
    alpha = expansion.alpha if norm is None else drawn.between.link(expansion.alpha)
    assert len(alpha) == 10
    assert np.sqrt(alpha @ kernel(expansion.points) @ alpha) == pytest.approx(drawn.norm, rel=1e-8)
    assert drawn.norm == (norm or drawn.norm)
    np.testing.assert_allclose(drawn.values, kernel(points, expansion.points) @ alpha, atol=1e-9)
    assert "dense" not in vars(gram)


def test_expansions_are_the_same_in_blocks_of_any_size(many, monkeypatch):
    gram = Gram(Matern(0.3), uniform_points(50, 3, 0))
    whole = RKHSFunction().draw(gram, np.random.default_rng(0))
    monkeypatch.setattr(definite, "BLOCK_BYTES", 8 * 10 * 7)
    monkeypatch.setattr("bandit_envs.laws.drawn.SEARCH_BYTES", 8 * 10 * 7)
    cut = RKHSFunction().draw(gram, np.random.default_rng(0))
    np.testing.assert_allclose(cut.values, whole.values, rtol=1e-13)
    np.testing.assert_allclose(cut.between(gram.points), whole.between(gram.points), rtol=1e-13)


@pytest.mark.parametrize("function", LAWS)
def test_five_thousand_points_and_more_of_a_low_rank_are_drawn_from_the_root(function):
    assert Gram(Matern(0.2), unit_grid(5000)).has_quick_root
    gram = Gram(RBF(0.2), unit_grid(30_000))
    assert gram.has_quick_root
    values = LAWS[function]().draw(gram, np.random.default_rng(0)).values
    root = Gram(RBF(0.2), unit_grid(30_000)).pivoted_cholesky(512)
    assert root is not None
    np.testing.assert_array_equal(gram.root, root.rows)
    assert values.shape == (30_000,)


def test_points_that_would_take_too_much_memory_are_refused_before_it_is_allocated():
    problem = build("gp", {"num_arms": 10**5, "dim": 3, "kernel": "matern12", "points": "uniform"})
    with pytest.raises(ValueError, match=r"num_arms .* got 100000, .* 80 GB; .* random_features=512"):
        problem.draw(0)
    with pytest.raises(ValueError, match="num_arms must be at most 20000"):
        _ = problem.gram.dense


def test_points_whose_draw_would_take_long_are_warned_of_unless_they_have_structure(monkeypatch):
    monkeypatch.setattr(definite, "SLOW", 63)
    monkeypatch.setattr(gram_module, "TRIED", 63)
    with pytest.warns(UserWarning, match=r"num_arms should be at most 63 .* got 64, .*random_features=512"):
        GPSample().draw(Gram(Matern(0.01, nu=0.5), uniform_points(64, 3, 0)), np.random.default_rng(0))
    GPSample().draw(Gram(RBF(0.5), unit_grid(64)), np.random.default_rng(0))  # of low rank
    GPSample().draw(Gram(Matern(0.01, nu=0.5), unit_grid(64)), np.random.default_rng(0))  # of a torus


def test_a_box_of_too_many_anchors_is_refused(many):
    problem = build("gp", {"num_arms": 36, "dim": 2, "kernel": "matern52", "continuous": True})
    with pytest.raises(ValueError, match=r"num_arms must be at most .* on a box"):
        problem.draw(0)


@pytest.mark.parametrize("function", LAWS)
@pytest.mark.parametrize("continuous", [False, True])
def test_declared_features_are_the_kernel_that_is_published(function, continuous):
    keywords = {"num_arms": 30, "dim": 3, "random_features": 16, "points_seed": 4, "continuous": continuous}
    trial = build(function, {**keywords, "kernel": "matern52", "points": "uniform"}).draw(0)
    assert repr(trial.setting.kernel) == "RandomFeatures(Matern(length_scale=0.2, nu=2.5), count=16, seed=4)"
