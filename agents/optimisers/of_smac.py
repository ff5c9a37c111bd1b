"""SMAC as an engine."""

# Packages of the extra `peers` are not installed where types are checked.
# pyright: reportMissingImports=false

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats

from ..options import require_taken
from .optimiser import Engine, OptimiserTask


class SMACEngine(Engine):
    """Engine of SMAC's facade for black boxes; the files that SMAC writes are removed with it.

    `**options` are those of `smac.Scenario`.
    """

    def __init__(self, task: OptimiserTask, **options: Any):
        from ConfigSpace import ConfigurationSpace
        from smac import BlackBoxFacade, Scenario

        self._names = [f"x{i}" for i in range(task.dim)]
        self._space = ConfigurationSpace(space=dict.fromkeys(self._names, (0.0, 1.0)), seed=task.seed)
        folder = tempfile.mkdtemp(prefix="gpbandits-smac-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        given = {"n_trials": task.horizon, "output_directory": Path(folder), **options}
        require_taken(Scenario, options, reserved=("configspace", "seed"))
        scenario = Scenario(self._space, seed=task.seed, **given)
        self._smac = BlackBoxFacade(scenario, _unused, logging_level=False, overwrite=True)
        self._asked: Any = None
        self._infos: dict[int, Any] = {}  # round -> trial
        self._costs: dict[Any, list[float]] = defaultdict(list)  # (configuration, seed) -> its costs

    def ask(self) -> Floats:
        self._asked = self._smac.ask()
        return self._place(self._asked)

    def start(self, round: int, point: Floats) -> None:
        """Record the play as the proposed trial, or as one of another configuration."""
        asked, self._asked = self._asked, None
        if asked is None or not np.allclose(point, self._place(asked), atol=1e-6):
            asked = self._instead(point)
        self._infos[round] = asked

    def tell(self, round: int, reward: float) -> None:
        """Pass the negative reward, because SMAC minimises; the mean, where a trial is played again."""
        from smac.runhistory.dataclasses import TrialValue

        trial = self._infos.pop(round)
        costs = self._costs[trial.config, trial.seed]
        costs.append(-reward)
        self._smac.tell(trial, TrialValue(cost=float(np.mean(costs))), save=False)

    def _place(self, info: Any) -> Floats:
        return np.array([info.config[name] for name in self._names])

    def _instead(self, point: Floats) -> Any:
        """Return a trial that runs at a point, with a seed not yet used there, if there is one.

        SMAC tries a challenger on those of its few seeds that the incumbent has: a new seed would leave none,
        and it would search for another challenger forever.
        """
        from ConfigSpace import Configuration
        from smac.runhistory.dataclasses import TrialInfo

        values = dict(zip(self._names, point.tolist(), strict=True))
        config, history = Configuration(self._space, values=values), self._smac.runhistory
        had = [*history.get_trials(config), *history.get_running_trials(config)]
        seeds = [key.seed for key in self._smac.intensifier.get_instance_seed_keys_of_interest()]
        free = [seed for seed in seeds if seed not in [trial.seed for trial in had]]
        trial = TrialInfo(config, seed=(free or seeds)[0])
        history.add_running_trial(trial)
        return trial


def _unused(config: Any, seed: int = 0) -> float:
    """Raise: SMAC must not call the function itself."""
    raise AssertionError(f"{config} is played in a round")
