"""Four agents on the same functions
=================================

Four agents play the same twenty functions drawn from a Gaussian process.

One sees a table, the best agent first, with intervals over the functions and differences paired by function;
quickstart.png has the regret curves on logarithmic axes. Random play pays the same price in every round, a
straight line of slope one; the others flatten out. GP-UCB with the theorem's width is safe and slow; with a
fifth of beta, as in the experiments of Srinivas et al. (2010), it wins about as much as expected improvement.
"""

from gpbandits import evaluate

result = evaluate(
    "GPBandit-GP-v0",
    {
        "GP-UCB": "gp-ucb",
        "GP-UCB (beta/5)": ("gp-ucb", {"beta_scale": 0.2}),
        "GP-EI": "gp-ei",
        "random": "random",
    },
    trials=20,
    seed=0,
    env_kwargs={"horizon": 300},
)
print(result.table())
result.plot("quickstart.png", scale="log-log")
