"""A rule reads the beliefs about costs, so that a constrained algorithm can be written as a rule."""

import gymnasium as gym
import numpy as np
import pytest
from players import each_round
from scipy.stats import norm

import agents
from agents.acquisition.rules import ExpectedImprovement
from gpbandits import evaluate

ID = "GPBandit-Constrained-v0"
SHAPES = {
    "set": (ID, {"num_arms": 60, "horizon": 40}),
    "noise": (ID, {"num_arms": 60, "horizon": 40, "num_constraints": 2, "constraint_noise_std": 0.1}),
    "contexts": (
        "GPBandit-Composite-v0",
        {"num_arms": 40, "horizon": 40, "num_contexts": 3, "delay": False, "changes": False},
    ),
}


class ConstrainedEI:
    """log EI + sum_j log Phi(-mu_j / sigma_j), by what a rule can read."""

    unitless = True

    def __call__(self, candidates):
        return ExpectedImprovement()(candidates) + candidates.costs.log_feasibility


BY_RULE = ("gp-agent", {"rule": ConstrainedEI(), "constraint": "rule", "belief": "delivered"})


@pytest.mark.sampled(2)
@pytest.mark.parametrize("refit", [None, 10])
@pytest.mark.parametrize(("env_id", "keywords"), SHAPES.values(), ids=SHAPES)
def test_constrained_ei_as_a_rule_plays_as_the_registered_agent(env_id, keywords, refit):
    learning = {} if refit is None else {"refit_every": refit}
    both = {"rule": (BY_RULE[0], BY_RULE[1] | learning), "registered": ("constrained-ei", learning)}
    result = evaluate(env_id, both, trials=4, env_kwargs=keywords)
    np.testing.assert_array_equal(result.actions["rule"], result.actions["registered"])
    assert len(np.unique(result.actions["rule"])) > 6  # beyond the first plays


def play(agent, env, rounds):
    """Play some rounds from the beginning; return the actions and the observed costs."""
    observation, _ = env.reset(seed=3)
    agent.reset(seed=0)
    actions, costs = [], []
    for action, _, info, _ in each_round(env, agent, observation, rounds):
        actions.append(action)
        costs.append(info["feedback_cost"][0])
    return actions, np.array(costs)


def bandit(**keywords):
    env = gym.make(f"bandit_envs:{ID}", horizon=30, **keywords)
    env.reset(seed=3)
    return env


class Reading:
    """UCB that keeps what it has read."""

    def __init__(self):
        self.seen = []

    def __call__(self, candidates):
        self.seen.append(candidates.costs)
        return candidates.mean + candidates.std


@pytest.mark.parametrize("constraint", ["rule", "config", "pdcbo"])
@pytest.mark.parametrize("num_constraints", [1, 2])
@pytest.mark.parametrize("size", [{"num_arms": 25}, {"continuous": True}], ids=["set", "box"])
def test_costs_are_beliefs_in_their_own_unit(constraint, num_constraints, size):
    env, rule = bandit(num_constraints=num_constraints, **size), Reading()
    actions, observed = play(agents.compose(env, rule=rule, constraint=constraint), env, 20)
    costs = rule.seen[-1]
    assert costs.mean.shape == costs.std.shape == (1, costs.mean.shape[1], num_constraints)
    np.testing.assert_allclose(costs.feasibility, norm.cdf(-costs.mean / costs.std).prod(axis=-1))
    low, high = observed.min(axis=0), observed.max(axis=0)
    assert (costs.mean.min(axis=1) > low - 2 * (high - low)).all()
    assert (costs.mean.max(axis=1) < high + 2 * (high - low)).all()
    if "num_arms" in size:  # the last belief has not seen the last play
        known = actions[:-1]
        gap = costs.mean[0, known] - observed[:-1]
        assert np.sqrt(np.mean(gap**2)) < 0.5 * observed.std() + 1e-6
        assert costs.std[0, known].mean() < costs.std[0].max()


@pytest.mark.parametrize("constraint", ["none", "dual"])
def test_costs_without_a_model_of_their_own_are_refused_with_the_remedy(constraint):
    env = bandit(num_arms=25)
    agent = agents.compose(env, rule=Reading(), constraint=constraint)
    with pytest.raises(ValueError, match=r'must not read `costs`.*take constraint="rule"'):
        play(agent, env, 20)
