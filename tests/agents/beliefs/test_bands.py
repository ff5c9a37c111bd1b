"""What a belief says of arms whose variance rounding has made negative."""

import numpy as np
import pytest

from agents.beliefs.delivered import Delivered
from agents.model.model import Model
from bandit_envs import Setting
from bandit_envs.kernels.kernels import make_kernel


@pytest.mark.parametrize("num_arms", [9, 4096])
@pytest.mark.parametrize("num_trials", [1, 3])
@pytest.mark.parametrize("negative", [False, True])
def test_a_variance_below_zero_counts_as_zero(num_arms, num_trials, negative):
    arms = np.linspace(0.0, 1.0, num_arms)[:, None]
    setting = Setting(arms=arms, horizon=20, kernel=make_kernel("rbf"), noise_std=0.1)
    belief = Delivered(Model.of(setting), num_trials)
    variance = belief.std_posterior.variance
    variance[:, 4] = -1e-17 if negative else 1e-17
    before = variance.copy()
    std = belief.std(np.zeros(num_trials, dtype=np.int64))
    np.testing.assert_array_equal(std, np.sqrt(np.maximum(variance, 0.0)))
    np.testing.assert_array_equal(variance, before)  # the posterior keeps what it has
