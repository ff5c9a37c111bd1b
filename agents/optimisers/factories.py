"""Optimisers of other libraries by name."""

from __future__ import annotations

from functools import partial
from typing import Any

from bandit_envs.basics.arguments import from_extra
from bandit_envs.problem.setting import Setting

from ..options import require_taken
from ..protocol import handles, requires
from .engines import BayesOptEngine, BoTorchEngine, OptunaEngine, SkoptEngine, SMACEngine
from .optimiser import OptimiserAgent, OptimiserTask, quietly


@requires("optuna")
@handles("delay", "box")
def optuna_tpe(setting: Setting, **options: Any) -> OptimiserAgent:
    """Tree-structured Parzen estimators of Optuna (Bergstra et al. 2011).

    It would propose missing arms. Options are those of `optuna.samplers.TPESampler`.
    """
    return _made(setting, OptunaEngine, sampler="TPESampler", **options)


@requires("optuna", "torch")
@handles("delay", "box")
def optuna_gp(setting: Setting, **options: Any) -> OptimiserAgent:
    """The Gaussian-process sampler of Optuna: log expected improvement.

    It would propose missing arms. Options are those of `optuna.samplers.GPSampler`.
    """
    return _made(setting, OptunaEngine, sampler="GPSampler", **options)


@requires("botorch")
@handles("delay", "box")
def botorch_logei(setting: Setting, **options: Any) -> OptimiserAgent:
    """Log expected improvement of BoTorch (Ament et al. 2023).

    It would propose missing arms. Options are those of `BoTorchEngine`.
    """
    return _made(setting, BoTorchEngine, acquisition="log-ei", **options)


@requires("botorch")
@handles("delay", "box")
def botorch_nei(setting: Setting, **options: Any) -> OptimiserAgent:
    """Log noisy expected improvement of BoTorch (Letham et al. 2019; Ament et al. 2023).

    It would propose missing arms. Options are those of `BoTorchEngine`.
    """
    return _made(setting, BoTorchEngine, acquisition="log-nei", **options)


@requires("smac")
@handles("delay", "box")
def smac(setting: Setting, **options: Any) -> OptimiserAgent:
    """SMAC3's facade for black boxes (Lindauer et al. 2022): a Gaussian process and expected improvement.

    It would propose missing arms. Options are those of `smac.Scenario`.
    """
    return _made(setting, SMACEngine, **options)


@requires("bayes_opt")
@handles("box")
def bayes_opt(setting: Setting, **options: Any) -> OptimiserAgent:
    """The package bayesian-optimization (Nogueira 2014): a Gaussian process and UCB.

    It would propose missing arms. Options are those of `BayesOptEngine`.
    """
    return _made(setting, BayesOptEngine, **options)


@requires("skopt")
@handles("box")
def skopt(setting: Setting, **options: Any) -> OptimiserAgent:
    """scikit-optimize: a Gaussian process and a portfolio of acquisitions, "gp_hedge".

    It would propose missing arms. Options are those of `skopt.Optimizer`.
    """
    return _made(setting, SkoptEngine, **options)


def _made(setting: Setting, engine: Any, **options: Any) -> OptimiserAgent:
    """Return the agent; a first engine is made to check that the package exists and takes the options."""
    make = partial(engine, **options)
    with quietly(), from_extra("peers", "optimisers of other libraries"):
        require_taken(engine, options)
        make(OptimiserTask(setting.dim, setting.horizon, 0, None))
    return OptimiserAgent(setting, make)
