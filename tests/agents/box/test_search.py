"""The search of a box: starts, slopes of scores, climbs, and joint samples along a path."""

import numpy as np
import pytest
from box_cases import KERNEL, RULES, SETTING, factor_of, landscape_of, plays, surface_of
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern

import agents
from agents.acquisition.rules import PosteriorMean, Thompson
from agents.beliefs.surface import Surface
from agents.box import Lattice, QuasiRandom
from agents.box.acquisition_surface import Path
from agents.box.search import UnitSurface, sobol
from agents.posteriors import SufficientStatistics
from agents.posteriors.play_factor import PlayFactor
from agents.widths.base import FixedWidth
from bandit_envs.problem.decisions import unit_grid


def test_slopes_in_unit_coordinates_are_those_of_finite_differences():
    acquisition, step = landscape_of(RULES["UCB"], surface_of(*plays())), 1e-6
    unit_surface = UnitSurface(acquisition, np.array([0.1, 0.5]), np.array([0.8, 0.3]), np.empty((0, 2)))
    at = np.random.default_rng(4).random((5, 2))
    found = unit_surface.climb(at)
    assert found is not None
    for j, shift in enumerate(step * np.eye(2)):
        rise = unit_surface.survey(at + shift).scores - unit_surface.survey(at - shift).scores
        change = rise / (2 * step)
        np.testing.assert_allclose(found[1][:, j], change, rtol=1e-5, atol=1e-6)


def test_thompson_sampling_searches_one_sample():
    """The pool of a search is one path: its scores follow the smoothness of the process."""
    surface = surface_of(*plays(), kernel=RBF(0.3))
    acquisition = landscape_of(Thompson(FixedWidth(1.0)), surface)
    unit_surface = UnitSurface(acquisition, np.zeros(2), np.ones(2), np.full((1, 2), 0.5))
    pool = QuasiRandom(candidates=64)(unit_surface, np.random.default_rng(0))
    assert len(pool.unit) > 64 + 100  # it was refined
    best = pool.scores.argmax()
    near = np.abs(pool.unit - pool.unit[best]).max(axis=1) < 0.003
    assert near.sum() > 5
    assert np.ptp(pool.scores[near]) < 0.02  # slopes of draws with length-scale 0.3 are of the order 3
    assert pool.scores[best] > pool.scores[:64].max()  # between the quasi-random points it is higher


def test_a_search_finds_the_highest_point_of_a_surface():
    x, y = plays(30)
    acquisition = landscape_of(PosteriorMean(), surface_of(x, y))
    unit_surface = UnitSurface(acquisition, np.zeros(2), np.ones(2), x[np.argsort(-y)[:4]])
    grid = unit_grid(201**2, 2)
    pool = QuasiRandom(candidates=128)(unit_surface, np.random.default_rng(0))
    assert pool.scores.max() >= acquisition.scores(grid).max() - 1e-9


def test_where_nothing_is_known_every_quasi_random_point_is_as_likely():
    surface = surface_of(np.empty((0, 2)), np.empty(0))
    unit_surface = UnitSurface(landscape_of(RULES["UCB"], surface), np.zeros(2), np.ones(2), np.empty((0, 2)))
    pool = QuasiRandom(candidates=64)(unit_surface, np.random.default_rng(0))
    assert len(pool.unit) == 64
    assert np.ptp(pool.scores) == 0.0
    moved = np.sort((pool.unit - pool.unit[0]) % 1.0, axis=0)[:, 0]
    np.testing.assert_allclose(moved, np.sort(sobol(2, 64)[:, 0]))


def test_the_lattice_of_theorem_4_has_the_theorems_size_up_to_its_cap():
    lattice = Lattice(bound=2.0, lipschitz=3.0, cap=10_000)
    assert lattice.side(1, 1.5, 2) == 2 * 3 * 1.5 * 1 * 4
    assert lattice.side(2, 1.0, 5) == 100  # (2 * 3 * 2 * 25)^2 = 90,000 is beyond it
    acquisition = landscape_of(Thompson(FixedWidth(1.0)), surface_of(*plays()), age=2)
    unit_surface = UnitSurface(acquisition, np.zeros(2), np.ones(2), np.empty((0, 2)))
    pool = Lattice(1.0, 1.0, cap=400)(unit_surface, None)
    assert len(pool.arms) == 8**2
    np.testing.assert_array_equal(pool.arms.max(axis=0), 1.0)


