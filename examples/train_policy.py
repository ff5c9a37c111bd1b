"""A policy that is trained beforehand
===================================

A policy is trained on functions of a Gaussian process, saved, and plays functions that it has never seen.

PPO sees how often each part of [0, 1] has paid and how much (`StatisticsObservation`), and learns from
thousands of short trials what to make of that; then its weights are frozen. Training takes half a minute
here and draws its functions from seeds that no evaluation can contain. One sees that the policy beats
random play clearly and falls short of GP-UCB, which is given the kernel. Tables mark pretrained policies
with ‡, and no figure shows them beside learners that start from scratch. With "recurrent-ppo" the policy
sees the last round alone and has to remember (RL^2).
"""

import agents
from gpbandits import evaluate

problem = {"num_arms": 20, "horizon": 40}
policy = agents.train_policy("GPBandit-GP-v0", "ppo", env_kwargs=problem, total_timesteps=24_000)
policy.save("policy.pt")

result = evaluate(
    "GPBandit-GP-v0",
    {
        "PPO on statistics": ("agents.rl:pretrained", {"path": "policy.pt"}),
        "GP-UCB": "gp-ucb",
        "random": "random",
    },
    trials=30,
    seed=0,
    env_kwargs=problem,
)
print(result.table(baseline="random"))
result.plot("train_policy.png")
