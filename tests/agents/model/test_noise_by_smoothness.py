"""The noise variance that grows with the horizon."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern, WhiteKernel

from agents.model.model import Model
from bandit_envs import Setting
from bandit_envs.kernels.kernels import make_kernel


def model(kernel, dim=1, **options):
    arms = np.random.default_rng(0).random((9, dim))
    setting = Setting(arms=arms, horizon=100, kernel=make_kernel(kernel, [0.2] * dim), noise_std=0.3)
    return Model.of(setting, **options)


@pytest.mark.parametrize(("kernel", "nu"), [("matern32", 1.5), ("matern52", 2.5), ("rbf", np.inf)])
@pytest.mark.parametrize("dim", [1, 2])
def test_lambda_grows_as_the_smoothness_says(kernel, nu, dim):
    chosen = model(kernel, dim, noise_variance="smoothness")
    growth = 1.0 if np.isinf(nu) else 100.0 ** (dim / (2 * nu + 2 * dim))
    assert chosen.noise_variance == pytest.approx(0.09 * growth, rel=1e-12)
    assert chosen.noise_std == 0.3


def test_it_grows_from_the_noise_of_each_trial():
    chosen = model("matern52", noise_variance="smoothness", noise_std=np.array([0.1, 0.2]))
    np.testing.assert_allclose(chosen.noise_variance, np.array([0.01, 0.04]) * 100.0 ** (1 / 7), rtol=1e-12)


def test_it_grows_from_the_noise_that_a_kernel_says():
    kernel = Matern(0.2, nu=2.5) + WhiteKernel(0.04)
    chosen = Model.of(model("rbf").setting, kernel=kernel, noise_variance="smoothness")
    assert chosen.noise_variance == pytest.approx(0.04 * 100.0 ** (1 / 7), rel=1e-12)
    assert chosen.noise_std == pytest.approx(0.2, rel=1e-12)
