"""Parameters, priors and quantities of the agent for real problems."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from real_cases import line, parameters
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

from agents.model.model import Model
from agents.real.priors import Parameters, cost_prior, published_prior, understood, usual_prior, with_line
from agents.real.quantities import PlayValues, PointRecord, QuantitySpec, RealParts
from agents.real.surrogate import SHAPES, squared_distances
from bandit_envs import Setting
from bandit_envs.kernels.kernels import OnColumns

MIXED = np.array(
    [[x, *np.eye(3)[c], float(flag)] for x, c, flag in product((2.0, 5.0, 8.0), range(3), (0, 1))]
)


def of(arms, by_column=False, **more) -> Parameters:
    return Parameters.of(Setting(arms=arms, horizon=9, **more), by_column)


def test_a_choice_is_one_parameter_and_its_values_are_equally_far_apart():
    found = of(MIXED)
    np.testing.assert_array_equal(found.owner, [0, 1, 1, 1, 2])
    assert found.number == 3
    choice = found.columns[:, 1:4]
    label = MIXED[:, 1:4].argmax(axis=1)
    np.testing.assert_allclose(squared_distances(choice, choice), label[:, None] != label, atol=1e-12)
    np.testing.assert_array_equal(found.columns[:, 0], (MIXED[:, 0] - 2.0) / 6.0)


def test_every_column_is_a_parameter_if_asked_for():
    found = of(MIXED, by_column=True)
    np.testing.assert_array_equal(found.owner, np.arange(5))
    assert found.columns.max() == 1.0


def test_columns_that_are_no_choice_stay_apart():
    rows = np.array(list(product((0.0, 1.0), repeat=3)))  # all of 0 and 1, but they do not sum to 1
    np.testing.assert_array_equal(of(rows).owner, [0, 1, 2])


def test_sums_are_over_the_columns_of_each_parameter():
    np.testing.assert_array_equal(of(MIXED).sums(np.array([1.0, 2.0, 3.0, 4.0, 5.0])), [1.0, 9.0, 5.0])


def test_contexts_without_features_are_data_sets():
    found = of(np.linspace(0, 1, 4)[:, None], contexts=np.eye(3))
    np.testing.assert_array_equal(found.data_set, np.repeat([0, 1, 2], 4))
    assert (found.num_data_sets, found.columns.shape) == (3, (12, 1))


def test_features_of_contexts_are_parameters():
    contexts = np.array([[10.0], [20.0], [30.0]])
    found = of(np.linspace(0, 1, 4)[:, None], contexts=contexts)
    assert (found.num_data_sets, found.number) == (1, 2)
    np.testing.assert_array_equal(found.columns[:, 0], np.repeat([0.0, 0.5, 1.0], 4))
    np.testing.assert_allclose(found.columns[:, 1], np.tile(np.linspace(0, 1, 4), 3))


def test_a_column_that_does_not_vary_is_zero():
    found = of(np.array([[1.0, 7.0], [2.0, 7.0]]))
    np.testing.assert_array_equal(found.columns, [[0.0, 0.0], [1.0, 0.0]])
    assert Parameters.of(line()).number == 1


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


def test_a_product_of_several_kinds_counts_as_the_roughest_with_the_lengths_of_each():
    smooth, rough = OnColumns(RBF(0.5), (0,)), OnColumns(Matern(2.0, nu=2.5), (1,))
    scales, shape = understood(smooth * rough, SETTING)
    assert shape == "matern52"
    np.testing.assert_allclose(scales, [0.5, 0.5])
    assert understood(smooth * rough * Matern(1.0, nu=1.5), SETTING)[1] == "matern32"


@pytest.mark.parametrize("data_sets", [1, 3])
def test_priors_have_a_number_a_hyperparameter(data_sets):
    of = parameters(data_sets)
    count = of.number + 2 + 2 * (data_sets > 1)
    for prior in (usual_prior(of), published_prior(np.array([0.3, 0.7]), "rbf", 0.01, of)):
        assert prior.centre.shape == prior.spread.shape == (count,)
        assert with_line(prior).centre.shape == (count + 1,)
        np.testing.assert_array_equal(with_line(prior).centre[:-1], prior.centre)
        assert with_line(prior).shape == prior.shape
        assert with_line(prior).mean_precision == prior.mean_precision
    assert cost_prior(of).centre[of.number + 1] < usual_prior(of).centre[of.number + 1]


def test_limits_beside_a_published_model_have_its_lengths_and_a_surer_amplitude():
    of = parameters()
    published = published_prior(np.array([0.3, 0.7]), "rbf", 0.01, of)
    found, alone = cost_prior(of, published), cost_prior(of)
    np.testing.assert_array_equal(found.centre[:2], np.log([0.3, 0.7]))
    np.testing.assert_array_equal(found.spread[:2], published.spread[:2])
    assert found.spread[of.number] < alone.spread[of.number]
    np.testing.assert_array_equal(found.centre[2:], alone.centre[2:])
    assert found.linear


def test_a_published_model_is_the_centre_of_its_prior():
    found = published_prior(np.array([0.3, 0.7]), "matern32", 0.01, parameters())
    np.testing.assert_allclose(np.exp(found.centre), [0.3, 0.7, 1.0, 0.01])
    assert found.shape == "matern32"
    assert (found.spread <= usual_prior(parameters()).spread).all()
    noiseless = published_prior(np.array([0.3, 0.7]), "rbf", 0.0, parameters())
    assert np.isfinite(noiseless.centre).all()


def test_means_and_squares_are_those_of_each_point():
    rng = np.random.default_rng(0)
    point, values = rng.integers(150, size=400), rng.standard_normal((400, 2))  # more points than first rows
    record = PointRecord(2)
    for t in range(400):
        record.add(PlayValues(int(point[t]), t, tuple(values[t])))
    for quantity in range(2):
        seen = record.seen(quantity)
        assert len(seen.point) == len(np.unique(point))
        for i, each in enumerate(seen.point):
            own = values[point == each, quantity]
            assert seen.plays[i] == len(own)
            assert seen.mean[i] == pytest.approx(own.mean())
            assert seen.squares[i] == pytest.approx(np.square(own - own.mean()).sum(), abs=1e-12)
    assert record.count == 400


def test_plays_of_stated_noise_have_a_weighted_mean():
    record = PointRecord(1)
    for t, (value, weight) in enumerate(((1.0, 4.0), (3.0, 1.0), (0.0, 0.5))):
        record.add(PlayValues(7, t, (value,), weight))
    seen = record.seen(0)
    mean = 7.0 / 5.5
    assert (seen.plays[0], seen.weight[0]) == (3.0, 5.5)
    assert seen.mean[0] == pytest.approx(mean)
    assert seen.squares[0] == pytest.approx(4.0 * (1 - mean) ** 2 + (3 - mean) ** 2 + 0.5 * mean**2)


def test_what_was_read_stays_as_it_was():
    record = PointRecord(1)
    record.add(PlayValues(3, 0, (1.0,)))
    kept = record.seen(0)
    record.add(PlayValues(3, 1, (5.0,)))
    assert (kept.plays[0], kept.mean[0], record.seen(0).mean[0]) == (1.0, 1.0, 3.0)


@pytest.mark.parametrize(
    ("published", "learners"),
    [
        ({}, 1),
        ({"num_constraints": 2}, 3),
        ({"budget": 9.0}, 2),
        ({"budget": 9.0, "num_constraints": 2}, 4),
        ({"budget": 9.0, "num_constraints": 2, "known_costs": np.ones(12)}, 3),
    ],
    ids=str,
)
def test_every_quantity_that_is_not_published_has_a_learner(published, learners):
    spec = QuantitySpec.of(Model.of(line(**published)), False, RealParts())
    assert len(spec.learners(np.random.default_rng(0))) == learners


def test_a_feature_without_influence_has_a_long_scale():
    scales, _ = understood(OnColumns(RBF(0.5), (1,)), SETTING)
    np.testing.assert_allclose(scales, [1e3, 0.125])


@pytest.mark.parametrize(
    "kernel",
    [
        *(DotProduct(), RationalQuadratic(), Matern(0.5, nu=0.5), RBF(0.5) + RBF(0.1), RBF(0.5) ** 2.0),
        *(RBF(0.5) * Matern(0.5, nu=0.5), RBF(0.5) * DotProduct(), RBF(0.5) * (RBF(0.5) + Matern(0.5))),
        *(RBF(0.5) * WhiteKernel(0.1), ConstantKernel(2.0)),
    ],
    ids=str,
)
def test_kernels_of_another_kind_are_not(kernel):
    assert understood(kernel, SETTING) is None
