"""Local minima of functions that return value and slopes together."""

import numpy as np
from scipy.optimize import minimize

from bandit_envs.problem.truth import SplitFunction, descended


def rosenbrock(x):
    steep = x[1:] - x[:-1] ** 2
    slopes = np.zeros_like(x)
    slopes[:-1] = -400.0 * x[:-1] * steep - 2.0 * (1.0 - x[:-1])
    slopes[1:] += 200.0 * steep
    return float((100.0 * steep**2 + (1.0 - x[:-1]) ** 2).sum()), slopes


def test_it_ends_where_scipys_own_split_does():
    start, bounds = np.linspace(-1.0, 0.5, 5), [(-1.5, 0.8)] * 5
    for steps in (3, 40):
        options = {"ftol": 1e-6, "maxiter": steps}
        usual = minimize(rosenbrock, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options)
        end, value = descended(rosenbrock, start, bounds, 1e-6, steps)
        np.testing.assert_array_equal(end, usual.x)
        assert value == usual.fun


def test_slopes_are_those_of_the_point_asked_for():
    split, x = SplitFunction(rosenbrock), np.array([0.3, -0.2])
    split.value(x)
    np.testing.assert_array_equal(split.slopes(x), rosenbrock(x)[1])
    np.testing.assert_array_equal(split.slopes(x + 1.0), rosenbrock(x + 1.0)[1])
