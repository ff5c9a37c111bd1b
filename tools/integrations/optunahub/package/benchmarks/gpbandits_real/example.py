"""Optuna's TPE on a real task whose trials are late, limited and paid for."""

from pathlib import Path

import optuna
import optunahub

# Once the package is registered: optunahub.load_module("benchmarks/gpbandits_real")
real = optunahub.load_local_module("benchmarks/gpbandits_real", registry_root=str(Path(__file__).parents[2]))

if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    problem = real.RealTask("digits-everything", seed=0)
    sampler = optuna.samplers.TPESampler(seed=0)
    study = optuna.create_study(sampler=sampler, directions=problem.directions)
    real.play(study, problem, rounds=40)
    print(f"{len(study.trials)} trials, best feasible regret {problem.regret(study.best_params):.4f}")
