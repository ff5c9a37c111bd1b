"""Draws are the same wherever sums are rounded otherwise."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.roots import pivoted_root
from bandit_envs.laws import GPSample, RKHSFunction
from bandit_envs.problem.decisions import unit_grid

KERNELS = {"low rank": RBF(0.3), "full rank": Matern(0.3, nu=1.5)}
# A factor that is no power of two rounds every covariance otherwise, as another processor rounds sums.
SCALES = (1e3, 3e-3, 7.0)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("law", [GPSample(), RKHSFunction()])
@pytest.mark.parametrize("dim", [1, 2])
def test_a_draw_scales_with_the_amplitude_on_a_symmetric_grid(kernel, law, dim):
    points = unit_grid(49, dim)
    plain = law.draw(Gram(kernel, points), np.random.default_rng(1)).values
    for scale in SCALES:
        rng = np.random.default_rng(1)
        drawn = law.draw(Gram(ConstantKernel(scale**2) * kernel, points), rng).values
        np.testing.assert_allclose(drawn / scale, plain, atol=1e-5)  # what the cut of the rank leaves


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_what_is_drawn_later_does_not_depend_on_the_rank(kernel):
    later = []
    for tail in (0.0, 1e-13):
        rng = np.random.default_rng(1)
        Gram(kernel + ConstantKernel(1.0 + tail), unit_grid(30)).white(rng)
        later.append(rng.random())
    assert later[0] == later[1]


def test_a_root_is_one_of_the_covariance():
    gram = Gram(KERNELS["full rank"], unit_grid(49, 2))
    root, pivots = pivoted_root(gram.dense.copy(), 1e-14)
    np.testing.assert_allclose(root.T @ root, gram.dense, atol=1e-13)
    assert np.array_equal(np.tril(root[:, pivots], -1), np.zeros((len(root),) * 2))
