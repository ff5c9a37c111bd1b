"""The learnt model: its loss, slopes and posterior are those of the textbook's formulas."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from real_cases import hyperparameters, noises, surrogate, textbook_covariance, values
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from agents.real.posterior import SurrogatePosterior
from agents.real.surrogate import JITTER, SHAPES, PointValues

OF_SKLEARN = {
    "rbf": RBF,
    "matern32": lambda scale: Matern(scale, nu=1.5),
    "matern52": lambda scale: Matern(scale, nu=2.5),
}
every_form = pytest.mark.parametrize(
    ("shape", "data_sets", "linear", "earlier"),
    [(shape, *forms) for shape in SHAPES for forms in product((1, 3), (False, True), (False, True))],
)


def precision(of, theta, seen):
    """Return the inverse covariance of the values under a constant mean of variance 1 / pi."""
    point, noise = seen.point, noises(of, theta, seen) / seen.weight
    within = textbook_covariance(of, theta)[np.ix_(point, point)] + 1.0 / of.prior.mean_precision
    return np.linalg.inv(within + np.diag(noise + JITTER * np.exp(theta[of.parameters.number])))


@every_form
def test_covariances_are_those_of_the_formula(shape, data_sets, linear, earlier):
    of = surrogate(shape, data_sets, linear, earlier)
    theta, points = hyperparameters(of), np.arange(18)
    expected = textbook_covariance(of, theta)
    np.testing.assert_allclose(of.covariance(theta, points[:7], points), expected[:7], atol=1e-12)
    np.testing.assert_allclose(of.variance(theta, points), expected.diagonal(), atol=1e-12)


@every_form
@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_is_that_of_the_formula(shape, data_sets, linear, earlier, weighted):
    of, seen = surrogate(shape, data_sets, linear, earlier), values(weighted=weighted)
    theta = hyperparameters(of)
    noise, own = of.noise(theta), noises(of, theta, seen)
    within = textbook_covariance(of, theta)[:10, :10] + np.diag(own / seen.weight)
    inverse, pi = np.linalg.inv(within), of.prior.mean_precision
    mean = inverse.sum(axis=0) @ seen.mean / (inverse.sum() + pi)
    gap, again = seen.mean - mean, seen.plays > 1.0
    n, total = seen.plays[again], 4.0 * noise + seen.squares[again]
    expected = 0.5 * gap @ inverse @ gap + 0.5 * np.linalg.slogdet(within)[1] + 0.5 * pi * mean**2
    expected += 0.5 * np.sum(((theta - of.prior.centre) / of.prior.spread) ** 2)
    expected += np.sum((3.0 + n) / 2.0 * np.log(total) - 2.0 * np.log(noise))
    assert again.any()
    assert of.loss(theta, seen)[0] == pytest.approx(expected, rel=1e-8)


@every_form
@pytest.mark.parametrize("weighted", [False, True])
def test_slopes_are_those_of_differences(shape, data_sets, linear, earlier, weighted):
    of, seen = surrogate(shape, data_sets, linear, earlier), values(weighted=weighted)
    theta = hyperparameters(of)
    _, slopes = of.loss(theta, seen)
    steps = 1e-5 * np.eye(len(theta))
    differences = [(of.loss(theta + step, seen)[0] - of.loss(theta - step, seen)[0]) / 2e-5 for step in steps]
    np.testing.assert_allclose(slopes, differences, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_posterior_is_that_of_sklearn_with_the_mean_as_a_constant_kernel(shape):
    of, seen = surrogate(shape), values()
    theta = hyperparameters(of)
    lengths = np.exp(theta[of.parameters.owner])
    kernel = ConstantKernel(np.exp(theta[2])) * OF_SKLEARN[shape](lengths) + ConstantKernel(1.0 / 0.7)
    noise = noises(of, theta, seen) / seen.weight + JITTER * np.exp(theta[2])
    model = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None)
    columns = of.parameters.columns
    mean, std = model.fit(columns[seen.point], seen.mean).predict(columns, return_std=True)
    found = SurrogatePosterior(of, theta, seen).at(np.arange(18))
    np.testing.assert_allclose(found.mean, mean, atol=1e-8)
    np.testing.assert_allclose(np.sqrt(found.known), std, atol=1e-7)
    np.testing.assert_array_equal(found.variance, found.known)


@every_form
@pytest.mark.parametrize("weighted", [False, True])
def test_the_posterior_is_that_of_the_textbook(shape, data_sets, linear, earlier, weighted):
    of, seen = surrogate(shape, data_sets, linear, earlier), values(weighted=weighted)
    theta = hyperparameters(of)
    prior = textbook_covariance(of, theta) + 1.0 / of.prior.mean_precision
    weights = prior[:, seen.point] @ precision(of, theta, seen)
    found = SurrogatePosterior(of, theta, seen).at(np.arange(18))
    np.testing.assert_allclose(found.mean, weights @ seen.mean, atol=1e-8)
    np.testing.assert_allclose(
        found.known, prior.diagonal() - np.sum(weights * prior[:, seen.point], axis=1), atol=1e-8
    )


@every_form
def test_pending_plays_count_as_if_they_gave_their_expected_values(shape, data_sets, linear, earlier):
    of, seen, pending = surrogate(shape, data_sets, linear, earlier), values(), np.array([12, 15])
    theta, points = hyperparameters(of), np.arange(18)
    before = SurrogatePosterior(of, theta, seen)
    found = before.at(points, pending)
    extra = [pending, np.ones(2), before.at(pending).mean, np.zeros(2), np.ones(2)]
    after = SurrogatePosterior(of, theta, PointValues(*map(np.append, seen, extra))).at(points)
    np.testing.assert_allclose(found.mean, after.mean, atol=1e-8)
    np.testing.assert_allclose(found.variance, after.known, atol=1e-8)
    np.testing.assert_array_equal(found.known, before.at(points).known)


def test_the_noise_of_a_repeated_arm_is_its_own_and_of_another_the_common_one():
    of, seen = surrogate(), values()
    theta = hyperparameters(of)
    found = SurrogatePosterior(of, theta, seen).noise_at(np.array([3, 17, 0]))
    own = noises(of, theta, seen)
    np.testing.assert_allclose(found, [own[3], of.noise(theta), own[0]])


@pytest.mark.parametrize("quieter", [1.0, 0.1])
def test_the_height_of_values_is_their_log_likelihood_at_the_likeliest_scale(quieter):
    of, seen = surrogate(), values()
    theta = hyperparameters(of)
    height = of.standardised(theta, seen, quieter)
    within = textbook_covariance(of, theta)[:10, :10] + 1.0 / of.prior.mean_precision
    inverse = np.linalg.inv(within + np.diag(quieter * of.noise(theta) / seen.weight))
    one, other = np.random.default_rng(5).standard_normal((2, 10))
    expected = -5.0 * np.log((one @ inverse @ one) / (other @ inverse @ other))
    assert height(one) - height(other) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", SHAPES)
def test_far_points_are_next_to_uncorrelated_and_never_denormal(name):
    shape, far = SHAPES[name], np.array([1e4, 1e9])
    for found in (shape.value(far), shape.slope(far)):
        assert (found < 1e-20).all()
        assert (found > np.finfo(np.float64).tiny).all()


def test_an_arm_that_is_pending_twice_counts_twice():
    of, seen = surrogate(), values()
    posterior = SurrogatePosterior(of, hyperparameters(of), seen)
    once, twice = (posterior.at(np.array([12]), np.full(n, 12)) for n in (1, 2))
    known, noise = once.known[0], posterior.noise_at(np.array([12]))[0]
    assert once.variance[0] == pytest.approx(known * noise / (known + noise), rel=1e-8)
    assert twice.variance[0] == pytest.approx(known * noise / (2.0 * known + noise), rel=1e-8)
