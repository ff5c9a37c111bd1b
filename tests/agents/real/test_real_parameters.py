"""Which columns of features are one parameter, and how far points are from each other."""

from __future__ import annotations

from itertools import product

import numpy as np
from real_cases import line

from agents.real.parameters import Parameters
from agents.real.surrogate import squared_distances
from bandit_envs import Setting

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
