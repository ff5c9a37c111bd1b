"""Laplace's Gaussian and the anytime band of clicks and counts, against brute force and scikit-learn."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, Matern

from agents.algorithms.clicks import AgedOutcomes
from agents.beliefs.preferences import Preferences
from agents.model.model import Model
from agents.posteriors.laplace import CLICKS, COUNTS, PlayedRows, laplace, least_curvature, mixture_band
from agents.posteriors.latent import LatentPlays, LatentPosterior, PlayOutcomes
from bandit_envs import Setting
from bandit_envs.kernels import gram
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws.outcomes import BernoulliOutcomes, PoissonCounts
from bandit_envs.problem.decisions import unit_grid

POINTS = np.linspace(0.0, 1.0, 40)[:, None]
ROOT = Gram(make_kernel("rbf", 0.2), POINTS).root.T  # (N, r)
LIKELIHOODS = {"clicks": CLICKS, "counts": COUNTS}
every_likelihood = pytest.mark.parametrize("name", LIKELIHOODS)


def outcomes(name, z, plays, rng):
    if name == "clicks":
        return rng.binomial(plays.astype(int), expit(z)).astype(float)
    return rng.poisson(plays * np.exp(z)).astype(float)


def data(name, design=None, offset=-1.0, seed=0):
    """PlayedRows of a true f of norm 2, each with a few plays."""
    rng = np.random.default_rng(seed)
    design = ROOT[rng.choice(len(ROOT), 12, replace=False)] if design is None else design
    weight = rng.standard_normal(design.shape[1])
    weight *= 2.0 / np.linalg.norm(weight)
    plays = rng.integers(1, 9, len(design)).astype(float)
    offsets = np.full(len(design), offset)
    return PlayedRows(design, plays, outcomes(name, offsets + design @ weight, plays, rng), offsets)


def two_weights(name):
    """PlayedRows of two weights, whose integrals a grid computes."""
    angle = np.linspace(0.0, 2.0, 7)
    return data(name, np.column_stack([np.cos(angle), np.sin(angle)]))


def log_evidence(fit):
    """Laplace's approximation of ln int exp(-J) dN: -J - 1/2 ln det H."""
    return -fit.loss - np.log(np.diag(fit.factor)).sum()


def integrals(rows, likelihood):
    """ln int exp(-J + |w|^2/2) dN, and mean and covariance of the exact posterior, on a grid."""
    axis = np.linspace(-6.0, 6.0, 601)
    weights = np.array(list(itertools.product(axis, axis)))
    z = rows.offset + weights @ rows.design.T
    log = z @ rows.total - likelihood.log_partition(z) @ rows.plays - (weights**2).sum(axis=1) / 2.0
    density = np.exp(log - log.max())
    evidence = np.log(density.sum()) + log.max() + 2.0 * np.log(axis[1] - axis[0]) - np.log(2.0 * np.pi)
    density /= density.sum()
    mean = density @ weights
    return evidence, mean, (weights - mean).T @ ((weights - mean) * density[:, None])


@every_likelihood
@pytest.mark.parametrize("pairs", [False, True])
def test_the_mode_is_the_minimum_that_a_general_optimiser_finds(name, pairs):
    likelihood = LIKELIHOODS[name]
    design = ROOT[::5] - ROOT[3::5] if pairs else None
    rows = data(name, design)
    fit = laplace(rows, likelihood)

    found = minimize(rows.loss, np.zeros(rows.design.shape[1]), args=(likelihood,), method="BFGS")
    np.testing.assert_allclose(fit.weight, found.x, atol=1e-4)  # of differences of the loss
    assert fit.loss <= found.fun + 1e-10
    assert fit.loss == rows.loss(fit.weight, likelihood)


