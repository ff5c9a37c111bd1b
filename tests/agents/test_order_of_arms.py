"""In which order the arms are listed does not matter: the regret has the same law."""

from dataclasses import replace

import numpy as np
import pytest
from agent_cases import BATCHED, of_each_shape, seed_for

import agents
from bandit_envs import BanditVectorEnv
from bandit_envs.problems import build
from gpbandits.evaluation.rehearsal import SMALL

TRIALS = 40
FINITE = [name for name in BATCHED if agents.features(name).finite]


def regrets(name, problem, order, seed):
    """The regret of an agent that sees the arms in an order, (A,), in the same trials, (TRIALS,)."""
    env = BanditVectorEnv(problem, TRIALS, autoreset_mode="Disabled")
    observation, _ = env.reset(seed=list(range(TRIALS)))
    setting = env.setting
    mean = np.broadcast_to(setting.prior_mean, setting.decisions.points.shape[:1]) * 1.0
    shuffled = mean.reshape(-1, len(order))[:, order].ravel()
    safe = None if setting.safe_seed is None else np.argsort(order)[setting.safe_seed]
    told = replace(setting, arms=setting.arms[order], prior_mean=shuffled, safe_seed=safe)
    agent = agents.make(name, told, TRIALS)
    agent.reset([seed + i for i in range(TRIALS)])
    total = np.zeros(TRIALS)
    for _ in range(problem.horizon):
        action = agent.act(observation)
        following, reward, _, _, info = env.step(order[action])
        total += info["oracle"]["regret"]
        agent.update(observation, action, reward, info)
        observation = following
    return total


@pytest.mark.long
@pytest.mark.parametrize("name", of_each_shape(FINITE))
def test_the_mean_regret_does_not_depend_on_the_order_of_the_arms(name):
    frozen = {"horizon": 20, "function_seed": 0}  # else arms are alike in law
    problem = build("composite", SMALL | frozen | seed_for(name))
    arms = np.arange(problem.decisions.num_arms)
    plain = regrets(name, problem, arms, 1000)
    for i, order in enumerate((arms[::-1], np.random.default_rng(0).permutation(arms))):
        change = regrets(name, problem, order, 2000 + 100 * i) - plain
        assert abs(change.mean()) < 4.5 * change.std(ddof=1) / np.sqrt(TRIALS)  # one in 150,000 by chance
