"""Rewards that change without notice
==================================

Rewards that change without notice: what a change costs, and how an agent can find out.

The function is another one after every 300 rounds, and nothing says so (Avanesov 2020). GP-UCB goes on
playing what was best. GP-UCB-CPD gives some rounds to plays at random, compares what they earned lately with
what they earned before, and starts over when the two are of different functions. GP-UCB-NO-Detector plays at
random as often and never starts over; the oracle observes each change.

One sees two tables and a figure. Without a detector most of the regret comes after the first change. With
one, a change costs the rounds until it is found, and some alarms are false: the data from before them are
lost. The figure is of one trial: dotted lines are changes, and ticks at the bottom are alarms. In it GP-UCB
is lucky: what it played last is good again in the third segment. The table says that this is rare.
"""

from gpbandits import evaluate

competitors = {
    "GP-UCB-Oracle": "gp-ucb-oracle",
    "GP-UCB-CPD": "gp-ucb-cpd",
    "GP-UCB-NO-Detector": "gp-ucb-no-detector",
    "GP-UCB": ("gp-ucb", {"width": "change-point"}),
}
paper = {"horizon": 1200, "num_segments": 4, "num_arms": 200}  # on 1000 arms it takes longer
result = evaluate("GPBandit-PiecewiseStationary-v0", competitors, trials=8, env_kwargs=paper)
print(result.table(baseline="GP-UCB-CPD"))
print(f"\n{result.detection_table()}")

single = evaluate("GPBandit-PiecewiseStationary-v0", competitors, trials=1, seed=1, env_kwargs=paper)
changes, alarms = single.changes[0], single.alarms["GP-UCB-CPD"][0]
print(f"\nIn the figure the function changes at rounds {changes.tolist()}; alarms at {alarms.tolist()}.")
single.plot("piecewise_stationary.png")
