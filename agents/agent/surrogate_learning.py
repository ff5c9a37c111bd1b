"""Learn a kernel and a noise variance for each surrogate of one trial by marginal likelihood."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats

from ..beliefs.surrogates import Surrogates
from ..model.hyperparameters import NO_PRIOR, Fitter, Learning
from ..model.model import Model

FEWEST = 2  # outcomes: a single one carries no information on a length-scale
START = 0.01  # initial noise variance, in prior variances
Fit = (
    list[list[float]] | None
)  # log hyperparameters of all quantities, empty where a fit failed; None with too few outcomes


class SurrogateLearning:
    """Fits kernels and noise to the delivered outcomes every n rounds and sets them in the surrogates.

    Args:
        model: holds the kernel and, in `learning`, the settings of fits; None where nothing is learnt.
        quantities: 1 + C, the reward and the costs.
        rng: draws the random starts.
    """

    def __init__(self, model: Model, quantities: int, rng: np.random.Generator):
        self._learning, self.rng = model.learning, rng
        self._model, variance = model, model.deviation**2
        spreads = self._learning.spreads if self._learning else NO_PRIOR
        self._fitters = [
            Fitter(model.kernel, START * variance, variance, spreads=spreads) for _ in range(quantities)
        ]
        self.fits: list[Fit] = []  # results in order
        self.failed = 0
        self.recalled: deque[Fit] | None = None  # noted results still to use during a replay
        self._overdue = False

    def after(self, rounds: int) -> None:
        """Mark a fit as due if this many rounds complete a period."""
        if self._learning is not None and rounds % self._learning.every == 0:
            self._overdue = True

    def fit_if_due(self, surrogates: Surrogates) -> bool:
        """Fit if it is due, and return True if the surrogates have new kernels."""
        if not self._overdue or self._learning is None:
            return False
        self._overdue = False
        fit = self._found(surrogates, self._learning) if self.recalled is None else self._recall()
        self.fits.append(fit)
        if fit is None:
            return False
        parts = np.split(np.array(fit), len(self._fitters))
        each = zip(self._fitters, parts, strict=True)
        surrogates.remodel([fitter.take(theta, 0.0) for fitter, theta in each])
        return True

    def _found(self, surrogates: Surrogates, learning: Learning) -> Fit:
        most = len(surrogates.point) if learning.most is None else learning.most
        point, outcome = surrogates.point[-most:], surrogates.outcome[-most:]
        if len(point) < FEWEST:
            return None
        values = (outcome - surrogates.centre) / surrogates.scale
        asked = learning.restarts, self.rng
        for fitter, value in zip(self._fitters, values.T, strict=True):  # a failed fit keeps the last kernel
            self.failed += fitter.fit(self._coordinates, point, value, *asked) is None
        return np.concatenate([fitter.latest for fitter in self._fitters]).tolist()

    def _recall(self) -> Fit:
        if not self.recalled:
            raise ValueError(f"the notes have {len(self.fits)} fits, fewer than were made")
        fit, size = self.recalled.popleft(), sum(len(fitter.latest) for fitter in self._fitters)
        if fit is not None and len(fit) != size:
            raise ValueError(f"a fit in the notes must be {size} numbers, got {len(fit)}")
        return fit

    @property
    def _coordinates(self) -> Floats:
        visited: Any = self._model.visited
        return self._model.setting.decisions.points if visited is None else visited.features
