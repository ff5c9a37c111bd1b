"""Agents that keep constraints learn a kernel for every epoch's objective (k_l of Shi & Eryilmaz 2022)."""

import numpy as np
import pytest
from penalised_cases import BOTH, discs
from players import each_round
from references import posterior

import agents
from bandit_envs.environment.envs import BanditEnv
from bandit_envs.problem.feedback import Feedback

EPOCH, ROUNDS, EVERY = 8, 35, 12


@pytest.fixture(scope="module", params=[(name, reuse) for name in BOTH for reuse in (True, False)], ids=str)
def run(request):
    """An agent after 35 rounds, the rounds after which its kernel was another, and what came."""
    name, reuse = request.param
    env = BanditEnv(discs(0.1 if name == BOTH[1] else 0.0, horizon=ROUNDS))
    observation, _ = env.reset(seed=2)
    agent = agents.make(name, env, epoch=EPOCH, refit_every=EVERY, reuse=reuse)
    agent.reset(3)
    changed, plays, came, kernel = [], [], [], agent.model.kernel
    for t, (action, _, info, _) in enumerate(each_round(env, agent, observation, ROUNDS)):
        plays.append(action)
        came.append(Feedback.arrived(info)[2:])
        if agent.model.kernel is not kernel:
            changed.append(t + 1)
            kernel = agent.model.kernel
    return agent, changed, np.array(plays), came, 0 if reuse else ROUNDS // EPOCH * EPOCH


def test_kernels_change_at_the_ends_of_epochs_alone(run):
    agent, changed, *_ = run
    assert changed == [16, 24]  # multiples of 12 are in the second and the third epoch
    assert agent.failed_fits == 0


def test_they_are_fitted_to_the_values_of_all_plays_under_the_new_multipliers(run):
    agent, _, plays, came, _ = run
    point, value, _ = agent.assumptions.sample(agent)
    np.testing.assert_array_equal(point, plays)
    reward, cost = (np.concatenate(column) for column in zip(*came, strict=True))
    expected = agent.objective.values(np.zeros(ROUNDS, dtype=int), reward, cost)
    np.testing.assert_allclose(value, expected)


def test_the_belief_is_the_posterior_under_the_latest_kernel(run):
    agent, _, plays, came, begin = run
    reward, cost = (np.concatenate(column)[begin:] for column in zip(*came, strict=True))
    value = agent.objective.values(np.zeros(ROUNDS - begin, dtype=int), reward, cost)
    gram = agent.model.kernel(agent.setting.decisions.points)
    mean, covariance = posterior(gram, float(agent.belief.mean_posterior.noise[0]), plays[begin:], value)
    np.testing.assert_allclose(agent.belief.mean(np.zeros(1, int))[0], mean, atol=1e-6)
    np.testing.assert_allclose(agent.belief.std(np.zeros(1, int))[0] ** 2, np.diag(covariance), atol=1e-6)