@every_likelihood
def test_slope_and_curvature_are_derivatives_of_the_log_partition(name):
    likelihood, z, step = LIKELIHOODS[name], np.linspace(-4.0, 3.0, 50), 1e-5
    for function, slope in [
        (likelihood.log_partition, likelihood.mean),
        (likelihood.mean, likelihood.curvature),
    ]:
        np.testing.assert_allclose(
            (function(z + step) - function(z - step)) / (2 * step), slope(z), rtol=1e-6, atol=1e-9
        )
    third = (likelihood.curvature(z + step) - likelihood.curvature(z - step)) / (2 * step)
    assert (np.abs(third) <= likelihood.curvature(z) * (1 + 1e-6)).all()


@every_likelihood
def test_the_expected_log_partition_is_an_average_of_normal_draws(name):
    likelihood, white = LIKELIHOODS[name], np.random.default_rng(0).standard_normal(400_000)
    mean, std = np.array([-2.0, 0.5]), np.array([0.3, 1.5])
    drawn = likelihood.log_partition(mean[:, None] + std[:, None] * white)
    error = drawn.std(axis=1) / np.sqrt(white.size)
    gap = np.abs(likelihood.expected_log_partition(mean, std) - drawn.mean(axis=1))
    assert (gap <= 4 * error).all()


@pytest.mark.sampled(1)
@every_likelihood
def test_the_evidence_lies_between_its_bound_and_near_laplace_s_value(name):
    likelihood, rows = LIKELIHOODS[name], two_weights(name)
    fit = laplace(rows, likelihood)
    exact, mean, covariance = integrals(rows, likelihood)
    assert fit.evidence_bound(rows, likelihood) <= exact + 1e-9
    assert exact - fit.evidence_bound(rows, likelihood) < 0.05
    assert abs(log_evidence(fit) - exact) < 0.05
    std = np.sqrt(np.diag(covariance))
    assert (np.abs(fit.weight - mean) < 0.26 * std).all()  # the sheet's largest difference
    np.testing.assert_allclose(fit.std(np.eye(2)), std, rtol=0.05)


@pytest.mark.long
def test_draws_have_the_mode_and_the_spread_of_the_gaussian():
    fit = laplace(data("clicks"), CLICKS)
    rng, draws = np.random.default_rng(0), 20_000
    drawn = np.array([ROOT @ fit.draw(rng.standard_normal(ROOT.shape[1])) for _ in range(draws)])
    gap = np.abs(drawn.mean(axis=0) - fit.mean(ROOT))
    assert (gap <= 4 * fit.std(ROOT) / np.sqrt(draws)).all()
    np.testing.assert_allclose(drawn.std(axis=0), fit.std(ROOT), rtol=4 / np.sqrt(2 * draws))


def test_scikit_learn_finds_the_same_mode_spread_and_evidence():
    """One play a point and no offset, which is what its classifier fits."""
    rng = np.random.default_rng(1)
    points = rng.random((25, 1))
    clicks = (rng.random(25) < expit(3 * np.sin(6 * points[:, 0]))).astype(float)
    fixed: Any = None  # hyperparameters, which no optimiser changes
    classifier = GaussianProcessClassifier(RBF(0.3), optimizer=fixed, max_iter_predict=1000)
    model: Any = classifier.fit(points, clicks)  # of one class or several, by the labels
    kernel = np.asarray(RBF(0.3)(points), dtype=np.float64)
    value, vector = np.linalg.eigh(kernel)
    root = vector * np.sqrt(np.maximum(value, 0.0))

    rows = PlayedRows(root, np.ones(25), clicks, np.zeros(25))
    fit = laplace(rows, CLICKS)
    mean, variance = (np.ravel(each) for each in model.base_estimator_.latent_mean_and_variance(points))
    np.testing.assert_allclose(fit.mean(root), mean, atol=1e-4)  # it stops earlier
    np.testing.assert_allclose(fit.std(root) ** 2, variance, atol=1e-4)
    assert abs(log_evidence(fit) - model.log_marginal_likelihood_value_) < 1e-5


