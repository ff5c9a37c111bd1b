"""Tune one machine after the other
================================

Tune one machine after the other with late results: what the first teaches about the next.

Ten similar machines are tuned for 30 rounds each; the observation says which one it is. A result is about
three rounds late, some only when the next machine is being tuned, and counts for the machine it belongs to.
Rewards are a function of (machine, setting) pairs, and the kernel says how alike neighbours are. Every agent
plays twice: once with that kernel, and once with a kernel in which the machines are independent.

One sees that the kernel over pairs saves GP-UCB more than half of its regret, and the others a third or
more. GP-UCB-SDF, which explores for every pending play, pays for that on each new machine. At the end stands
the setting that GP-BUCB would keep for each machine. docs/reproductions.md asks the same of real tasks.
"""

from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import agents
from bandit_envs import make
from gpbandits import evaluate, threads

ID, MACHINES = "GPBandit-Contextual-v0", 10
problem = {"context": {"law": "blocks", "length": 30}, "delay": {"law": "poisson", "mean": 3}, "horizon": 300}
unrelated = ConstantKernel(0.25**2) * RBF(length_scale=[0.001, 0.2])  # of the machine, of the setting

result = evaluate(
    ID,
    {
        "GP-UCB": ("gp-ucb", {"width": 1.0}),
        "GP-BUCB": "gp-bucb",
        "GP-UCB-SDF": ("gp-ucb-sdf", {"window": 6}),
        "GP-UCB, unrelated": ("gp-ucb", {"width": 1.0, "kernel": unrelated}),
        "GP-BUCB, unrelated": ("gp-bucb", {"kernel": unrelated}),
        "GP-UCB-SDF, unrelated": ("gp-ucb-sdf", {"window": 6, "kernel": unrelated}),
        "random": "random",
    },
    trials=10,
    env_kwargs=problem,
)
print(result.table())
result.plot("contextual_tuning.png")

env = make(ID, **problem)
observation, info = env.reset(seed=0)
agent = agents.make("gp-bucb", env)
agent.reset(seed=0)
with threads(1):
    for _ in range(problem["horizon"]):
        action = agent.act(observation)
        following, reward, terminated, truncated, info = env.step(action)
        agent.update(observation, action, reward, info)
        observation = following
print()
for machine, context in enumerate(env.get_wrapper_attr("setting").scaled_contexts):
    best = agent.recommend(context)
    print(f"machine {machine}: keep {best.point[-1]:.2f}, expected {best.mean:.3f} +- {best.std:.3f}")
