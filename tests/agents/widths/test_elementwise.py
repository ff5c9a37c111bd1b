"""Formulas of one number a trial."""

import numpy as np
import pytest

from agents.widths.base import elementwise, log, sqrt


class Formula:
    """Of a parameter that may be one number, one in an array, or one a trial."""

    def __init__(self, parameter):
        self.parameter = parameter

    @elementwise
    def of(self, t):
        """Some formula."""
        return sqrt(self.parameter * (1.0 + log(t)))


@pytest.mark.parametrize("parameter", [0.3, 2, np.array([0.3])], ids=repr)
def test_a_trial_alone_has_the_value_that_it_has_in_a_batch(parameter):
    rounds = np.arange(1, 300)
    alone = [Formula(parameter).of(rounds[i : i + 1]) for i in range(len(rounds))]
    assert all(value.shape == (1,) for value in alone)
    np.testing.assert_allclose(np.concatenate(alone), Formula(parameter).of(rounds), rtol=1e-15)


def test_a_parameter_of_each_trial_is_that_trials():
    each = np.array([0.5, 1.0, 2.0])
    together = Formula(each).of(np.array([3, 4, 5]))
    np.testing.assert_allclose(together, np.sqrt(each * (1.0 + np.log([3, 4, 5]))), rtol=1e-15)
