"""Tune a real learner
===================

Tune a real learner: batch size, step size and decay of logistic regression, in 60 training runs.

The rewards are the validation accuracies of 845 settings on scikit-learn's breast-cancer data, trained
beforehand and shipped as a table, with the scatter from one training seed to the next. One sees how much
accuracy each way of choosing gives away a run, and the setting that the best of them would keep.
"""

import numpy as np

import agents
from bandit_envs import make
from bandit_envs.data import logistic_tuning
from gpbandits import evaluate, threads

tuners = {
    "GP-UCB (beta/5)": ("gp-ucb", {"beta_scale": 0.2}),
    "GP-EI": "gp-ei",
    "Thompson sampling": ("gp-ts", {"width": 1.0}),
    "random search": "random",
}
result = evaluate("GPBandit-LogisticTuning-v0", tuners, trials=10, env_kwargs={"horizon": 60})
print(result.table())
result.plot("tune_logistic.png")

env = make("GPBandit-LogisticTuning-v0", horizon=60)
observation, info = env.reset(seed=0)
agent = agents.make("gp-ei", env)
agent.reset(seed=0)
with threads(1):
    for _ in range(60):
        action = agent.act(observation)
        following, reward, terminated, truncated, info = env.step(action)
        agent.update(observation, action, reward, info)
        observation = following
best, table = agent.recommend(), logistic_tuning()
setting = ", ".join(
    f"{name} {value:.3g}" for name, value in zip(table.names, table.values[best.action], strict=True)
)
truth = table.accuracy[best.action]
print(f"\nKeep {setting}: {best.mean:.3f} +- {best.std:.3f} expected, {truth:.3f} in truth")
print(f"The best of all {len(table.accuracy)} settings reaches {np.max(table.accuracy):.3f}")
