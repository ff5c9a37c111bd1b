"""Priors over hyperparameters, and which published kernels they can be centred on."""

from __future__ import annotations

import numpy as np
import pytest
from real_cases import parameters
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

from agents.real.priors import cost_prior, published_prior, understood, usual_prior, with_line
from agents.real.surrogate import SHAPES
from bandit_envs import Setting
from bandit_envs.kernels.kernels import OnColumns

ARMS = np.random.default_rng(0).uniform(size=(30, 2))
ARMS[:2] = [[0.0, 0.0], [1.0, 4.0]]  # sides of 1 and 4
SETTING = Setting(arms=ARMS, horizon=9)


@pytest.mark.parametrize(
    ("kernel", "shape"), [(RBF, "rbf"), (Matern, "matern32"), (lambda each: Matern(each, nu=2.5), "matern52")]
)
def test_length_scales_are_in_sides_of_the_box(kernel, shape):
    scales, found = understood(kernel(0.5), SETTING)
    assert found == shape
    np.testing.assert_allclose(scales, [0.5, 0.125])
    scales, _ = understood(ConstantKernel(3.0) * kernel([0.5, 2.0]), SETTING)
    np.testing.assert_allclose(scales, [0.5, 0.5])


def test_a_product_of_squared_exponentials_has_a_length_scale_a_column():
    """exp(-x^2 / (2 a^2)) exp(-y^2 / (2 b^2)); on the same column the precisions add."""
    kernel = OnColumns(RBF(0.5), (0,)) * OnColumns(RBF(2.0), (1,))
    np.testing.assert_allclose(understood(kernel, SETTING)[0], [0.5, 0.5])
    scales, shape = understood(RBF(0.5) * OnColumns(RBF(0.5), (0,)), SETTING)
    np.testing.assert_allclose(scales, [0.5 / 2.0**0.5, 0.125])
    assert shape == "rbf"


def test_the_correlation_of_what_is_understood_is_the_kernel():
    kernel = OnColumns(RBF(0.5), (0,)) * OnColumns(RBF(2.0), (1,))
    scales, shape = understood(kernel, SETTING)
    points = (ARMS - ARMS.min(axis=0)) / np.ptp(ARMS, axis=0) / scales
    square = np.square(points[:, None] - points).sum(axis=2)
    np.testing.assert_allclose(SHAPES[shape].value(square), kernel(ARMS), atol=1e-12)


def test_a_feature_without_influence_has_a_long_scale():
    scales, _ = understood(OnColumns(RBF(0.5), (1,)), SETTING)
    np.testing.assert_allclose(scales, [1e3, 0.125])


@pytest.mark.parametrize(
    "kernel",
    [
        *(
            DotProduct(),
            RationalQuadratic(),
            Matern(0.5, nu=0.5),
            RBF(0.5) + RBF(0.1),
            WhiteKernel(),
            RBF(0.5) ** 2.0,
        ),
        *(Matern(0.5, nu=2.5) * Matern(0.5, nu=2.5), RBF(0.5) * Matern(0.5, nu=2.5), RBF(0.5) * DotProduct()),
        *(ConstantKernel(2.0), ConstantKernel(2.0) * ConstantKernel(3.0)),
    ],
    ids=str,
)
def test_kernels_of_another_kind_are_not(kernel):
    assert understood(kernel, SETTING) is None


@pytest.mark.parametrize("data_sets", [1, 3])
def test_priors_have_a_number_a_hyperparameter(data_sets):
    of = parameters(data_sets)
    count = of.number + 2 + 2 * (data_sets > 1)
    for prior in (usual_prior(of), published_prior(np.array([0.3, 0.7]), 0.01, "rbf", of)):
        assert prior.centre.shape == prior.spread.shape == (count,)
        assert with_line(prior).centre.shape == (count + 1,)
        np.testing.assert_array_equal(with_line(prior).centre[:-1], prior.centre)
        assert with_line(prior).shape == prior.shape
        assert with_line(prior).mean_precision == prior.mean_precision
    assert cost_prior(of).centre[of.number + 1] < usual_prior(of).centre[of.number + 1]


def test_a_published_model_is_the_centre_of_its_prior():
    found = published_prior(np.array([0.3, 0.7]), 0.01, "matern32", parameters())
    np.testing.assert_allclose(np.exp(found.centre), [0.3, 0.7, 1.0, 0.01])
    assert found.shape == "matern32"
    assert (found.spread <= usual_prior(parameters()).spread).all()
    noiseless = published_prior(np.array([0.3, 0.7]), 0.0, "rbf", parameters())
    assert np.isfinite(noiseless.centre).all()
