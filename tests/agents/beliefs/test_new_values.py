"""New values of the plays that a belief has counted."""

import numpy as np

from agents.beliefs.delivered import Delivered
from agents.model.model import Model
from agents.model.rounds import Delivery
from agents.posteriors.base import SufficientStatistics
from bandit_envs import Setting
from bandit_envs.kernels.kernels import make_kernel

ARMS = np.linspace(0.0, 1.0, 5)[:, None]
SETTING = Setting(arms=ARMS, horizon=20, kernel=make_kernel("matern52"), noise_std=0.3, prior_mean=0.7)


def test_values_that_are_given_again_change_nothing():
    belief, here = Delivered(Model.of(SETTING), 1), np.zeros(6, dtype=np.int64)
    point, value = np.array([0, 3, 3, 1, 3, 0]), np.random.default_rng(0).normal(size=6)
    belief.receive(Delivery.of_values(here, point, value))
    before = belief.mean(here[:1]).copy()
    count, total = np.bincount(point, minlength=5), np.bincount(point, value, minlength=5)
    belief.revalue(here[:1], lambda _, seen: SufficientStatistics(seen, 1.0 * count[seen], total[seen]))
    np.testing.assert_allclose(belief.mean(here[:1]), before, atol=1e-12)
