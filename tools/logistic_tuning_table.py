r"""Compute the table behind GPBandit-LogisticTuning-v0: `python tools/logistic_tuning_table.py`.

Every row is the validation accuracy of real training runs: logistic regression on scikit-learn's
breast-cancer data (569 patients, 30 features, standardised by the training part; 70 % training and 30 %
validation, stratified, random_state 0), by mini-batch gradient descent without regularisation,

    w <- w - step_size / (1 + decay * t) * mean gradient of the batch,    t = 0, 1, ... updates so far,

for a fixed number of epochs, from weights drawn from N(0, 1/d). Replicates differ in their initial weights
and shuffles; replicate i has the same at every point of the grid (the same shuffles at equal batch size), so
that the surface shows the hyperparameters and not the luck of the draw. The hyperparameters and their ranges
are those of Verma et al. 2022, section 6. Takes half a minute on one core.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from bandit_envs.basics.types import Floats
from bandit_envs.data.tables import LOGISTIC_BOUNDS

TABLE = Path(__file__).parents[1] / "bandit_envs" / "data" / "tables" / "logistic_tuning.csv"
GRID = {"batch_size": 5, "step_size": 13, "decay": 13}  # log-spaced values of each hyperparameter
EPOCHS = 20
REPLICATES = 256
SEED = 0


class Split(NamedTuple):
    """Training and validation data; the last feature is the constant 1 of the intercept."""

    x: Floats  # (n, d)
    y: Floats  # (n,) 0 or 1
    x_valid: Floats  # (m, d)
    y_valid: Floats  # (m,)


def breast_cancer() -> Split:
    """Load, split and standardise scikit-learn's bundled data."""
    x, y = load_breast_cancer(return_X_y=True)
    parts: list[Any] = train_test_split(x, y, test_size=0.3, stratify=y, random_state=0)
    x, x_valid, y, y_valid = parts
    mean, std = x.mean(axis=0), x.std(axis=0)
    return Split(
        _with_intercept((x - mean) / std), y * 1.0, _with_intercept((x_valid - mean) / std), y_valid * 1.0
    )


def accuracies(split: Split, batch_size: int, step_size: Floats, decay: Floats) -> Floats:
    """Validation accuracy of all R replicates at P settings of step size and decay, (P,) -> (R, P)."""
    of_start, of_shuffle = np.random.default_rng(SEED), np.random.default_rng([SEED, batch_size])
    n, d = split.x.shape
    start = of_start.normal(scale=d**-0.5, size=(REPLICATES, d, 1))
    weights = np.repeat(start, len(step_size), axis=2)
    update = 0
    for _ in range(EPOCHS):
        order = of_shuffle.permuted(np.tile(np.arange(n), (REPLICATES, 1)), axis=1)
        for batch in np.split(order, range(batch_size, n, batch_size), axis=1):
            weights -= step_size / (1 + decay * update) * gradient(weights, split.x[batch], split.y[batch])
            update += 1
    correct = (split.x_valid @ weights > 0) == (split.y_valid[:, None] > 0)
    return correct.mean(axis=1)


def gradient(weights: Floats, x: Floats, y: Floats) -> Floats:
    """Return the batch mean of (sigmoid(x'w) - y) x: w (R, d, P), x (R, b, d), y (R, b) -> (R, d, P)."""
    error = expit(x @ weights) - y[:, :, None]
    return x.transpose(0, 2, 1) @ error / x.shape[1]


def grid() -> tuple[list[int], Floats, Floats]:
    """Batch sizes, and the step sizes and decays of all their pairs, (P,) each."""
    batch_size, step_size, decay = (np.geomspace(*LOGISTIC_BOUNDS[name], GRID[name]) for name in GRID)
    step_size, decay = np.meshgrid(step_size, decay, indexing="ij")
    return [round(b) for b in batch_size], step_size.ravel(), decay.ravel()


def rows(split: Split, batch_size: int, step_size: Floats, decay: Floats) -> Floats:
    """Rows of the table at P settings of step size and decay, (P, 5)."""
    accuracy = accuracies(split, batch_size, step_size, decay)
    mean, std = accuracy.mean(axis=0), accuracy.std(axis=0, ddof=1)
    return np.column_stack([np.full(len(mean), batch_size), step_size, decay, mean, std])


def main() -> None:
    """Train at every point of the grid and write the table."""
    split = breast_cancer()
    batch_sizes, step_size, decay = grid()
    table = np.concatenate([rows(split, batch_size, step_size, decay) for batch_size in batch_sizes])
    header = "batch_size,step_size,decay,accuracy_mean,accuracy_std"
    np.savetxt(TABLE, table, fmt="%d,%.10g,%.10g,%.6f,%.6f", header=header, comments="")


def _with_intercept(x: Floats) -> Floats:
    return np.column_stack([x, np.ones(len(x))])


if __name__ == "__main__":
    main()
