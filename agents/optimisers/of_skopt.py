"""scikit-optimize as an engine."""

# Packages of the extra `peers` are not installed where types are checked.
# pyright: reportMissingImports=false

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats

from ..options import require_taken
from .optimiser import Engine, OptimiserTask


class SkoptEngine(Engine):
    """Engine of ask and tell, by default with a Gaussian process and a portfolio of acquisitions.

    `**options` are those of `skopt.Optimizer`.
    """

    def __init__(self, task: OptimiserTask, **options: Any):
        from skopt import Optimizer

        require_taken(Optimizer, options, reserved=("dimensions", "random_state"))
        given = {"n_initial_points": 5, **options}
        self._optimiser = Optimizer([(0.0, 1.0)] * task.dim, random_state=task.seed, **given)
        self._points: dict[int, Floats] = {}

    def ask(self) -> Floats:
        return np.array(self._optimiser.ask(), dtype=np.float64)

    def start(self, round: int, point: Floats) -> None:
        """Store the play until its value is delivered: the library has no pending plays."""
        self._points[round] = point

    def tell(self, round: int, reward: float) -> None:
        """Pass the negative reward, because the library minimises."""
        self._optimiser.tell(self._points[round].tolist(), -reward)
