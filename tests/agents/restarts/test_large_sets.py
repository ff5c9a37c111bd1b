"""Detectors calibrate themselves on sets whose covariance nobody makes."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

from agents.restarts.detection import calibrate
from agents.restarts.detection.detector import _functions
from bandit_envs.kernels.gram import Gram
from bandit_envs.problem.decisions import unit_grid

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
def test_functions_on_many_points_are_drawn_where_samples_are(kernel):
    gram, point = Gram(kernel, unit_grid(64, 2)), np.array([5, 60, 5, 11])
    draws = _functions(gram, point, 4000, np.random.default_rng(0)).T
    covariance = kernel(gram.points[point])
    variance = np.diag(covariance)
    error = np.sqrt((np.outer(variance, variance) + covariance**2) / len(draws))
    assert (np.abs(draws.T @ draws / len(draws) - covariance) < 4.5 * error).all()
    assert not {"dense", "root"} & vars(gram).keys()


@each_kernel
@pytest.mark.usefixtures("_many")
def test_a_threshold_on_many_points_is_calibrated_without_their_covariance(kernel):
    gram = Gram(kernel, unit_grid(64, 2))
    assert 0.0 < calibrate(gram, 0.1, 12, 0.2, runs=20) < np.inf
    assert not {"dense", "root"} & vars(gram).keys()
