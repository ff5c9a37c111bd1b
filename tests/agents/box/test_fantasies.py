"""Noisy expected improvement on a box: sampled worlds, their slopes, and the agents that improve on them."""

import numpy as np
import pytest
from box_cases import KERNEL, factor_of, view_of_round
from scipy.special import ndtr

import agents
from agents.acquisition.improvement import MaxMean, NoisyPlays
from agents.acquisition.rules import ExpectedImprovement
from agents.beliefs.surface import Surface, fantasies, normal_points
from agents.box.acquisition_surface import AcquisitionSurface, averaged
from bandit_envs import Setting

NOISE, MEAN = 0.04, 0.3
BOX = {"low": np.zeros(2), "high": np.ones(2)}
AT = np.random.default_rng(7).random((6, 2))


def plays(count=9, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.random((count, 2))
    return x, MEAN + np.sin(5.0 * x.sum(axis=1)) + 0.2 * rng.normal(size=count)


def shared_surface():
    x, y = plays()
    factor = factor_of(x, y - MEAN, noise=NOISE)
    return Surface(KERNEL, factor, factor, MEAN)


def hallucinating_surface():
    """The mean comes from the first plays, the deviation from all."""
    x, y = plays()
    factors = (factor_of(*each, noise=NOISE) for each in ((x[:6], y[:6] - MEAN), (x, 0.0 * y)))
    return Surface(KERNEL, *factors, MEAN)


def joint(surface, at):
    x = surface.std_factor.features
    gain = np.linalg.solve(KERNEL(x) + NOISE * np.eye(len(x)), KERNEL(x, at)).T
    own = surface.mean_factor.features
    values = np.linalg.solve(KERNEL(own) + NOISE * np.eye(len(own)), KERNEL(own, at)).T
    _, y = plays()
    return MEAN + values @ (y[: len(own)] - MEAN), KERNEL(at) - gain @ KERNEL(x, at)


def landscape_of(worlds, xi=0.05):
    rule = ExpectedImprovement(xi)
    return AcquisitionSurface(
        rule, worlds.surface, np.empty(0), view_of_round(1, worlds.best), np.random.default_rng(0)
    )


SURFACES = pytest.mark.parametrize("surface_of", [shared_surface, hallucinating_surface])


@SURFACES
def test_a_world_is_the_belief_given_its_values(surface_of):
    surface, white = surface_of(), np.random.default_rng(1).normal(size=(3, 4))
    x = np.vstack([plays()[0][:3], [[0.9, 0.15]]])  # three plays and another point
    local = fantasies(surface, x, white).surface.local(AT)
    mean, covariance = joint(surface, np.vstack([x, AT]))
    root = np.linalg.cholesky(covariance[:4, :4])
    toward = np.linalg.solve(covariance[:4, :4], covariance[:4, 4:]).T
    for s, z in enumerate(white):
        np.testing.assert_allclose(local.mean[s], mean[4:] + toward @ root @ z, atol=1e-6)
    variance = np.diag(covariance[4:, 4:] - toward @ covariance[:4, 4:])
    np.testing.assert_allclose(local.std, np.sqrt(variance), atol=1e-6)


@SURFACES
def test_the_mean_over_worlds_is_noisy_expected_improvement(surface_of):
    """Against plain Monte Carlo over the joint posterior of the candidates and the plays."""
    surface = surface_of()
    x, _ = plays()
    worlds = fantasies(surface, x, normal_points(len(x), 4096, np.random.default_rng(0)))
    mean, covariance = joint(surface, np.vstack([x, AT]))
    root = np.linalg.cholesky(covariance + 1e-10 * np.eye(len(covariance)))
    drawn = mean + np.random.default_rng(2).normal(size=(200_000, len(mean))) @ root.T
    gain = np.maximum(drawn[:, len(x) :] - drawn[:, : len(x)].max(axis=1)[:, None] - 0.05, 0.0)
    error = gain.std(axis=0) / np.sqrt(len(gain))
    found = np.exp(landscape_of(worlds).scores(AT))
    assert (gain.mean(axis=0) > 20 * error).sum() >= 4  # the comparison means something
    assert (np.abs(found - gain.mean(axis=0)) < 4.5 * error + 0.02 * found + 1e-5).all()


@SURFACES
def test_slopes_of_noisy_improvement_are_those_of_finite_differences(surface_of):
    x, _ = plays()
    worlds = fantasies(surface_of(), x[:5], normal_points(5, 8, np.random.default_rng(0)))
    acquisition, step = landscape_of(worlds), 1e-6
    scores, slopes = acquisition.climb(AT)
    np.testing.assert_array_equal(scores, acquisition.scores(AT))
    for j, shift in enumerate(step * np.eye(2)):
        change = (acquisition.scores(AT + shift) - acquisition.scores(AT - shift)) / (2 * step)
        np.testing.assert_allclose(slopes[:, j], change, rtol=1e-5, atol=1e-6)


def test_normal_points_have_the_moments_of_normal_ones():
    white = normal_points(64, 1024, np.random.default_rng(3))
    np.testing.assert_allclose(white.mean(axis=0), 0.0, atol=5e-3)  # independent ones have 0.03
    np.testing.assert_allclose(white.T @ white / 1024, np.eye(64), atol=5 / 1024**0.5)
    few = normal_points(64, 16, np.random.default_rng(3))
    assert (np.sort(np.floor(16 * ndtr(few)), axis=0) == np.arange(16)[:, None]).all()


def incumbent_of(name, setting, **options):
    agent = agents.make(name, setting, **options)
    agent.reset(0)
    return type(agent.incumbent)


def test_improvement_is_noisy_on_boxes_and_on_the_largest_mean_elsewhere():
    finite = Setting(arms=np.linspace(0, 1, 9)[:, None])
    contexts = Setting(**BOX, context_low=np.zeros(1), context_high=np.ones(1))
    kinds = {
        name: [incumbent_of(name, setting, **options) for setting in (Setting(**BOX), finite)]
        for name, options in {"gp-ei": {}, "gp-agent": {"rule": "ei"}, "gp-pi": {}}.items()
    }
    for name in ("gp-ei", "gp-agent"):
        assert kinds[name] == [NoisyPlays, MaxMean]
    assert kinds["gp-pi"][1] is MaxMean
    assert incumbent_of("gp-ei", contexts) is not NoisyPlays
    for setting in (finite, contexts):
        with pytest.raises(ValueError, match='incumbent must not be "noisy"'):
            agents.make("gp-ei", setting, incumbent="noisy")
    with pytest.raises(ValueError, match="max_mean, best_value, noisy"):
        agents.make("gp-ei", Setting(**BOX), incumbent="best")
    with pytest.raises(ValueError, match="max_mean, best_value, got"):
        agents.make("gp-pi", Setting(**BOX), incumbent="noisy")


def test_a_play_is_no_improvement_on_itself():
    surface = shared_surface()
    x, y = plays()
    best = x[np.argsort(-y)]
    noisy = landscape_of(fantasies(surface, best, normal_points(9, 16, np.random.default_rng(0))), xi=0.0)
    assert (noisy.scores(best) < np.log(1e-5)).all()
    assert noisy.scores(AT).max() > np.log(1e-3)


def test_worlds_are_averaged_as_logarithms_and_one_world_not_at_all():
    scores = np.array([[-1.0, -np.inf, -np.inf, -800.0], [0.5, -2.0, -np.inf, -801.0]])
    mean, share = averaged(scores)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(mean[:3], np.log(np.exp(scores[:, :3]).mean(axis=0)))
    np.testing.assert_allclose(mean[3], -800.0 + np.log((1 + np.exp(-1.0)) / 2))
    np.testing.assert_allclose(share.sum(axis=0), [1.0, 1.0, 0.0, 1.0])
    one = np.array([[3.0, np.inf, -np.inf]])
    np.testing.assert_array_equal(averaged(one)[0], one[0])
