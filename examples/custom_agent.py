"""An agent of one's own
=====================

An agent of one's own in under thirty lines: epsilon-greedy with a running mean an arm.

It is any object with `reset`, `act` and `update`; what it learns comes from `info`, where delayed rewards say
which round they belong to. `check_agent` plays it on problems of every kind and says what is wrong with it,
and `evaluate` compares it with the Gaussian-process agents on the same trials. One sees that knowing how arms
resemble each other is worth more than any amount of counting. custom_agent.png has the regret curves.
"""

import numpy as np

from gpbandits import check_agent, evaluate


class EpsilonGreedy:
    def __init__(self, setting, epsilon=0.1):
        self.size, self.epsilon = len(setting.arms), epsilon

    def reset(self, seed):
        self.rng = np.random.default_rng(seed)
        self.total, self.count, self.played = np.zeros(self.size), np.zeros(self.size), []

    def act(self, observation):
        if self.rng.random() < self.epsilon or not self.count.any():
            return int(self.rng.integers(self.size))
        return int(np.argmax(self.total / np.maximum(self.count, 1)))

    def update(self, observation, action, reward, info):
        self.played.append(action)
        for slot in np.flatnonzero(info["feedback_mask"]):
            arm = self.played[info["feedback_step"][slot]]
            self.total[arm] += info["feedback_reward"][slot]
            self.count[arm] += 1


check_agent(EpsilonGreedy)
agents = {
    "mine": EpsilonGreedy,
    "mine, bolder": (lambda setting: EpsilonGreedy(setting, 0.3)),
    "GP-UCB": "gp-ucb",
}
result = evaluate("GPBandit-GP-v0", agents, trials=10, env_kwargs={"num_arms": 100, "horizon": 300})
print(result.table())
result.plot("custom_agent.png")
