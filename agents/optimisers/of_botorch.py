"""Acquisition functions of BoTorch as an engine."""

# Packages of the extra `peers` are not installed where types are checked.
# pyright: reportMissingImports=false

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require_choice, require_integer
from bandit_envs.basics.types import Floats

from .optimiser import Engine, OptimiserTask

ACQUISITIONS = ("log-ei", "log-nei")
RESTARTS, RAW = 8, 256  # of the search of a box
BATCH = 512  # arms that are scored at a time


class BoTorchEngine(Engine):
    """Engine with a Gaussian process fitted in each round, by the defaults of BoTorch, after a Sobol design.

    Args:
        acquisition: "log-ei", by q-LogEI where plays are pending, or "log-nei".
        initial: points of the design.
    """

    def __init__(self, task: OptimiserTask, acquisition: str = "log-ei", initial: int = 5):
        import botorch  # noqa: F401 (raises when an agent is made without it)
        import torch

        require_choice("acquisition", acquisition, ACQUISITIONS)
        require_integer("initial", initial, 1, "it is a number of points")
        self._torch, self._task, self._acquisition = torch, task, acquisition
        sobol = torch.quasirandom.SobolEngine(task.dim, scramble=True, seed=task.seed)
        self._design = sobol.draw(initial, dtype=torch.float64).numpy()
        self._points: dict[int, Floats] = {}  # of all rounds
        self._rewards: dict[int, float] = {}

    def ask(self) -> Floats:
        """Return a point of the design at first, then the maximiser of the acquisition."""
        t = len(self._points)
        if t < len(self._design) or len(self._rewards) < 2:
            return self._design[t % len(self._design)]
        from botorch.utils.sampling import manual_seed

        with manual_seed(self._task.seed + t):
            return self._search(self._acquire())

    def start(self, round: int, point: Floats) -> None:
        self._points[round] = point

    def tell(self, round: int, reward: float) -> None:
        self._rewards[round] = reward

    def _acquire(self) -> Any:
        """Return the acquisition of a model of all delivered values."""
        from botorch import acquisition
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from gpytorch.mlls import ExactMarginalLogLikelihood

        known = self._tensor([self._points[t] for t in self._rewards])
        values = self._tensor(list(self._rewards.values()))[:, None]
        model = SingleTaskGP(known, values)  # it standardises the values
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        late = [point for t, point in self._points.items() if t not in self._rewards]
        pending = self._tensor(late) if late else None
        if self._acquisition == "log-nei":
            make = acquisition.qLogNoisyExpectedImprovement
            return make(model, X_baseline=known, X_pending=pending, prune_baseline=True)
        if pending is None:
            return acquisition.LogExpectedImprovement(model, best_f=values.max())
        return acquisition.qLogExpectedImprovement(model, best_f=values.max(), X_pending=pending)

    def _search(self, acquisition: Any) -> Floats:
        """Return the maximiser of an acquisition, among all arms or in the box."""
        from botorch.optim import optimize_acqf, optimize_acqf_discrete

        if self._task.arms is not None:
            choices = self._tensor(self._task.arms)
            found, _ = optimize_acqf_discrete(acquisition, q=1, choices=choices, max_batch_size=BATCH)
        else:
            box = self._tensor([[0.0] * self._task.dim, [1.0] * self._task.dim])
            found, _ = optimize_acqf(acquisition, box, q=1, num_restarts=RESTARTS, raw_samples=RAW)
        return np.clip(found.detach().numpy().reshape(-1), 0.0, 1.0)

    def _tensor(self, rows: Any) -> Any:
        return self._torch.as_tensor(np.array(rows), dtype=self._torch.float64)
