"""Load classification data on which learners are tuned."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.data.files import locate


class Classification(NamedTuple):
    """Hold patients and their diagnoses."""

    x: Floats  # (n, d) raw features
    y: Ints  # (n,) 0 or 1

    def prefix(self, count: int) -> Classification:
        """Return the first `count` patients."""
        return Classification(self.x[:count], self.y[:count])

    def shuffled(self, seed: int) -> Classification:
        """Return the patients in a random order."""
        order = np.random.default_rng(seed).permutation(len(self.y))
        return Classification(self.x[order], self.y[order])


def pima_diabetes() -> Classification:
    """Load Pima Indians diabetes: 768 patients, 8 features."""
    rows = np.loadtxt(locate("pima_diabetes.csv"), delimiter=",", skiprows=1, dtype=np.float64)
    return Classification(rows[:, :-1], rows[:, -1].astype(np.int64))


def breast_cancer() -> Classification:
    """Load breast cancer in Wisconsin: 569 patients, 30 features; bundled with scikit-learn."""
    from sklearn.datasets import load_breast_cancer

    x, y = load_breast_cancer(return_X_y=True)
    return Classification(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.int64))
