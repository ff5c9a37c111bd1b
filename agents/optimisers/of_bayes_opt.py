"""The package bayesian-optimization as an engine."""

# Packages of the extra `peers` are not installed where types are checked.
# pyright: reportMissingImports=false

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats

from ..options import require_taken
from .optimiser import Engine, OptimiserTask


class BayesOptEngine(Engine):
    """Engine of `suggest` and `register`, by default with UCB, after points at random; plays may repeat.

    Args:
        initial: points at random.
        **options: of `bayes_opt.BayesianOptimization`.
    """

    def __init__(self, task: OptimiserTask, initial: int = 5, **options: Any):
        from bayes_opt import BayesianOptimization

        self._names = [f"x{i:03d}" for i in range(task.dim)]
        bounds = dict.fromkeys(self._names, (0.0, 1.0))
        require_taken(BayesianOptimization, options, reserved=("f", "pbounds", "random_state"))
        given = {"verbose": 0, "allow_duplicate_points": True, **options}
        self._optimiser = BayesianOptimization(None, bounds, random_state=task.seed, **given)
        self._initial = initial
        self._points: dict[int, Floats] = {}

    def ask(self) -> Floats:
        """Return a point at random at first, then the suggested one."""
        few = len(self._points) < self._initial or len(self._optimiser.space) == 0
        found: Any = self._optimiser.random_sample(1)[0] if few else self._optimiser.suggest()
        return np.array([found[name] for name in self._names])

    def start(self, round: int, point: Floats) -> None:
        """Store the play until its value is delivered: the package has no pending plays."""
        self._points[round] = point

    def tell(self, round: int, reward: float) -> None:
        params = dict(zip(self._names, self._points[round].tolist(), strict=True))
        with redirect_stdout(StringIO()):  # it prints a line for each play that repeats
            self._optimiser.register(params=params, target=reward)
