"""Thresholds on long sequences and of many points."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

import agents
from agents.restarts.detector import ChangePointDetector, calibrate, largest_statistics
from agents.restarts.on_alarm import uniform_rounds
from bandit_envs import Setting
from bandit_envs.kernels.gram import Gram
from bandit_envs.problem.decisions import unit_grid

NOISE, RATE = 0.05, 0.1
RIDGES = [NOISE**2, 5.0]  # the defaults of gp-agent and of gp-ucb-cpd


@pytest.fixture(scope="module")
def gram():
    return Gram(Matern(1.0, nu=2.5), np.linspace(0.0, 5.0, 40)[:, None])


@pytest.mark.parametrize("ridge", RIDGES)
def test_what_is_extrapolated_is_about_what_is_simulated(gram, ridge, monkeypatch):
    simulated, shorter = (calibrate(gram, NOISE, m, RATE, runs=60, ridge=ridge) for m in (48, 24))
    monkeypatch.setattr("agents.restarts.detector.MOST_SIMULATED", 24)
    extrapolated = calibrate(gram, NOISE, 48, RATE, runs=60, ridge=ridge)
    assert shorter < extrapolated
    assert extrapolated == pytest.approx(simulated, rel=0.3)  # a deviation of each is 15 %


def test_the_threshold_of_a_run_is_that_of_all_its_uniform_rounds(gram, monkeypatch):
    monkeypatch.setattr("agents.restarts.detector.MOST_SIMULATED", 8)
    setting = Setting(arms=gram.points, horizon=600, kernel=gram.kernel, noise_std=NOISE)
    agent = agents.make("gp-ucb-cpd", setting, false_alarm_rate=RATE)
    agent.reset(0)
    theta = float(np.max(agent.restart.watch.detectors[0].rates.theta))
    assert theta == calibrate(gram, NOISE, uniform_rounds(600), RATE)


@pytest.mark.long
@pytest.mark.parametrize("ridge", RIDGES)
def test_the_rate_of_false_alarms_holds_in_a_run_of_17000_rounds(gram, ridge):
    samples = uniform_rounds(17_000)
    theta = calibrate(gram, NOISE, samples, RATE, ridge=ridge)
    largest = [sequences(gram, samples, rng, ridge) for rng in np.random.default_rng(5).spawn(10)]
    # Four deviations of the 400 sequences here and of the 200 of the calibration would be 0.1.
    assert np.mean(np.concatenate(largest) > theta) < RATE + 0.05


def sequences(gram, samples, rng, ridge, together=40):
    """The largest statistic * n^e of stationary sequences at the same points, (together,)."""
    point = rng.integers(gram.size, size=samples)
    truth = np.array([gram.white(rng) for _ in range(together)]) @ gram.root
    value = truth[:, point].T + NOISE * rng.standard_normal((samples, together))
    detector = ChangePointDetector.on_points(gram, num_responses=together, ridge=ridge, theta=np.inf)
    return largest_statistics(detector, point.tolist(), value)[-1]


KERNELS = {"factors": 2.0 * RBF(0.3), "torus": Matern(0.4, nu=1.5)}
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


@pytest.fixture
def _many(monkeypatch):
    """More than 20 points are many."""
    monkeypatch.setattr("bandit_envs.kernels.definite.SLOW", 20)
    for name, few in {"DENSE_LIMIT": 20, "TRIED": 20, "QUICK": 0.0}.items():
        monkeypatch.setattr(f"bandit_envs.kernels.gram.{name}", few)


@each_kernel
@pytest.mark.usefixtures("_many")
def test_a_threshold_on_many_points_is_calibrated_without_their_covariance(kernel):
    gram = Gram(kernel, unit_grid(64, 2))
    assert 0.0 < calibrate(gram, 0.1, 12, 0.2, runs=20) < np.inf
    assert not {"dense", "root"} & vars(gram).keys()
