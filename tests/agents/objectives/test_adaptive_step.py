"""The step of Algorithm 3's dual that what was observed says."""

import numpy as np
import pytest
from penalised_cases import BOTH, DISCS, EPOCH, HALF, HORIZON, Run, discs

from agents.objectives.penalties import adaptive_step
from bandit_envs.laws import KnownFunction


@pytest.mark.sampled(2)
@pytest.mark.parametrize("options", [{}, {"reuse": False}, {"models": "separate"}], ids=str)
def test_the_multipliers_move_by_the_mean_cost_times_the_step_and_the_step_never_grows(options):
    run = Run(discs(0.1, constraints=(DISCS, HALF)), BOTH[1], **options)
    spread = run.agent.objective.first_plays.values.std(axis=2, ddof=1)
    mean, _ = run.epoch_means()
    size = np.sqrt(np.cumsum(mean**2, axis=1))
    step = np.stack([adaptive_step(spread, size[:, i]) for i in range(mean.shape[1])], axis=1)
    assert (np.diff(step, axis=1) <= 0).all()
    assert (np.abs(step * mean) <= (spread[:, :1] / spread[:, 1:])[:, None]).all()  # less than its unit
    kappa = np.zeros_like(mean[:, 0])
    for i, after in enumerate(np.swapaxes(run.after_epochs(), 0, 1)):
        kappa = np.maximum(kappa + step[:, i] * mean[:, i], 0.0)
        np.testing.assert_allclose(after, kappa, atol=1e-12)
    total = run.observed[:, : HORIZON // EPOCH * EPOCH].sum(axis=1)
    assert (total <= EPOCH * kappa / step[:, -1] + 1e-9).all()  # as with a fixed step


@pytest.mark.long
def test_the_step_of_algorithm_3_needs_no_common_unit_of_rewards_and_costs():
    def actions(size):
        cost = KnownFunction(lambda x: size * DISCS.function(x))
        return Run(discs(0.1 * size, constraints=(cost,)), BOTH[1]).actions

    np.testing.assert_array_equal(actions(64.0), actions(1.0))