def test_the_least_curvature_is_exact_near_zero_and_falls():
    apart = np.array([0.0, 1e-9, 0.99e-4, 1e-4, 1.01e-4, 1e-3, 1.0, 30.0])
    rho = least_curvature(apart)
    assert rho[0] == 1.0
    assert (np.diff(rho) < 0).all()
    near = apart[:6]
    assert (np.abs(rho[:6] - (1 - near / 3 + near**2 / 12)) <= 1e-11 + near**3 / 50).all()
    np.testing.assert_allclose(rho[6], 2 / np.e)
    assert (rho >= 2 / (2 + apart) * (1 - 1e-8)).all()  # a simpler bound from below


@every_likelihood
def test_the_loss_rises_from_the_mode_as_the_band_claims(name):
    """Any w of norm at most the radius whose loss is at most J(w_map) + beta lies in the band."""
    likelihood, rows, radius = LIKELIHOODS[name], data(name), 2.0
    fit = laplace(rows, likelihood)
    band = mixture_band(fit, rows, likelihood, radius, 0.1)
    rng, inside = np.random.default_rng(0), 0
    for _ in range(2000):
        weight = rng.standard_normal(ROOT.shape[1])
        weight *= radius * rng.random() ** 0.1 / np.linalg.norm(weight)
        rise = rows.loss(weight, likelihood) - fit.loss
        if rise <= band.beta:
            inside += 1
            step = band.factor.T @ (weight - fit.weight)
            assert rise >= step @ step / 2.0
            assert (np.abs(ROOT @ (weight - fit.weight)) <= band.half_width(ROOT)).all()
    assert inside > 50


def _outcomes(law):
    return PlayOutcomes(law, 2)


def _conversions(law):
    return AgedOutcomes(law, 0.7 * (1 / 6) * (5 / 6) ** np.arange(60), 2)


@pytest.mark.parametrize("kernel", [RBF(0.2), Matern(0.3, nu=2.5)], ids=["low rank", "full rank"])
@pytest.mark.parametrize(
    ("law", "made"),
    [
        (BernoulliOutcomes(-1.0), _outcomes),
        (PoissonCounts(0.5, exposure=3.0), _outcomes),
        (BernoulliOutcomes(0.0), _conversions),
    ],
    ids=["clicks", "counts", "conversions"],
)
def test_on_a_box_it_is_the_same_gaussian_as_on_arms(kernel, law, made):
    gram, rng = Gram(kernel, unit_grid(15)), np.random.default_rng(0)
    each = [kind(gram, made(law), 2) for kind in (LatentPosterior, LatentPlays)]
    trial = np.arange(2)
    for t in range(40):
        point = rng.integers(0, 15, 2)
        value = rng.poisson(2.0, 2) * 1.0 if isinstance(law, PoissonCounts) else (rng.random(2) < 0.4) * 1.0
        for posterior in each:
            if isinstance(posterior.outcomes, AgedOutcomes):
                posterior.outcomes.advance(point)
                posterior.outcomes.settle(*(part[value > 0] for part in (trial, point, 0 * point, value)))
            else:
                posterior.observe(trial, point, value)
        if t not in (0, 20, 39):
            continue
        arms, box = each
        np.testing.assert_allclose(box.mean_at(None), arms.mean_at(None), atol=1e-5)
        np.testing.assert_allclose(box.variance_at(None), arms.variance_at(None), atol=1e-6)
        np.testing.assert_allclose(box.gain, arms.gain, rtol=1e-5)
        np.testing.assert_array_equal(box.count_at(None), arms.count_at(None))
        some, others = np.array([0, 7, 14]), np.array([3, 7])
        found, wanted = (posterior.covariance(1, some, others) for posterior in (box, arms))
        np.testing.assert_allclose(found, wanted, atol=1e-6)
    for posterior in each:
        posterior.reset(trial[:1])
    np.testing.assert_array_equal(each[1].mean_at(None)[0], np.zeros(15))
    np.testing.assert_allclose(each[1].mean_at(None)[1], each[0].mean_at(None)[1], atol=1e-5)


