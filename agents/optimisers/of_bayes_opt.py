"""The package bayesian-optimization as an engine."""

# What is of the extra `peers` is not there while types are checked.
# pyright: reportMissingImports=false

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats

from ..options import require_taken
from .optimiser import Task


class BayesOptEngine:
    """Its `suggest` and `register`, by default with its UCB, after points at random; plays may repeat.

    Args:
        task: what is optimised.
        initial: points at random.
        **options: of `bayes_opt.BayesianOptimization`.
    """

    def __init__(self, task: Task, initial: int = 5, **options: Any):
        from bayes_opt import BayesianOptimization

        self._names = [f"x{i:03d}" for i in range(task.dim)]
        bounds = dict.fromkeys(self._names, (0.0, 1.0))
        require_taken(BayesianOptimization, options, reserved=("f", "pbounds", "random_state"))
        given = {"verbose": 0, "allow_duplicate_points": True, **options}
        self._optimiser = BayesianOptimization(None, bounds, random_state=task.seed, **given)
        self._initial = initial
        self._points: dict[int, Floats] = {}

    def ask(self) -> Floats:
        """A point at random, then the one that it suggests."""
        few = len(self._points) < self._initial or len(self._optimiser.space) == 0
        found: Any = self._optimiser.random_sample(1)[0] if few else self._optimiser.suggest()
        return np.array([found[name] for name in self._names])

    def start(self, round: int, point: Floats) -> None:
        """Keep what is played until it has a value: the package knows of nothing pending."""
        self._points[round] = point

    def tell(self, round: int, reward: float) -> None:
        """Register a value."""
        params = dict(zip(self._names, self._points[round].tolist(), strict=True))
        with redirect_stdout(StringIO()):  # it prints a line for each play that repeats
            self._optimiser.register(params=params, target=reward)
