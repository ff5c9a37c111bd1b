"""Tables of our own training runs, which ship with the package."""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats

# The smallest and largest value of each hyperparameter (Verma et al. 2022, section 6), on log scales.
LOGISTIC_BOUNDS = {"batch_size": (32.0, 128.0), "step_size": (1e-6, 1.0), "decay": (1e-6, 1.0)}


class TuningTable(NamedTuple):
    """The validation accuracy of a learner at N settings of its hyperparameters."""

    names: tuple[str, ...]  # of the hyperparameters, d of them
    values: Floats  # (N, d) as the learner takes them
    unit: Floats  # (N, d) the same on log scales, in [0, 1]
    accuracy: Floats  # (N,) mean over the replicates
    std: Floats  # (N,) deviation of one run from that mean


def logistic_tuning() -> TuningTable:
    """Logistic regression on the breast-cancer data, computed by `scripts/logistic_tuning_table.py`."""
    table = files("bandit_envs.data").joinpath("tables", "logistic_tuning.csv").read_text(encoding="utf-8")
    rows = np.loadtxt(table.splitlines(), delimiter=",", skiprows=1)  # (N, 5)
    values = rows[:, :3]
    return TuningTable(
        names=tuple(LOGISTIC_BOUNDS),
        values=values,
        unit=to_unit(values, np.array(list(LOGISTIC_BOUNDS.values()))),
        accuracy=rows[:, 3],
        std=rows[:, 4],
    )


def to_unit(values: Floats, bounds: Floats) -> Floats:
    """log(v / low) / log(high / low), (N, d) with bounds (d, 2) -> (N, d)."""
    low, high = bounds.T
    # Rounding must not push the ends of the scale out of [0, 1].
    return np.clip(np.log(values / low) / np.log(high / low), 0.0, 1.0)
