"""Scores in a box have the slopes of finite differences."""

import numpy as np
import pytest
from box_cases import KERNEL, RULES, factor_of, landscape_of, plays, surface_of, view_of_round
from sklearn.gaussian_process.kernels import RBF, DotProduct, Matern

from agents.acquisition.rules import Thompson
from agents.beliefs.points import Pairs
from agents.beliefs.surface import Surface
from agents.posteriors import SufficientStatistics
from agents.posteriors.play_factor import PlayFactor
from agents.widths.base import FixedWidth


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


def test_a_mean_and_a_deviation_of_different_plays_have_the_right_slopes():
    x, y = plays()
    surface = Surface(KERNEL, factor_of(x[:7], y[:7]), factor_of(x, 0.0 * y), 0.0)
    acquisition, step = landscape_of(RULES["UCB"], surface), 1e-6
    at = np.random.default_rng(2).random((7, 2))
    _, slopes = acquisition.climb(at)
    for j, shift in enumerate(step * np.eye(2)):
        change = (acquisition.scores(at + shift) - acquisition.scores(at - shift)) / (2 * step)
        np.testing.assert_allclose(slopes[:, j], change, rtol=1e-5, atol=1e-6)


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


def test_a_sample_on_a_box_deviates_from_the_mean_by_the_width():
    mean, std, deviation = np.random.default_rng(3).normal(size=(3, 1, 5))
    view = view_of_round(1, np.ones(1), bias=0.5)
    view.mean, view.std, view.points = mean, std, Pairs(np.empty(0), np.zeros((5, 1)))
    view.path = lambda x: deviation[0]
    np.testing.assert_allclose(Thompson(FixedWidth(3.0))(view), mean + 3.5 * deviation)
