"""Samplers of Optuna as engines."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats

from ..options import require_taken
from .optimiser import Engine, OptimiserTask


class OptunaEngine(Engine):
    """Engine of a study in memory, whose running trials are the pending plays.

    The sampler is the name of a class in `optuna.samplers`, and `**options` are those of that class.
    """

    def __init__(self, task: OptimiserTask, sampler: str, **options: Any):
        import optuna

        self._optuna = optuna
        self._space = {f"x{i}": optuna.distributions.FloatDistribution(0.0, 1.0) for i in range(task.dim)}
        kind = getattr(optuna.samplers, sampler)
        require_taken(kind, options, reserved=("seed",))
        made = kind(seed=task.seed, **options)
        self._study = _quietly_created(optuna, made)
        self._asked: Any = None
        self._numbers: dict[int, int] = {}  # round -> trial

    def ask(self) -> Floats:
        self._asked = self._study.ask(self._space)
        return np.array([self._asked.params[name] for name in self._space])

    def start(self, round: int, point: Floats) -> None:
        """Run the proposed trial, or a new one at the point that is played instead."""
        if self._asked is not None and np.allclose(point, list(self._asked.params.values()), atol=1e-6):
            self._numbers[round] = self._asked.number
        else:
            self._numbers[round] = self._run_instead(point)
        self._asked = None

    def tell(self, round: int, reward: float) -> None:
        self._study.tell(self._numbers.pop(round), reward)

    def _run_instead(self, point: Floats) -> int:
        """Return the number of a new trial that runs at a point; the proposed one is marked as failed."""
        states = self._optuna.trial.TrialState
        if self._asked is not None:
            self._study.tell(self._asked, state=states.FAIL)
        params = dict(zip(self._space, point.tolist(), strict=True))
        trial = self._optuna.trial.create_trial(
            params=params, distributions=dict(self._space), state=states.RUNNING
        )
        self._study.add_trial(trial)
        return len(self._study.get_trials(deepcopy=False)) - 1


def _quietly_created(optuna: Any, sampler: Any) -> Any:
    """Return a study in memory, without Optuna's log line."""
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        return optuna.create_study(direction="maximize", sampler=sampler)
    finally:
        optuna.logging.set_verbosity(level)