@pytest.mark.long
def test_a_path_in_parts_is_one_joint_sample():
    """Second moments over many draws are the posterior covariance, also between points of different calls."""
    x, y = plays(5)
    surface, draws = surface_of(x, y), 4000
    parts = [np.random.default_rng(4).random((3, 2)), np.random.default_rng(5).random((2, 2))]
    at = np.vstack(parts)
    drawn = np.empty((draws, 5))
    for i in range(draws):
        path = Path(surface, np.random.default_rng(i))
        drawn[i] = np.concatenate([path(part) for part in parts])
    explained = surface.explain(at)
    covariance = KERNEL(at) - explained.T @ explained
    variance = np.diag(covariance)
    error = np.sqrt((np.multiply.outer(variance, variance) + covariance**2) / draws)
    assert (np.abs(drawn.T @ drawn / draws - covariance) < 4.5 * error).all()
    assert (np.abs(drawn.mean(axis=0)) < 4.5 * np.sqrt(variance / draws)).all()


@pytest.mark.parametrize("kernel", [KERNEL, RBF(0.5) * Matern(0.3, nu=1.5) + DotProduct(0.2), RBF(0.2) ** 2])
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_slopes_of_scores_are_those_of_finite_differences(rule, kernel):
    x, y = plays()
    acquisition, step = landscape_of(rule, surface_of(x, y, kernel, mean=0.4)), 1e-6
    at = np.random.default_rng(2).random((7, 2))
    scores, slopes = acquisition.climb(at)
    np.testing.assert_array_equal(scores, acquisition.scores(at))
    for j, shift in enumerate(step * np.eye(2)):
        change = (acquisition.scores(at + shift) - acquisition.scores(at - shift)) / (2 * step)
        np.testing.assert_allclose(slopes[:, j], change, rtol=1e-4, atol=1e-5 * np.abs(scores).max())


def test_a_mean_of_the_first_plays_is_to_the_bit_that_of_its_own_factor():
    x, y = plays()
    apart, experiments = factor_of(x[:7], y[:7]), factor_of(x, 0.0 * y)
    results = PlayFactor(experiments.gram, experiments.noise, SufficientStatistics.none())
    for point, value in enumerate(y[:7]):
        results.append(point, float(value))
    assert results.leads(experiments)
    at = np.random.default_rng(2).random((7, 2))
    found, expected = (Surface(KERNEL, each, experiments, 0.0).local(at) for each in (results, apart))
    np.testing.assert_array_equal(found.mean, expected.mean)
    np.testing.assert_array_equal(found.std, expected.std)
    of_mean, of_std = np.random.default_rng(3).normal(size=(2, 1, 7))
    np.testing.assert_array_equal(found.gradient(of_mean, of_std[0]), expected.gradient(of_mean, of_std[0]))


def test_a_path_has_one_value_at_a_point():
    surface = surface_of(*plays(), kernel=RBF(0.3))
    path, at = Path(surface, np.random.default_rng(0)), np.random.default_rng(1).random((40, 2))
    first = path(at)
    np.testing.assert_allclose(path(at[::-1])[::-1], first, atol=1e-3 * np.abs(first).max())


def test_a_search_reaches_the_boundary_exactly():
    x = np.random.default_rng(0).random((20, 2))
    surface = surface_of(x, 3.0 * x[:, 0] - 2.0 * x[:, 1], kernel=ConstantKernel(9.0) * RBF(1.0))
    unit_surface = UnitSurface(landscape_of(PosteriorMean(), surface), np.zeros(2), np.ones(2), x[:0])
    pool = QuasiRandom(candidates=64)(unit_surface, np.random.default_rng(1))
    np.testing.assert_array_equal(pool.unit[pool.scores.argmax()], [1.0, 0.0])


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: QuasiRandom(candidates=0), "candidates"),
        (lambda: QuasiRandom(starts=-1), "starts"),
        (lambda: QuasiRandom(steps=0), "steps"),
        (lambda: Lattice(cap=0), "cap"),
        (lambda: Lattice(bound=0.0), "bound"),
        (lambda: agents.gp_ei(SETTING, search=3), "search"),
        (
            lambda: agents.gp_ei(SETTING, search={"candidate": 64}),
            "search must be .* candidates, starts, steps",
        ),
        (lambda: agents.gp_ei(SETTING, prior_mean=np.zeros(2)), "prior_mean"),
        (lambda: agents.gp_ei(SETTING, kernel=RBF([1.0, 1.0, 1.0])), "kernel"),
        (lambda: agents.gp_ucb(SETTING, width="finite-set"), "width"),
    ],
)
def test_what_cannot_be_is_an_error_that_names_it(make, name):
    with pytest.raises(ValueError, match=name):
        make()
