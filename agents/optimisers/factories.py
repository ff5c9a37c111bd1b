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
from .engines import (
    BayesOptEngine,
    BoTorchEngine,
    Engine,
    OptimiserTask,
    OptunaEngine,
    SkoptEngine,
    SMACEngine,
    quietly,
)


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
                point = self._engine.ask()
            if self._arms is None:
                self._action = (2.0 * point - 1.0).astype(np.float32)
            else:
                self._action = int(((self._arms - point) ** 2).sum(axis=1).argmin())
        return self._action

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        require_reset(self._engine is not None)
        assert self._engine is not None
        news = Feedback.arrived(info)
        if self._arms is None:
            point = np.clip((np.asarray(action, dtype=np.float64).reshape(-1) + 1.0) / 2.0, 0.0, 1.0)
        else:
            point = self._arms[arms_of(action, 1, len(self._arms))[0]]
        with quietly():
            self._engine.start(self.round, point)
            for round_, value in zip(news.round.tolist(), news.reward.tolist(), strict=True):
                self._engine.tell(round_, value)
        self.round, self._action = self.round + 1, None

    def __repr__(self) -> str:
        return f"OptimiserAgent({getattr(self._make, 'func', self._make).__name__})"


def _entrant(
    name: str, engine: Any, about: str, takes: str, *modules: str, waits: bool = True, **fixed: Any
) -> Callable[..., OptimiserAgent]:
    """Return a factory of agents; `waits` says whether pending plays count, `takes` whose options it has."""

    @requires(*modules)
    @handles("box", *(["delay"] if waits else []))
    def made(setting: Setting, **options: Any) -> OptimiserAgent:
        make = partial(engine, **fixed, **options)
        with quietly(), from_extra("peers", "optimisers of other libraries"):
            require_taken(engine, {**fixed, **options})
            make(OptimiserTask(setting.dim, setting.horizon, 0, None))  # raises without package or option
        return OptimiserAgent(setting, make)

    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"{about}\n\nIt would propose missing arms. Options are those of `{takes}`."
    return made


_tpe = "Tree-structured Parzen estimators of Optuna (Bergstra et al. 2011)."
optuna_tpe = _entrant(
    "optuna_tpe", OptunaEngine, _tpe, "optuna.samplers.TPESampler", "optuna", sampler="TPESampler"
)
_gp = "The Gaussian-process sampler of Optuna: log expected improvement."
optuna_gp = _entrant(
    "optuna_gp", OptunaEngine, _gp, "optuna.samplers.GPSampler", "optuna", "torch", sampler="GPSampler"
)
_logei = "Log expected improvement of BoTorch (Ament et al. 2023)."
botorch_logei = _entrant(
    "botorch_logei", BoTorchEngine, _logei, "BoTorchEngine", "botorch", acquisition="log-ei"
)
_nei = "Log noisy expected improvement of BoTorch (Letham et al. 2019; Ament et al. 2023)."
botorch_nei = _entrant("botorch_nei", BoTorchEngine, _nei, "BoTorchEngine", "botorch", acquisition="log-nei")
_smac = "SMAC3's facade for black boxes (Lindauer et al. 2022): a Gaussian process and expected improvement."
smac = _entrant("smac", SMACEngine, _smac, "smac.Scenario", "smac")
_bayes_opt = "The package bayesian-optimization (Nogueira 2014): a Gaussian process and UCB."
bayes_opt = _entrant("bayes_opt", BayesOptEngine, _bayes_opt, "BayesOptEngine", "bayes_opt", waits=False)
_skopt = 'scikit-optimize: a Gaussian process and a portfolio of acquisitions, "gp_hedge".'
skopt = _entrant("skopt", SkoptEngine, _skopt, "skopt.Optimizer", "skopt", waits=False)
