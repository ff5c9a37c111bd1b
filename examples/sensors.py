"""Real data: the warmest of fifty sensors
=======================================

Real data: find the warmest of fifty sensors in an office, at one moment, by asking as few as possible.

Every trial is a half-hour of the recordings of the Intel Berkeley lab; what the agents know is how the
sensors went together on earlier days. One sees that knowing the covariance is most of the battle; that the
width of Theorem 1 costs twice the regret of a fifth of its beta; that GP-TS explores too much with its own
width; and that playing the mean alone is best in the typical trial and bad in some. docs/environments.md says
where the recordings are looked for.
"""

from gpbandits import evaluate

result = evaluate(
    "GPBandit-IntelTemperature-v0",
    {
        "GP-UCB (Theorem 1)": "gp-ucb",
        "GP-UCB (beta/5)": ("gp-ucb", {"beta_scale": 0.2}),
        "Thompson sampling": ("gp-ts", {"width": 1.0}),
        "GP-TS (gain 1)": ("gp-ts", {"gamma": 1.0}),
        "IGP-UCB (gain 1)": ("igp-ucb", {"gamma": 1.0}),
        "GP-EI": "gp-ei",
        "mean only": "pure-exploitation",
        "random": "random",
    },
    trials=50,
    seed=0,
)
print(result.table())
result.plot("sensors.png")
result.plot("sensors-simple.png", metric="simple_regret")
