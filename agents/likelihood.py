r"""The marginal likelihood of a kernel and a noise variance, with repeated plays of a point condensed.

n values of one point with mean m and squares S around it are as likely, given f there, as m with noise
s2 / n times (2 pi s2)^(-(n - 1) / 2) n^(-1/2) exp(-S / (2 s2)). So over u distinct points, with
C = K + diag(s2 / n) and a = C^-1 m,

    log p = -1/2 m'a - 1/2 logdet C - u/2 log(2 pi) - sum_x [(n - 1)/2 log(2 pi s2) + 1/2 log n + S / (2 s2)]

and d log p = 1/2 tr((a a' - C^-1) dC) plus what the sum gives (Rasmussen & Williams 2006, 5.9).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_solve

from bandit_envs.types import Floats, Ints


class Sample(NamedTuple):
    """Noisy values of a function, condensed to their distinct points."""

    features: Floats  # (u, d)
    plays: Floats  # (u,) n
    mean: Floats  # (u,) m
    scatter: float  # sum of all S

    @classmethod
    def of(cls, features: Floats, point: Ints, value: Floats) -> Sample:
        """Condense values of points, (n,) each, of which `features` has the coordinates, (N, d)."""
        distinct, place, plays = np.unique(point, return_inverse=True, return_counts=True)
        mean = np.zeros(len(distinct))
        np.add.at(mean, place, value)
        mean /= plays
        return cls(
            features[distinct], plays.astype(np.float64), mean, float(((value - mean[place]) ** 2).sum())
        )


def negative_log_likelihood(theta: Floats, kernel: Any, sample: Sample) -> tuple[float, Floats]:
    """Return -log p and its gradient; infinity where the covariance cannot be factorised.

    Args:
        theta: the kernel's free hyperparameters and s2, all as logarithms, (p + 1,).
        kernel: a scikit-learn kernel.
        sample: the values.
    """
    noise, n, m = math.exp(theta[-1]), sample.plays, sample.mean
    covariance, slopes = kernel.clone_with_theta(theta[:-1])(sample.features, eval_gradient=True)
    covariance[np.diag_indices(len(n))] += noise / n
    try:
        triangle = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        return math.inf, np.zeros(len(theta))
    weight = cho_solve((triangle, True), m)
    pull = np.multiply.outer(weight, weight) - cho_solve((triangle, True), np.eye(len(n)))
    repeats = (n - 1.0).sum()
    log_p = -0.5 * m @ weight - np.log(np.diag(triangle)).sum() - 0.5 * len(n) * math.log(2.0 * math.pi)
    log_p -= 0.5 * (repeats * math.log(2.0 * math.pi * noise) + np.log(n).sum() + sample.scatter / noise)
    gradient = np.empty(len(theta))
    gradient[:-1] = 0.5 * np.einsum("ij,ijp->p", pull, slopes)
    gradient[-1] = 0.5 * ((np.diag(pull) * noise / n).sum() - repeats + sample.scatter / noise)
    return -float(log_p), -gradient
