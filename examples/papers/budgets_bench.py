"""Regret against a budget, and simple regret where plays cost something.

python examples/papers/budgets_bench.py

The numpy runs that the cumulative figures repeat gave 36, 40, 47 and 57 with costs to be learnt, 2.4 to 4.6
with known ones and 171 to 1307 for GP-UCB. Here figures are smaller and grow alike. Rewards are rescaled here
and were not there; whether that is all of the difference was not checked.
"""

import numpy as np

from gpbandits import evaluate
from gpbandits.evaluation.record import over_budget

BENCH = {"length_scale": 0.2, "noise_std": 0.1, "normalize": True}
AT = np.array([1.0, 2.5, 5.0])  # budgets at which simple regret is looked at


def cumulative(trials: int = 8) -> None:
    """Print rho* B less what was earned at growing budgets, costs in [0.2, 1.2] seen with noise or known."""
    field = {"ratio-ucb": "ratio-ucb", "gp-ucb": ("gp-ucb", {"width": 2.0})}
    for known in (False, True):
        for budget in (50, 100, 200, 400):
            costs = {"law": "gp", "budget": budget, "known": known, "noise_std": 0.0 if known else 0.1}
            result = evaluate(
                "GPBandit-Budget-v0", field, trials=trials, env_kwargs={**BENCH, "budget": costs}
            )
            ends = {label: values[:, -1].mean() for label, values in result.budget_regret.items()}
            print(f"known={known} B={budget}", {label: round(float(end), 1) for label, end in ends.items()})


def simple(trials: int = 25, known: bool = False) -> None:
    """Print the mean simple regret at some budgets, costs log-GP, learnt or known."""
    field = {
        "random": "random",
        "EI": "gp-ei",
        "EIpu": ("ei-per-cost", {"cooling": False}),
        "cooled": "ei-per-cost",
        "pbgi": "pbgi",
        "pbgi-d": ("pbgi", {"halving": True}),
    }
    costs = {"law": "log-gp", "budget": 5, "median": 0.2, "known": known}
    keywords = {"length_scale": 0.05, "noise_std": 0.01, "normalize": False, "budget": costs, "horizon": 300}
    result = evaluate("GPBandit-Budget-v0", field, trials=trials, env_kwargs=keywords)
    for label, values in result.simple_regret.items():
        print(label, over_budget(values, result.spent[label], AT).mean(axis=0).round(3), "at", AT)


if __name__ == "__main__":
    simple()
    simple(known=True)
    cumulative()
