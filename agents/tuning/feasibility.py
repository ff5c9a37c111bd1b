"""A classifier of experiments that succeed, learnt from values and failures."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from bandit_envs.basics.types import Bools, Floats

from .history import Round
from .plan import LENGTH_SCALE, Plan

BASE, AMPLITUDE = 1.0, 6.0  # variances of the log odds: of their level, and of their variation over the space
LENGTH_SCALE_BOUNDS = (0.2, 5.0)  # shorter ones would not generalise to a point's neighbours
UNKNOWN = 0.5  # prior probability of success
FEWEST = 3  # of either kind, before length-scales are learnt: fewer are separable along any parameter
MOST = 200  # latest ones of either kind: a fit of n takes O(n^3)


class Feasibility:
    r"""Gaussian-process classifier of experiments (Rasmussen & Williams 2006, chapter 3).

    P(success at x) = E sigmoid(f(x)), f ~ GP(0, b + a k), k a Matern 5/2 with one length-scale a feature of
    (context, parameters), by Laplace's approximation. The length-scales maximise its marginal likelihood once
    there are three of either kind. While nothing has succeeded, P = (1 - max_i k(x, x_i)) / 2 instead: the
    farther from all failures, the better. O(n^3) for n experiments, which are at most 400.

    Args:
        points: features of finished experiments, (n, d).
        succeeded: mask of those with a value, (n,), at least one of which is False.
    """

    def __init__(self, points: Floats, succeeded: Bools):
        self.points, self.succeeded = points, succeeded

    def probability(self, points: Floats) -> Floats:
        """Return the probability of success at each point, (m, d) -> (m,)."""
        if not self.succeeded.any():
            near: Any = self._kernel(points, self.points)
            return UNKNOWN * (1.0 - near.max(axis=1))
        return self._classifier.predict_proba(points)[:, 1]

    @cached_property
    def highest(self) -> float:
        """Approximate largest probability: the largest one of the experiments that succeeded."""
        return float(self.probability(self.points[self.succeeded]).max(initial=0.0)) or UNKNOWN

    @property
    def _kernel(self) -> Matern:
        dim = self.points.shape[1]
        scale: Any = np.full(dim, LENGTH_SCALE * dim**0.5)
        return Matern(np.clip(scale, *LENGTH_SCALE_BOUNDS), LENGTH_SCALE_BOUNDS, nu=2.5)

    @cached_property
    def _classifier(self) -> GaussianProcessClassifier:
        prior = ConstantKernel(BASE, "fixed") + ConstantKernel(AMPLITUDE, "fixed") * self._kernel
        learns = min(self.succeeded.sum(), (~self.succeeded).sum()) >= FEWEST
        optimizer: Any = "fmin_l_bfgs_b" if learns else None
        classifier = GaussianProcessClassifier(prior, optimizer=optimizer, copy_X_train=False)
        with warnings.catch_warnings():  # a length-scale at a bound is a valid result
            warnings.simplefilter("ignore", ConvergenceWarning)
            return classifier.fit(self.points, self.succeeded)


def feasibility_of(plan: Plan, rounds: Sequence[Round]) -> Feasibility | None:
    """Return the classifier after some rounds, None where none failed; it depends on them alone."""
    failed = [each.round for round_ in rounds for each in round_.failed][-MOST:]
    if not failed:
        return None
    told = [each.round for round_ in rounds for each in round_.arrivals][-MOST:]
    points = np.array([_features(plan, rounds[t]) for t in [*failed, *told]])
    return Feasibility(points, np.arange(len(points)) >= len(failed))


def _features(plan: Plan, round_: Round) -> Floats:
    """Return features of (context, parameters), as the kernel takes them."""
    return np.hstack([plan.contexts.features(round_.context), plan.parameters.features(round_.parameters)])
