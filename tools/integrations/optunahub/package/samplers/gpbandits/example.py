"""Six samplers of Gaussian-process bandits, each on a small study."""

from pathlib import Path

import optuna
import optunahub

# Once the package is registered: optunahub.load_module("samplers/gpbandits")
gpbandits = optunahub.load_local_module("samplers/gpbandits", registry_root=str(Path(__file__).parents[2]))


def objective(trial: optuna.Trial) -> float:
    """Return a loss that is least at x = 0.3, y = 4."""
    x = trial.suggest_float("x", 0.0, 1.0)
    y = trial.suggest_int("y", 1, 8)
    trial.set_user_attr("spent", 1.0 + x)  # read by BudgetedSampler
    return (x - 0.3) ** 2 + 0.05 * (y - 4) ** 2


def constrained(trial: optuna.Trial) -> float:
    """Return the loss, feasible at x of at least 0.5."""
    loss = objective(trial)
    trial.set_constraint("left", 0.5 - trial.params["x"])
    return loss


SAMPLERS = {
    "GP-UCB": gpbandits.GPUCBSampler(seed=0),
    "GP-TS": gpbandits.GPTSSampler(seed=0),
    "GP-PI": gpbandits.GPPISampler(seed=0),
    "constrained": gpbandits.ConstrainedSampler(seed=0),
    "delay-aware": gpbandits.DelayAwareSampler(seed=0),
    "budgeted": gpbandits.BudgetedSampler(12.0, seed=0),
}

if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    for name, sampler in SAMPLERS.items():
        study = optuna.create_study(sampler=sampler)
        study.optimize(constrained if name == "constrained" else objective, n_trials=12)
        print(f"{name}: {len(study.trials)} trials, best {study.best_value:.4f} at {study.best_params}")
