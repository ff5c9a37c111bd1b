"""The covariates of an agent's plays for a detector: indices on a finite set, features on a box."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import qmc

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram
from bandit_envs.problem.setting import Setting

from ...model.units import PriorUnits
from .detector import ChangePointDetector

if TYPE_CHECKING:
    from ...model.model import Model

NODES = 256  # of the integral over a box, a power of two


class Places:
    """Builder of an agent's detectors, and conversion of plays to their samples.

    Args:
        model: of the agent; on a box it has the plays' features.
        observed: the model of the reward.
    """

    def __init__(self, model: Model, observed: Model):
        self._visited, self._observed = model.visited, observed
        self.prior = PriorUnits.of_setting(observed.setting, observed.deviation)

    def detector(self, **options: Any) -> ChangePointDetector:
        """Return a new detector."""
        if self._visited is None:
            return ChangePointDetector.on_points(self._observed.gram, **options)
        nodes = box_nodes(self._observed.setting)
        return ChangePointDetector.on_features(self._observed.kernel, nodes, **options)

    def covariates(self, point: Ints) -> list[Any]:
        """Return the covariates of plays, (n,)."""
        return point.tolist() if self._visited is None else list(self._visited.features[point])

    @property
    def mean_is_known(self) -> bool:
        """True if the reward's prior mean is known; otherwise its level is learnt from the samples."""
        return self._observed.mean_is_known

    def values(self, trial: Ints, point: Ints, reward: Floats, cost: Floats) -> Floats:
        """Rewards less their prior means, and costs in units in which they vary as rewards do, (n, 1 + C)."""
        return np.column_stack([reward - self.prior_mean(trial, point), cost * self.prior.beside_reward])

    def prior_mean(self, trial: Ints, point: Ints) -> Floats:
        """Return the prior mean of the reward, (n,) each -> (n,)."""
        mean = np.asarray(self._observed.prior_mean, dtype=np.float64)
        if mean.size == 1:
            return np.full(len(point), mean.item())
        return mean[point] if mean.ndim == 1 else mean[trial, 0]


def representative_gram(model: Model) -> Gram:
    """Return the prior covariance on the points, or on well spread points of a box."""
    if not model.setting.continuous:
        return model.gram
    return Gram(model.kernel, box_nodes(model.setting))


def box_nodes(setting: Setting) -> Floats:
    """Return Sobol's points of a box, with finite contexts in turn, (n, dz + d)."""
    low, high = setting.low, setting.high
    assert low is not None
    assert high is not None
    if setting.context_low is not None:
        assert setting.context_high is not None
        low, high = np.append(setting.context_low, low), np.append(setting.context_high, high)
    unit = qmc.Sobol(len(low), scramble=False).random(NODES)
    nodes = low + (high - low) * unit
    if setting.contexts is None:
        return nodes
    turns = np.arange(NODES) % len(setting.contexts)
    return np.hstack([setting.contexts[turns], nodes])
