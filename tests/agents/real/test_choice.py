"""Which settings and options the agent for real problems plays, and which the composed agent does."""

from __future__ import annotations

import numpy as np
import pytest
from agent_cases import BOX
from real_cases import line
from sklearn.gaussian_process.kernels import RBF, DotProduct

import agents
from agents.real.agent import RealAgent
from agents.real.choice import MOST_ROUNDS
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws.delays import PoissonDelay

PLAYED = {
    "nothing": {},
    "a kernel": {"kernel": make_kernel("matern52"), "noise_std": 0.1},
    "limits": {"num_constraints": 2},
    "budget": {"budget": 9.0},
    "changes": {"may_change": True},
    "contexts": {"contexts": np.eye(3)},
    "delays": {"max_delay": 4, "delay": PoissonDelay(1.0)},
    "missing arms": {"volatile": True},
}
COMPOSED = {
    "many rounds": {"horizon": MOST_ROUNDS + 1},
    "a kernel without length-scales": {"kernel": DotProduct()},
    "a safe seed": {"num_constraints": 1, "safe_seed": [3], "lipschitz": [9.0], "constraint_prior_std": 1.0},
    "noise that drowns what varies": {"kernel": RBF(0.2), "noise_std": 1.1},
    "noise a point": {"kernel": RBF(0.2), "noise_std": 0.2, "noise_profile": np.linspace(0.1, 0.2, 12)},
}


@pytest.mark.parametrize("published", PLAYED.values(), ids=PLAYED)
def test_it_plays_finite_sets_with_limits_budgets_changes_contexts_and_delays(published):
    assert isinstance(agents.make("gp-agent", line(**published)), RealAgent)


@pytest.mark.parametrize("published", COMPOSED.values(), ids=COMPOSED)
def test_others_are_played_by_the_composed_agent(published):
    assert not isinstance(agents.make("gp-agent", line(**published)), RealAgent)
    assert not isinstance(agents.make("gp-agent", BOX), RealAgent)


@pytest.mark.parametrize(
    ("options", "real"),
    [
        ({"kernel": "rbf"}, True),
        ({"kernel": "rbf", "length_scale": 0.3, "noise_std": 0.2, "prior_mean": 1.0}, True),
        ({"length_scale": 0.3}, True),
        ({"kernel": None, "refit_every": None, "stopping": None}, True),
        ({"kernel": "rational_quadratic"}, False),
        ({"noise_std": 0.2}, False),  # whose unit is unknown
        ({"refit_every": 5}, False),
        ({"rule": "ucb"}, False),
        ({"restart": "never"}, False),
        ({"context": False}, False),
        ({"stopping": ("knowledge-gradient", {"price": 0.1})}, False),
    ],
    ids=str,
)
def test_options_of_the_model_say_where_its_prior_lies_and_others_compose_an_agent(options, real):
    assert isinstance(agents.make("gp-agent", line(), **options), RealAgent) == real


def test_an_option_that_is_none_counts_as_left_out():
    assert isinstance(agents.make("gp-agent", line(), rule=None, form=None), RealAgent)


def test_noise_is_a_number_or_one_a_trial():
    batch = agents.make("gp-agent", line(), 2, kernel="rbf", noise_std=np.array([0.1, 0.5]))
    batch.reset([0, 1])
    noise = [each.spec.reward.prior.centre[-1] for each in batch.agents]
    np.testing.assert_allclose(np.exp(noise), [0.01, 0.25])
    with pytest.raises(ValueError, match="noise_std must be a number or 2 of them"):
        agents.make("gp-agent", line(), 2, kernel="rbf", noise_std=np.array([0.1, 0.5, 0.2]))
