"""The search for the largest mean + w std finds what all scores would, whatever was done to the posterior."""

import numpy as np
import pytest

from agents.posteriors import band_search, weight_space
from agents.posteriors.base import SufficientStatistics
from agents.posteriors.weight_space import KroneckerPosterior
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import OnColumns, make_kernel
from bandit_envs.kernels.kronecker import Kronecker
from bandit_envs.problem.decisions import unit_grid

TIE, NOISE = 1e-9, 0.01
ONLY = np.array([0])
KERNELS = {
    "square": (make_kernel("rbf", 0.2), unit_grid(23**2, 2)),
    "sides apart": (make_kernel("rbf", [0.1, 0.6]), unit_grid(30**2, 2)),
    "cube": (make_kernel("rbf", 0.4), unit_grid(9**3, 3)),
    "amplitude": (
        2.5 * OnColumns(make_kernel("matern52", 0.3), [0]) * OnColumns(make_kernel("rbf", 0.3), [1]),
        unit_grid(20**2, 2),
    ),
}
every_kernel = pytest.mark.parametrize("case", KERNELS)


@pytest.fixture(autouse=True)
def few_points_are_many(monkeypatch):
    monkeypatch.setattr(weight_space, "SEARCHED", 1)
    monkeypatch.setattr(band_search, "SLABS", 7)


def made(case: str) -> KroneckerPosterior:
    kernel, points = KERNELS[case]
    return KroneckerPosterior(Gram(kernel, points), NOISE, 1)


def by_all_scores(posterior: KroneckerPosterior, width: float) -> np.ndarray:
    scores = posterior.mean[0] + width * np.sqrt(np.maximum(posterior.variance[0], 0.0))
    return np.flatnonzero(scores >= scores.max() - TIE)


def observe(posterior: KroneckerPosterior, point: int, value: float) -> None:
    posterior.observe(ONLY, np.array([point]), np.array([value]))


def read_by_search(searched: KroneckerPosterior, other: KroneckerPosterior, width: float) -> int:
    """Compare with a posterior that computes all, and return a point of the largest score."""
    found = searched.argmax_ucb(width, TIE)
    np.testing.assert_array_equal(found, by_all_scores(other, width))
    assert found is not None
    return int(found[0])


@every_kernel
@pytest.mark.parametrize("widths", ["rising", "falling", "random"])
def test_it_finds_what_all_scores_would(case, widths):
    searched, other, rng = made(case), made(case), np.random.default_rng(0)
    function = searched.gram.kronecker.draw(rng)
    for t in range(150):
        width = {"rising": 1.0 + 0.02 * t, "falling": 4.0 - 0.02 * t, "random": rng.uniform(0.0, 5.0)}[widths]
        point = read_by_search(searched, other, width)
        value = function[point] + 0.1 * rng.standard_normal()
        observe(searched, point, value)
        observe(other, point, value)
    np.testing.assert_allclose(searched.mean, other.mean, atol=1e-9)
    np.testing.assert_allclose(searched.variance, other.variance, atol=1e-9)


@every_kernel
def test_plays_of_anywhere_and_rounds_without_a_search_are_noted(case):
    searched, other, rng = made(case), made(case), np.random.default_rng(1)
    for t in range(120):
        if rng.random() < 0.2:
            read_by_search(searched, other, 2.0)
        if t == 60:
            np.testing.assert_allclose(searched.mean, other.mean, atol=1e-9)  # the tables catch up
        point, value = int(rng.integers(searched.gram.size)), 3.0 * rng.standard_normal()
        observe(searched, point, value)
        observe(other, point, value)
    read_by_search(searched, other, 2.0)


@pytest.mark.parametrize("change", ["reset", "restored", "corrected", "sums"])
def test_other_changes_of_the_posterior_are_not_missed(change):
    searched, other, rng = made("square"), made("square"), np.random.default_rng(4)
    for posterior in (searched, other):
        posterior.argmax_ucb(2.0, TIE)
        for point, value in ((40, 1.0), (300, -2.0)):
            observe(posterior, point, value)
        posterior.argmax_ucb(2.0, TIE)
        if change == "reset":
            posterior.reset(ONLY)
        if change == "restored":
            seen = SufficientStatistics(np.array([7, 500]), np.array([2.0, 5.0]), np.array([3.0, 11.0]))
            posterior.condition_on(0, seen)
        if change == "corrected":
            posterior.correct(ONLY, np.array([40]), np.array([2.0]))
        if change == "sums":
            posterior.observe_sums(ONLY, np.array([90]), np.array([3.0]), np.array([6.0]))
    for _ in range(20):
        assert searched.searches is (change not in ("corrected", "sums"))
        if not searched.searches:
            break
        read_by_search(searched, other, 2.0)
        point, value = int(rng.integers(searched.gram.size)), rng.standard_normal()
        observe(searched, point, value)
        observe(other, point, value)


def test_it_is_for_one_trial_of_many_points(monkeypatch):
    kernel, points = KERNELS["square"]
    assert made("square").searches
    assert made("square").argmax_ucb(-1.0, TIE) is None  # a std that counts against a point
    assert not KroneckerPosterior(Gram(kernel, points), NOISE, 2).searches
    monkeypatch.setattr(weight_space, "SEARCHED", len(points) + 1)
    assert not made("square").searches


def test_the_norm_of_the_other_factors_is_that_of_their_product():
    roots = [scale * np.random.default_rng(i).random((2, 4)) for i, scale in enumerate((5.0, 3.0, 0.5))]
    columns = np.kron(roots[1], roots[2])
    expected = np.linalg.norm(columns, axis=0).max()
    assert Kronecker(roots, (2, 2, 2)).largest_rest == pytest.approx(expected, rel=1e-12)
