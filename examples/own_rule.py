"""A rule of one's own
===================

A rule of one's own, which is an agent in one line: epsilon-greedy on a Gaussian process.

A rule turns what is believed of the candidates into scores, and the candidate of the largest is played. Here
all are worth the same with probability epsilon, and ties are broken at random; else the mean decides.
`agents.compose(env, rule=EpsilonGreedy())` is the agent; as ("gp-agent", {"rule": EpsilonGreedy()}) it takes
part in `evaluate`. The same rule plays arms and boxes, one trial or many, with delays, contexts, constraints
and changes. own_rule.png has the regret curves.
"""

from dataclasses import dataclass

import gymnasium as gym
import numpy as np

import agents
from gpbandits import evaluate


@dataclass(frozen=True)
class EpsilonGreedy:
    epsilon: float = 0.1

    def __call__(self, candidates: agents.Candidates):
        coin = np.array([rng.random() for rng in candidates.rngs])  # one a trial
        return np.where((coin < self.epsilon)[:, None], 0.0, candidates.mean)


env = gym.make("bandit_envs:GPBandit-Composite-v0", horizon=100)
observation, _ = env.reset(seed=0)
agent = agents.compose(env, rule=EpsilonGreedy())
agent.reset(seed=0)
print(f"First arm: {agent.act(observation)}\n")

entrants = {
    "mine": ("gp-agent", {"rule": EpsilonGreedy()}),
    "mine, bolder": ("gp-agent", {"rule": EpsilonGreedy(0.3)}),
    "pure exploitation": "pure-exploitation",
    "GP-UCB": "gp-ucb",
}
keywords = {"num_arms": 100, "horizon": 200}
result = evaluate("GPBandit-GP-v0", entrants, trials=10, env_kwargs=keywords)
print(result.table())
result.plot("own_rule.png")
