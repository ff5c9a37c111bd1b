"""Expected improvement times the probability of feasibility, in logarithms, with its slopes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from bandit_envs.basics.types import Bools, Floats

from ..beliefs.surrogates import Prediction
from .improvement import (
    log_expected_improvement,
    log_improvement_slopes,
    mills_ratio,
)


@dataclass(frozen=True)
class FeasibleImprovement:
    r"""log EI_f(x) + sum_j log Phi(-mu_j(x) / sigma_j(x)) (Gardner et al. 2014, equation 6).

    Args:
        incumbent: value that improvement is measured from; None, before a feasible value is known, leaves out
            EI_f.
    """

    incumbent: float | None

    def __call__(self, believed: Prediction) -> Floats:
        """Return scores, (A,)."""
        probability = log_feasibility(believed)
        if self.incumbent is None:
            return probability
        return log_expected_improvement(believed.mean[0] - self.incumbent, believed.std[0]) + probability

    def slopes(self, believed: Prediction) -> Prediction:
        """Return the derivatives of the score in every mean and std, (1 + C, A) each."""
        mean, std = believed.mean[1:], believed.std[1:]
        scale = np.where(std > 0.0, std, 1.0)
        z = -mean / scale
        ratio = 1.0 / mills_ratio(-z)  # phi / Phi
        of_cost = np.where(std > 0.0, [-ratio / scale, -ratio * z / scale], 0.0)
        of_reward = np.zeros((2, mean.shape[1]))
        if self.incumbent is not None:
            of_reward[:] = log_improvement_slopes(believed.mean[0] - self.incumbent, believed.std[0])
        return Prediction(*np.concatenate([of_reward[:, None], of_cost], axis=1))


@dataclass(frozen=True)
class FeasibleMean:
    """mu_f where all mu_j <= 0, minus infinity elsewhere: the mean of arms believed to be feasible."""

    def __call__(self, believed: Prediction) -> Floats:
        """Return scores, (A,)."""
        return np.where(believed_feasible(believed), believed.mean[0], -np.inf)


@dataclass(frozen=True)
class Indifferent:
    """Constant score: ties are broken at random."""

    def __call__(self, believed: Prediction) -> Floats:
        """Return zeros, (A,)."""
        return np.zeros(believed.mean.shape[1])


def believed_feasible(believed: Prediction) -> Bools:
    """Return where all costs have a posterior mean of at most 0, (A,)."""
    return np.asarray((believed.mean[1:] <= 0.0).all(axis=0))


def log_feasibility(believed: Prediction) -> Floats:
    """Return sum_j log Phi(-mu_j / sigma_j), (A,): the log probability of all costs <= 0 if independent."""
    mean, std = believed.mean[1:], believed.std[1:]
    certain = np.where(mean <= 0.0, np.inf, -np.inf)
    return log_ndtr(np.where(std > 0.0, -mean / np.where(std > 0.0, std, 1.0), certain)).sum(axis=0)
