"""Long-term constraints
=====================

Long-term constraints: what a constraint costs, and what ignoring it saves.

Two small discs of [0, 6]^2 are feasible, 1.8 % of it, and the reward is highest where nothing is (Shi &
Eryilmaz 2022). Regret is against the best feasible point, so an agent that violates has a negative one: read
it with the violation. The figure is of the average violation, with the bound of the paper's Theorem 1 in
grey: it holds for Algorithm 2 in the form of the paper, if the penalised objectives' norms stay below B.
"""

import numpy as np

from agents.widths.information_gain import upper_bound
from bandit_envs.problems.benchmarks import small_feasible_region
from gpbandits import evaluate
from gpbandits.evaluation.plots import regret_figure, save_figure
from gpbandits.theory.regret import Epochs, NoiselessBounds

HORIZON, EPOCH = 350, 20
problem = small_feasible_region(num_arms=31**2, horizon=HORIZON)
result = evaluate(
    problem,
    {
        "Algorithm 2": ("gp-ucb-noiseless-constraints", {"epoch": EPOCH}),
        "Algorithm 3": ("gp-ucb-noisy-constraints", {"epoch": EPOCH}),
        "unconstrained IGP-UCB": "igp-ucb",
        "bandit OCO": "bandit-oco",
    },
    trials=10,
)
print(result.table(baseline="Algorithm 2"))

gamma = upper_bound(problem.gram, 1 + 2 / EPOCH, EPOCH).values.max()
epochs = Epochs(EPOCH, -(-HORIZON // EPOCH), gamma=float(gamma), bound=1.0, noise_std=0.1)
bounds = NoiselessBounds(epochs, gap=6.0)  # no reward is larger than f* by 6
ends = np.arange(EPOCH, HORIZON + 1, EPOCH)
allowed = bounds.violation(ends) / ends
print(f"\nTheorem 1 allows an average violation of {allowed[-1]:.2f} if B = 1.")

figure = regret_figure(result, metric="average_violation")
figure.axes[0].plot(ends, allowed, color="0.4", linewidth=1)
figure.axes[0].set_ylim(top=1.5)
save_figure(figure, "long_term_constraints.png")
