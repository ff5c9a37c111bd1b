"""Load tables of our own training runs, which ship with the package."""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats

# The smallest and largest value of each hyperparameter (Verma et al. 2022, section 6), on log scales.
LOGISTIC_BOUNDS = {"batch_size": (32.0, 128.0), "step_size": (1e-6, 1.0), "decay": (1e-6, 1.0)}
CNN_BOUNDS = {**LOGISTIC_BOUNDS, "batch_size": (128.0, 512.0)}


class TuningTable(NamedTuple):
    """Hold the validation accuracy of a learner at N settings of its hyperparameters."""

    names: tuple[str, ...]  # of the hyperparameters, d of them
    values: Floats  # (N, d) in the learner's units
    unit: Floats  # (N, d) the same on log scales, in [0, 1]
    accuracy: Floats  # (N,) mean over the replicates
    std: Floats  # (N,) std of one run


def logistic_tuning() -> TuningTable:
    """Load logistic regression on the breast-cancer data, made by `scripts/logistic_tuning_table.py`."""
    return tuning_table(_read("logistic_tuning.csv"), LOGISTIC_BOUNDS)


def cnn_tuning() -> TuningTable:
    """Load a convolutional network on scikit-learn's digits, made by `scripts/cnn_tuning_table.py`."""
    return tuning_table(_read("cnn_tuning.csv"), CNN_BOUNDS)


def tuning_table(rows: Floats, bounds: dict[str, tuple[float, float]]) -> TuningTable:
    """Return a table from rows of d hyperparameters, mean accuracy and std of a run, (N, d + 2)."""
    values = rows[:, :-2]
    unit = to_unit(values, np.array(list(bounds.values())))
    return TuningTable(tuple(bounds), values, unit, accuracy=rows[:, -2], std=rows[:, -1])


def _read(file: str) -> Floats:
    table = files("bandit_envs.data").joinpath("tables", file).read_text(encoding="utf-8")
    return np.loadtxt(table.splitlines(), delimiter=",", skiprows=1)


def to_unit(values: Floats, bounds: Floats) -> Floats:
    """Return log(v / low) / log(high / low), (N, d) with bounds (d, 2) -> (N, d)."""
    low, high = bounds.T
    # Rounding must not push the ends of the scale out of [0, 1].
    return np.clip(np.log(values / low) / np.log(high / low), 0.0, 1.0)