def test_a_conversion_before_the_law_allows_it_counts_on_a_box_as_on_arms():
    gram, here, point = Gram(RBF(0.3), unit_grid(5)), np.zeros(1, dtype=np.int64), np.array([2])
    each = [
        kind(gram, AgedOutcomes(BernoulliOutcomes(0.0), np.array([0.0, 0.0, 1.0]), 1), 1)
        for kind in (LatentPosterior, LatentPlays)
    ]
    for posterior in each:
        posterior.outcomes.advance(point)
        posterior.outcomes.settle(
            here, point, 0 * point, np.ones(1)
        )  # at once, where two rounds are the least
    arms, box = each
    assert arms.mean_at(None)[0, 2] > 0.1
    np.testing.assert_allclose(box.mean_at(None), arms.mean_at(None), atol=1e-6)


def _drawn_clicks(kernel, rng):
    setting = Setting(arms=unit_grid(30), kernel=kernel, noise_std=0.5)
    posterior = LatentPosterior(Model.of(setting).gram, PlayOutcomes(BernoulliOutcomes(), 1), 1)
    posterior.observe(np.zeros(3, dtype=int), np.array([3, 7, 22]), np.array([1.0, 0.0, 1.0]))
    return posterior.centred_sample_at(None, [rng])[0]


def _drawn_utilities(kernel, rng):
    belief = Preferences(Model.of(Setting(arms=unit_grid(30), kernel=kernel, duel=True)))
    belief.add(3, 22, 1.0)
    return belief.sample(np.zeros(1, dtype=int), rng)


@pytest.mark.parametrize("kernel", [RBF(0.2), Matern(0.3, nu=1.5)], ids=["low rank", "full rank"])
@pytest.mark.parametrize("drawn", [_drawn_clicks, _drawn_utilities])
def test_a_draw_moves_the_stream_by_as_much_whatever_the_rank(monkeypatch, kernel, drawn):
    draws, later = [], []
    for tolerance in (1e-14, 1e-9):  # as if rounding had changed the rank
        monkeypatch.setattr(gram, "TOLERANCE", tolerance)
        rng = np.random.default_rng(1)
        draws.append(drawn(kernel, rng))
        later.append(rng.random())
    assert later[0] == later[1]
    np.testing.assert_allclose(draws[0], draws[1], atol=1e-3)  # the root of what the cut leaves


@every_likelihood
def test_without_plays_the_prior_is_returned(name):
    empty = PlayedRows(np.empty((0, 3)), np.empty(0), np.empty(0), np.empty(0))
    fit = laplace(empty, LIKELIHOODS[name])
    np.testing.assert_array_equal(fit.weight, np.zeros(3))
    np.testing.assert_array_equal(fit.factor, np.eye(3))
    assert fit.loss == fit.evidence_bound(empty, LIKELIHOODS[name]) == 0.0
    band = mixture_band(fit, empty, LIKELIHOODS[name], 2.0, 0.1)
    # ln(1/delta) + radius^2 / 2: wider than the radius itself, which it may be cut to
    np.testing.assert_allclose(band.half_width(np.eye(3)), np.sqrt(2 * (np.log(10.0) + 2.0)))


def test_a_count_far_above_the_prior_is_found_without_overflow():
    rows = PlayedRows(np.array([[1.0]]), np.array([1.0]), np.array([1e6]), np.array([0.0]))
    weight = laplace(rows, COUNTS).weight[0]
    assert abs(np.exp(weight) + weight - 1e6) < 1e-3  # the slope is zero there


@pytest.mark.sampled(1)
@every_likelihood
def test_beta_is_what_the_exact_evidence_allows(name):
    """ln(1/delta) - ln evidence + radius^2 / 2 - min J, with the evidence of a grid."""
    likelihood, rows = LIKELIHOODS[name], two_weights(name)
    fit = laplace(rows, likelihood)
    exact = np.log(20.0) - integrals(rows, likelihood)[0] + 4.5 - fit.loss
    assert 0.0 <= mixture_band(fit, rows, likelihood, 3.0, 0.05).beta - exact < 0.05
