"""Samplers of Optuna as engines."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats

from ..options import require_taken
from .optimiser import Task


class OptunaEngine:
    """A study in memory, whose trials that run are the plays of which nothing has arrived.

    Args:
        task: what is optimised.
        sampler: name of a class in `optuna.samplers`.
        **options: of that class.
    """

    def __init__(self, task: Task, sampler: str, **options: Any):
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
        """What the sampler proposes."""
        self._asked = self._study.ask(self._space)
        return np.array([self._asked.params[name] for name in self._space])

    def start(self, round: int, point: Floats) -> None:
        """Run the trial that was asked for, or one of what is played instead of it."""
        if self._asked is not None and np.allclose(point, list(self._asked.params.values()), atol=1e-6):
            self._numbers[round] = self._asked.number
        else:
            self._numbers[round] = self._run_instead(point)
        self._asked = None

    def tell(self, round: int, reward: float) -> None:
        """Complete a trial."""
        self._study.tell(self._numbers.pop(round), reward)

    def _run_instead(self, point: Floats) -> int:
        """The number of a trial that runs at a point; the one that was asked for is given up."""
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
    """A study in memory, without the line that Optuna logs of each."""
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        return optuna.create_study(direction="maximize", sampler=sampler)
    finally:
        optuna.logging.set_verbosity(level)
