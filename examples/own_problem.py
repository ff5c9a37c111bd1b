"""A problem of one's own
======================

A problem of one's own: which temperature and brewing time make the best coffee?

The taste is a function of two features in their own units, tasting is uncertain by up to 0.5 points, and the
kernel says that 3 degrees or half a minute make little difference. One sees who wastes least on bad cups
(own_problem.png), and then what an agent would serve after 60 cups: near 92.5 degrees and 4 minutes, where
the taste is 8 points.
"""

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import agents
from bandit_envs import Decisions, Problem, make
from bandit_envs.laws import KnownFunction, UniformNoise
from gpbandits import evaluate, threads

temperature, minutes = np.meshgrid(np.linspace(85, 97, 25), np.linspace(2, 6, 17))


def taste(cup):
    """Points of cups, (n, 2) -> (n,): best at 92.5 degrees and 4 minutes, and hotter wants shorter."""
    heat, time = (cup[:, 0] - 92.5) / 3, cup[:, 1] - 4
    return 8 * np.exp(-(heat**2) - heat * time - time**2)


coffee = Problem(
    decisions=Decisions(arms=np.column_stack([temperature.ravel(), minutes.ravel()])),
    reward=KnownFunction(taste),
    kernel=ConstantKernel(9.0) * RBF([3.0, 1.0]),
    noise=UniformNoise(std=0.5 / np.sqrt(3)),  # within 0.5 points of the truth
    horizon=60,
    prior_mean=3.0,
    name="coffee",
)
result = evaluate(coffee, ["gp-ucb", "gp-ts", "gp-ei", "random"], trials=10)
print(result.table())
result.plot("own_problem.png")

env = make(coffee)
observation, info = env.reset(seed=1)
agent = agents.make("gp-ei", env)
agent.reset(seed=1)
with threads(1):
    for _ in range(coffee.horizon):
        action = agent.act(observation)
        following, reward, terminated, truncated, info = env.step(action)
        agent.update(observation, action, reward, info)
        observation = following
best = agent.recommend()
print(f"\nServe at {best.point[0]:.1f} degrees after {best.point[1]:.2f} minutes: {best.mean:.1f} points")
