"""The covariance of two sets of points, of every representation of a posterior."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from agents.posteriors import TABLES
from agents.posteriors.forgetting.fading import Discounted
from agents.posteriors.forgetting.memory import ForgettingPosterior
from agents.posteriors.pairs import PairPosterior
from agents.posteriors.sketched import SketchedPosterior
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel

GRAM = Gram(make_kernel("matern52", 0.2), np.linspace(0.0, 1.0, 30)[:, None])
NOISE = 0.05
FORMS: dict[str, Any] = {
    **TABLES,
    "pairs": PairPosterior,
    "sketched": SketchedPosterior,
    "forgetting": lambda gram, noise, trials: ForgettingPosterior(
        gram, noise, [partial(Discounted, discount=1.0)] * trials
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_covariance_is_that_of_the_textbook(form):
    rng = np.random.default_rng(0)
    model, played = FORMS[form](GRAM, NOISE, 2), rng.integers(30, size=(12, 2))
    for point in played:
        model.observe(np.arange(2), point, rng.standard_normal(2))
    for i in range(2):
        if form == "sketched":  # exact where every play is in the dictionary
            model.condition_on(i, model.statistics(i))
        point, other = np.array([0, 7, 7, 29]), np.array([3, 7, 12])
        K, X = GRAM.between(np.arange(30), np.arange(30)), played[:, i]
        expected = K - K[:, X] @ np.linalg.solve(K[np.ix_(X, X)] + NOISE * np.eye(12), K[X])
        found = model.covariance(i, point, other)
        np.testing.assert_allclose(found, expected[np.ix_(point, other)], rtol=0, atol=1e-8)
        np.testing.assert_allclose(
            np.diag(model.covariance(i, point, point)), model.variance_of(np.full(4, i), point), atol=1e-8
        )
