"""What tests of the baselines for constrained problems share: settings and rounds."""

import numpy as np

from bandit_envs import Setting
from bandit_envs.kernels.kernels import make_kernel

LINE = np.linspace(0.0, 1.0, 30)[:, None]
SETTING = Setting(arms=LINE, horizon=40, kernel=make_kernel("matern52"), noise_std=0.1, num_constraints=2)
BOX = Setting(low=np.zeros(2), high=np.full(2, 6.0), horizon=40, num_constraints=2)
NOWHERE = np.zeros(1)


def feedback(reward, cost, step):
    return {
        "feedback_mask": np.ones(len(reward), dtype=bool),
        "feedback_step": np.asarray(step),
        "feedback_reward": np.asarray(reward, dtype=float),
        "feedback_cost": np.asarray(cost, dtype=float),
    }


def play(agent, reward, cost, rounds):
    for t in range(rounds):
        action = agent.act(NOWHERE)
        x = agent.setting.to_point(action)
        agent.update(NOWHERE, action, 0.0, feedback([reward(x)], [cost(x)], [t]))
    return agent
