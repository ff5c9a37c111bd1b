"""Every named kernel is a covariance, in the units of the points, and makes a problem."""

import numpy as np
import pytest

from bandit_envs.kernels.kernels import NAMED, make_kernel
from bandit_envs.problems import build

POINTS = np.random.default_rng(0).random((25, 1))


@pytest.mark.parametrize("name", NAMED)
def test_every_named_kernel_is_a_covariance(name):
    kernel = make_kernel(name, 0.3)
    covariance = kernel(POINTS)
    np.testing.assert_array_equal(covariance, covariance.T)
    np.testing.assert_allclose(np.diag(covariance), kernel.diag(POINTS), rtol=1e-15)
    # What rounding makes of eigenvalues that are 0: n eps of the largest.
    values = np.linalg.eigvalsh(covariance)
    assert values[0] > -25 * 1e-15 * values[-1]


@pytest.mark.parametrize("name", [name for name in NAMED if make_kernel(name).is_stationary()])
def test_the_length_scale_of_a_stationary_kernel_is_in_the_units_of_the_points(name):
    one, other = make_kernel(name, 0.3)(POINTS), make_kernel(name, 0.6)(2.0 * POINTS)
    np.testing.assert_allclose(other, one, rtol=1e-12)
    np.testing.assert_array_equal(np.diag(one), 1.0)


@pytest.mark.parametrize("name", NAMED)
def test_every_named_kernel_makes_a_problem(name):
    problem = build("gp", {"kernel": name, "num_arms": 15, "horizon": 5})
    assert problem.kernel == make_kernel(name)
    means = problem.draw(0).means
    assert np.isfinite(means).all()
    assert np.ptp(means) > 0


def test_an_unknown_name_is_an_error_with_those_there_are():
    with pytest.raises(ValueError, match=f"kernel must be one of {', '.join(sorted(NAMED))}"):
        make_kernel("rfb")
