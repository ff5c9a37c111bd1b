"""The ridge by cross-validation on the samples of a detector (Avanesov 2020, Remark 3.1)."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

import agents
from agents.model.rounds import Delivery
from agents.restarts.detector import MOST_SIMULATED_ALONE, ChangePointDetector, calibrate, detect
from agents.restarts.tails import CROSS_VALIDATED, TestRates, best_ridge, due
from bandit_envs import Setting
from bandit_envs.kernels.gram import Gram

MATERN, NOISE, NEVER = Matern(1.0, nu=2.5), 0.05, float("inf")
POINTS = np.linspace(0.0, 5.0, 60)[:, None]
OF_AGENTS = {
    "gp-ucb-cpd": {"ridge": CROSS_VALIDATED, "theta": NEVER},
    "gp-agent": {"restart": "cpd", "restart_options": {"ridge": CROSS_VALIDATED, "theta": NEVER}},
}


@pytest.fixture(scope="module")
def gram():
    return Gram(MATERN, POINTS)


def samples(gram, count=40, seed=0):
    rng = np.random.default_rng(seed)
    point = rng.integers(gram.size, size=count)
    function = rng.standard_normal(len(gram.root)) @ gram.root
    return point, function[point] + NOISE * rng.standard_normal(count)


def shown(detector, point, value):
    for x, y in zip(point.tolist(), value, strict=True):
        detector.append(x, y)
    return detector


def test_it_is_chosen_whenever_there_are_twice_as_many_samples():
    assert [count for count in range(100) if due(count)] == [8, 16, 32, 64]


@pytest.mark.parametrize("centred", [False, True])
def test_statistics_are_those_of_the_ridge_that_predicts_best(gram, centred):
    point, value = samples(gram)
    value += 5.0 * centred
    adaptive = shown(
        ChangePointDetector.on_points(gram, ridge=CROSS_VALIDATED, theta=NEVER, centred=centred), point, value
    )
    seen = value[:32] - centred * value[:32].mean()
    best = best_ridge(MATERN(gram.points[point[:32]]), seen[:, None], TestRates.of(MATERN, 1))
    assert adaptive.rates.ridge == best < 0.1  # the noise variance is 0.0025
    fixed = shown(ChangePointDetector.on_points(gram, ridge=best, theta=NEVER, centred=centred), point, value)
    np.testing.assert_allclose(adaptive.latest, fixed.latest, rtol=1e-9)


def test_the_unit_of_the_responses_decides_nothing(gram):
    point, value = samples(gram)
    scaled = Gram(ConstantKernel(1e6) * MATERN, POINTS)
    plain, large = (ChangePointDetector.on_points(prior, ridge=CROSS_VALIDATED) for prior in (gram, scaled))
    assert shown(plain, point, value).rates.ridge == shown(large, point, 1e3 * value).rates.ridge


def test_a_threshold_is_calibrated_for_the_ridge_that_a_sequence_chooses_alone(gram, monkeypatch):
    simulated = []

    def noted(detector, x, y):
        simulated.append((detector.num_responses, len(x)))
        return np.ones(y.shape)

    monkeypatch.setattr("agents.restarts.detector.largest_statistics", noted)
    calibrate(gram, NOISE, 100, 0.1, runs=3, ridge=CROSS_VALIDATED)
    assert simulated == [(1, MOST_SIMULATED_ALONE)] * 3


@pytest.mark.long
def test_the_rate_of_false_alarms_holds_for_a_ridge_by_cross_validation(gram):
    theta, raised = calibrate(gram, NOISE, 40, 0.1, ridge=CROSS_VALIDATED), []
    detector = ChangePointDetector.on_points(gram, ridge=CROSS_VALIDATED, theta=theta)
    for seed in range(200):
        point, value = samples(gram, 40, seed)
        raised.append(bool(detect(detector, point.tolist(), value)))
    assert np.mean(raised) < 0.1 + 4 * (2 * 0.1 * 0.9 / 200) ** 0.5  # as many were simulated


@pytest.mark.parametrize("name", OF_AGENTS)
def test_agents_take_it_as_an_option(name):
    setting = Setting(arms=POINTS, horizon=100, kernel=MATERN, noise_std=NOISE, may_change=True)
    agent = agents.make(name, setting, **OF_AGENTS[name])
    agent.reset(0)
    point, value = samples(Gram(MATERN, POINTS), 8)
    trial, t = np.zeros(8, dtype=np.int64), np.arange(8)
    agent.restart.watch.receive(Delivery(trial, point, t, t, value, np.empty((8, 0))))
    (detector,) = agent.restart.watch.detectors
    assert detector.rates.ridge == best_ridge(MATERN(POINTS[point]), value[:, None], TestRates.of(MATERN, 1))


def test_a_reset_forgets_the_choice(gram):
    detector = shown(ChangePointDetector.on_points(gram, ridge=CROSS_VALIDATED), *samples(gram))
    detector.reset()
    assert detector.rates.ridge == 5.0
