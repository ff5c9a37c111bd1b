"""Reinforcement learning from scratch
===================================

Reinforcement learning from scratch and Gaussian-process agents play the same functions, round by round.

One sees what a model is worth: a learner of stable-baselines3 pays several times the regret of GP-UCB on 30
arms, with options tuned for bandits; with the library's own it has hardly begun when the 150 rounds are
over. Learners for boxes (SAC, TD3) play the nearest arm. compare_with_sb3.png has the regret curves.
"""

from gpbandits import evaluate

result = evaluate(
    "GPBandit-GP-v0",
    {
        "GP-UCB": "gp-ucb",
        "IGP-UCB": "igp-ucb",
        "A2C": "sb3-a2c",
        "A2C, library defaults": ("sb3-a2c", {"preset": "library"}),
        "DQN": "sb3-dqn",
        "SAC": "sb3-sac",
        "TD3": "sb3-td3",
        "random": "random",
    },
    trials=3,
    seed=0,
    env_kwargs={"num_arms": 30, "horizon": 150},
)
print(result.table())
result.plot("compare_with_sb3.png")
