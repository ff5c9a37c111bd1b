"""Draws of the prior by a root that is triangular at its pivots."""

import numpy as np
import pytest

from agents.posteriors.weight_space import PriorDraw
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel


@pytest.mark.parametrize("name", ["rbf", "matern32", "matern52"])
def test_a_draw_is_the_product_of_its_numbers_with_the_root(name):
    gram = Gram(make_kernel(name, 0.2), np.linspace(0.0, 1.0, 90)[:, None])
    weight = np.random.default_rng(0).standard_normal(len(gram.root))
    np.testing.assert_allclose(PriorDraw(gram)(weight), weight @ gram.root, atol=1e-13)
