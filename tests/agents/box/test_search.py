"""A search of a box finds its highest point."""

import numpy as np
from box_cases import RULES, landscape_of, plays, surface_of
from sklearn.gaussian_process.kernels import RBF

from agents.acquisition.rules import PosteriorMean, Thompson
from agents.box import Lattice, QuasiRandom
from agents.box.search import Stacked, UnitSurface, sobol
from agents.widths.base import FixedWidth
from bandit_envs.problem.decisions import unit_grid


def test_the_stacked_climb_is_the_sum_of_single_ones():
    acquisition = landscape_of(RULES["EI"], surface_of(*plays()))
    unit_surface = UnitSurface(acquisition, np.zeros(2), np.ones(2), np.empty((0, 2)))
    starts, at = np.random.default_rng(3).random((2, 5, 2))

    def loss_of(starts):
        return Stacked(unit_surface, starts, *unit_surface.climb(starts))

    loss, slopes = loss_of(starts)(at.ravel())
    each = [loss_of(start[None])(row) for start, row in zip(starts, at, strict=True)]
    np.testing.assert_allclose(loss, sum(value for value, _ in each), rtol=1e-10)
    np.testing.assert_allclose(slopes, np.concatenate([slope for _, slope in each]), rtol=1e-8, atol=1e-12)


def test_slopes_in_unit_coordinates_are_those_of_finite_differences():
    acquisition, step = landscape_of(RULES["UCB"], surface_of(*plays())), 1e-6
    unit_surface = UnitSurface(acquisition, np.array([0.1, 0.5]), np.array([0.8, 0.3]), np.empty((0, 2)))
    at = np.random.default_rng(4).random((5, 2))
    found = unit_surface.climb(at)
    assert found is not None
    for j, shift in enumerate(step * np.eye(2)):
        change = (unit_surface.survey(at + shift).scores - unit_surface.survey(at - shift).scores) / (
            2 * step
        )
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
    np.testing.assert_allclose(
        np.sort((pool.unit - pool.unit[0]) % 1.0, axis=0)[:, 0], np.sort(sobol(2, 64)[:, 0])
    )


def test_the_lattice_of_theorem_4_has_the_theorems_size_up_to_its_cap():
    lattice = Lattice(bound=2.0, lipschitz=3.0, cap=10_000)
    assert lattice.side(1, 1.5, 2) == 2 * 3 * 1.5 * 1 * 4
    assert lattice.side(2, 1.0, 5) == 100  # (2 * 3 * 2 * 25)^2 = 90,000 is beyond it
    acquisition = landscape_of(Thompson(FixedWidth(1.0)), surface_of(*plays()), age=2)
    pool = Lattice(1.0, 1.0, cap=400)(
        UnitSurface(acquisition, np.zeros(2), np.ones(2), np.empty((0, 2))), None
    )
    assert len(pool.arms) == 8**2
    np.testing.assert_array_equal(pool.arms.max(axis=0), 1.0)
