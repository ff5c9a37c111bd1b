"""Optimisers of other libraries as agents, by their ask and tell interface, and by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import from_extra
from bandit_envs.basics.types import Floats
from bandit_envs.problem.feedback import Feedback
from bandit_envs.problem.setting import Setting

from ..model.choice import arms_of
from ..options import one_seed, require_reset, require_taken
from ..protocol import BaseAgent, handles, requires
from . import engines
from .engines import Engine, OptimiserTask, quietly


class OptimiserAgent(BaseAgent):
    """Agent of one trial of an optimiser, made from a task, which uses neither contexts nor costs.

    On a finite set it proposes points in the box around the arms, or among them if its library can, and the
    nearest arm is played; its feedback is recorded at that arm. Arms without an order, such as the index of a
    category, hide similarities of neighbours from it.
    """

    def __init__(self, setting: Setting, make: Callable[[OptimiserTask], Engine]):
        self.setting, self._make = setting, make
        self._arms = None if setting.continuous else setting.decisions.unit_arms
        self._engine: Engine | None = None

    def reset(self, seed: int) -> None:
        word = int(np.random.SeedSequence(one_seed(seed)).generate_state(1)[0] >> 1)  # libraries take 31 bits
        with quietly():
            self._engine = self._make(OptimiserTask(self.setting.dim, self.setting.horizon, word, self._arms))
        self.round, self._action = 0, None

    def act(self, observation: Floats) -> Any:
        require_reset(self._engine is not None)
        assert self._engine is not None
        if self._action is None:
            with quietly():
                self._action = self._play(self._engine.ask())
        return self._action

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        require_reset(self._engine is not None)
        assert self._engine is not None
        news = Feedback.arrived(info)
        with quietly():
            self._engine.start(self.round, self._point(action))
            for round_, value in zip(news.round.tolist(), news.reward.tolist(), strict=True):
                self._engine.tell(round_, value)
        self.round, self._action = self.round + 1, None

    def __repr__(self) -> str:
        return f"OptimiserAgent({getattr(self._make, 'func', self._make).__name__})"

    def _play(self, point: Floats) -> Any:
        if self._arms is None:
            return (2.0 * point - 1.0).astype(np.float32)
        return int(((self._arms - point) ** 2).sum(axis=1).argmin())

    def _point(self, action: Any) -> Floats:
        if self._arms is None:
            return np.clip((np.asarray(action, dtype=np.float64).reshape(-1) + 1.0) / 2.0, 0.0, 1.0)
        return self._arms[arms_of(action, 1, len(self._arms))[0]]


@requires("optuna")
@handles("delay", "box")
def optuna_tpe(setting: Setting, **options: Any) -> OptimiserAgent:
    """Tree-structured Parzen estimators of Optuna (Bergstra et al. 2011).

    It would propose missing arms. Options are those of `optuna.samplers.TPESampler`.
    """
    return _made(setting, engines.OptunaEngine, sampler="TPESampler", **options)


@requires("optuna", "torch")
@handles("delay", "box")
def optuna_gp(setting: Setting, **options: Any) -> OptimiserAgent:
    """The Gaussian-process sampler of Optuna: log expected improvement.

    It would propose missing arms. Options are those of `optuna.samplers.GPSampler`.
    """
    return _made(setting, engines.OptunaEngine, sampler="GPSampler", **options)


@requires("botorch")
@handles("delay", "box")
def botorch_logei(setting: Setting, **options: Any) -> OptimiserAgent:
    """Log expected improvement of BoTorch (Ament et al. 2023).

    It would propose missing arms. Options are those of `BoTorchEngine`.
    """
    return _made(setting, engines.BoTorchEngine, acquisition="log-ei", **options)


@requires("botorch")
@handles("delay", "box")
def botorch_nei(setting: Setting, **options: Any) -> OptimiserAgent:
    """Log noisy expected improvement of BoTorch (Letham et al. 2019; Ament et al. 2023).

    It would propose missing arms. Options are those of `BoTorchEngine`.
    """
    return _made(setting, engines.BoTorchEngine, acquisition="log-nei", **options)


@requires("smac")
@handles("delay", "box")
def smac(setting: Setting, **options: Any) -> OptimiserAgent:
    """SMAC3's facade for black boxes (Lindauer et al. 2022): a Gaussian process and expected improvement.

    It would propose missing arms. Options are those of `smac.Scenario`.
    """
    return _made(setting, engines.SMACEngine, **options)


@requires("bayes_opt")
@handles("box")
def bayes_opt(setting: Setting, **options: Any) -> OptimiserAgent:
    """The package bayesian-optimization (Nogueira 2014): a Gaussian process and UCB.

    It would propose missing arms. Options are those of `BayesOptEngine`.
    """
    return _made(setting, engines.BayesOptEngine, **options)


@requires("skopt")
@handles("box")
def skopt(setting: Setting, **options: Any) -> OptimiserAgent:
    """scikit-optimize: a Gaussian process and a portfolio of acquisitions, "gp_hedge".

    It would propose missing arms. Options are those of `skopt.Optimizer`.
    """
    return _made(setting, engines.SkoptEngine, **options)


def _made(setting: Setting, engine: Any, **options: Any) -> OptimiserAgent:
    """Return the agent; a first engine is made to check that the package exists and takes the options."""
    make = partial(engine, **options)
    with quietly(), from_extra("peers", "optimisers of other libraries"):
        require_taken(engine, options)
        make(OptimiserTask(setting.dim, setting.horizon, 0, None))
    return OptimiserAgent(setting, make)
