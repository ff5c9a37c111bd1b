"""Where hyperparameters are learnt on a box, first length-scales and noise are modes of BoTorch's priors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from players import at_once
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import agents
from agents.model.hyperparameters import Fitter, Spreads
from agents.model.model import Model
from bandit_envs import Setting
from bandit_envs.kernels.kernels import make_kernel


def box(dim: int, side: float = 1.0, **facts: object) -> Setting:
    return Setting(low=np.zeros(dim), high=side * np.ones(dim), horizon=30, **facts)


@pytest.mark.parametrize("dim", [1, 2, 6, 20, 100])
def test_a_random_pair_is_correlated_alike_in_every_dimension(dim):
    kernel = Model.of(box(dim, side=7.0), refit_every=5).kernel
    typical = np.zeros((2, dim))
    typical[1] = 7.0 / math.sqrt(6.0)  # two uniform points are sqrt(d / 6) sides apart
    assert kernel(typical)[0, 1] == pytest.approx(math.exp(-1.0 / (12.0 * 0.2048**2)), rel=1e-3)


def test_each_side_of_a_box_has_its_own_length_scale():
    sides = np.array([1.0, 10.0, 0.0])
    kernel = Model.of(Setting(low=[0.0, 0.0, 2.0], high=[1.0, 10.0, 2.0]), refit_every=5).kernel
    share = math.exp(math.sqrt(2.0) - 3.0) * math.sqrt(3.0)
    np.testing.assert_allclose(kernel.length_scale, share * np.where(sides > 0, sides, 10.0))


def test_a_noise_that_is_withheld_starts_at_the_mode_of_its_prior():
    model = Model.of(box(2), refit_every=5)
    assert model.noise_variance == pytest.approx(math.exp(-5.0))
    assert model.learning is not None
    assert model.learning.noise_spread == 3.0


@pytest.mark.parametrize(
    ("setting", "options"),
    [
        (box(2), {}),
        (box(2, kernel=make_kernel("rbf"), noise_std=0.1), {"refit_every": 5}),
        (Setting(arms=np.random.default_rng(0).random((9, 2))), {"refit_every": 5}),
    ],
)
def test_what_is_given_published_or_not_learnt_stays(setting, options):
    model = Model.of(setting, **options)
    usual = 0.2 if setting.continuous else 0.2 * np.ptp(setting.arms, axis=0).max()
    np.testing.assert_allclose(model.kernel.length_scale, usual)
    assert model.noise_std == 0.1
    assert model.learning is None or math.isinf(model.learning.noise_spread)


# Length-scales of the first two features, the median of the others and the noise that BoTorch 0.18's
# SingleTaskGP finds for these values; the more
# features do nothing, the flatter is the likelihood: of the length-scales with the tolerance at the end.
FOUND_BY_BOTORCH = {
    2: (0.3590, 0.5390, None, 0.009420, 1e-3),
    20: (0.362, 0.539, 6.56, 0.00327, 0.02),
    100: (3.208, 1.019, 3.00, 0.006305, 0.1),
}


@pytest.mark.parametrize("dim", FOUND_BY_BOTORCH)
def test_a_fit_of_standardised_values_finds_what_botorch_finds(dim):
    rng = np.random.default_rng(0)
    x = rng.random((30, dim))
    y = np.sin(3.0 * x[:, 0]) + x[:, 1] ** 2 + 0.05 * rng.standard_normal(30)
    model = Model.of(box(dim), refit_every=5)
    assert model.learning is not None
    spreads = Spreads(model.learning.spread, amplitude=1e-3, noise=1.0)  # BoTorch's own
    fitter = Fitter(ConstantKernel() * model.kernel, float(model.noise_variance), 1.0, True, spreads)
    found = fitter.fit(x, np.arange(30), (y - y.mean()) / y.std(ddof=1), 0, rng)
    assert found is not None
    scales = found.kernel.get_params()["k2__length_scale"]
    first, second, median, noise, tolerance = FOUND_BY_BOTORCH[dim]
    np.testing.assert_allclose([*scales[:2], found.noise_variance], [first, second, noise], rtol=tolerance)
    assert median is None or np.median(scales[2:]) == pytest.approx(median, rel=tolerance)


def test_a_white_kernel_is_a_given_noise():
    model = Model.of(box(2), kernel=RBF(0.3) + WhiteKernel(0.04), refit_every=5)
    assert model.noise_variance == pytest.approx(0.04)
    assert model.learning is not None
    assert math.isinf(model.learning.noise_spread)


def test_agents_that_scale_themselves_start_there_too():
    agent = agents.make("gp-bucb", box(6), refit_every=50)
    agent.reset(0)
    for t in range(6):
        action = agent.act(np.zeros(1))
        value = float(action[0] + 0.5 * action[1])
        agent.update(np.zeros(1), action, value, at_once(t, value))
    scales = agent.model.kernel.get_params()["k2__length_scale"]
    np.testing.assert_allclose(scales, math.exp(math.sqrt(2.0) - 3.0) * math.sqrt(6.0) * np.ones(6))
