"""Streams of the roles of a trial, and the descent that seeks optima."""

import numpy as np
import pytest
from scipy.optimize import minimize

from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.problem.problem import ROLES, seed_of_role
from bandit_envs.problem.truth import SplitFunction, descended
from bandit_envs.problems import build

ENTROPIES = [0, 1, 2**32 - 1, 2**32, 2**63 - 1, 2**64 + 5, 2**128 - 1, 2**128, 2**200 + 3]


@pytest.mark.parametrize("entropy", ENTROPIES)
@pytest.mark.parametrize("role", ROLES)
def test_a_role_has_numpys_stream_of_its_key_and_so_have_the_streams_beside_it(entropy, role):
    ours = seed_of_role(entropy, role)
    numpys = np.random.SeedSequence(entropy, spawn_key=(ROLES.index(role),))
    for one, other in zip((ours, *ours.spawn(3)), (numpys, *numpys.spawn(3)), strict=True):
        np.testing.assert_array_equal(one.generate_state(8), other.generate_state(8))


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint64, int])
def test_an_entropy_may_be_an_integer_of_numpy(kind):
    problem = build("gp", {"num_arms": 5, "horizon": 3})
    np.testing.assert_array_equal(problem.draw(kind(3)).noise, problem.draw(3).noise)


@pytest.mark.parametrize("entropy", [-1, 3.0, "5", None, [1, 2], True])
def test_another_entropy_is_refused_by_name(entropy):
    with pytest.raises(ArgumentError, match="entropy must be an integer >= 0"):
        build("gp", {"num_arms": 5, "horizon": 3}).draw(entropy)


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
