"""Support vector machines tuned over C and gamma: tables of real training runs, and the runs themselves.

The setting is that of Verma et al. (2022), Section 6.2: raw features, 70 % training and 30 % validation
(stratified, random_state 0), C = 1e-4 + x_1 (100 - 1e-4) and gamma = 1e-4 + x_2 (10 - 1e-4) with
(x_1, x_2) in [0, 1]^2. Nearly all of that square is a plateau on which the machine learns nothing; the
accuracy changes where gamma is below about 0.04, so that the grid is log-spaced towards both edges, which it
includes. `scripts/svm_tables.py` computes the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.data.classification import Classification, breast_cancer, pima_diabetes
from bandit_envs.data.files import cache_folder

SVM_BOUNDS = {"C": (1e-4, 100.0), "gamma": (1e-4, 10.0)}
PREFIXES = 20  # growing data sets
ORDER_SEED = 0  # of the patients' order in which they grow


def growing_diabetes() -> list[Classification]:
    """The diabetes data as it grows: 20 prefixes of one random order, of 38, 76, ..., 768 patients."""
    patients = pima_diabetes().shuffled(ORDER_SEED)
    sizes = np.arange(1, PREFIXES + 1) * len(patients.y) // PREFIXES
    return [patients.prefix(int(size)) for size in sizes]


# Each name stands for the Z data sets that a table has a row for.
DATA_SETS: dict[str, Callable[[], list[Classification]]] = {
    "diabetes": lambda: [pima_diabetes()],
    "breast-cancer": lambda: [breast_cancer()],
    "growing-diabetes": growing_diabetes,
}


def svm_grid(side: int) -> Floats:
    """(x_1, x_2) with C and gamma log-spaced over their ranges, edges included, (side^2, 2)."""
    axes = [_unit_axis(low, high, side) for low, high in SVM_BOUNDS.values()]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)


def svm_accuracy(data: str, side: int) -> Floats:
    """Validation accuracy on each data set at each point of `svm_grid(side)`, (Z, side^2).

    Args:
        data: of `DATA_SETS`.
        side: 30, and 20 for "growing-diabetes", ship with the package; others must have been computed.
    """
    name = svm_table_name(data, side)
    shipped = files("bandit_envs.data").joinpath("tables", name)
    computed = cache_folder() / "tables" / name
    found = next((table for table in (shipped, computed) if table.is_file()), None)
    if found is None:
        raise ValueError(
            f"side must be that of a table that ships or that was computed, got {side}; compute it by"
            f" `python scripts/svm_tables.py {data} {side}`, or train at once with train=True"
        )
    return accuracy_of(np.loadtxt(found.read_text(encoding="utf-8").splitlines(), delimiter=",", ndmin=2))


@cache
def train_svm(data: str, side: int) -> Floats:
    """The same by training now, a hundredth of a second a machine; once a process. Do not write to it."""
    return accuracy_of(count_correct(DATA_SETS[data](), svm_grid(side)))


def count_correct(parts: list[Classification], grid: Floats) -> Ints:
    """Validation patients, then those of them that each machine gets right, (Z, 1 + A)."""
    return np.array([_count_correct(part, grid) for part in parts], dtype=np.int64)


def accuracy_of(counts: Any) -> Floats:
    """Share of the validation patients that are right, (Z, 1 + A) -> (Z, A)."""
    return counts[:, 1:] / counts[:, :1]


def svm_table_name(data: str, side: int) -> str:
    """File name of a table."""
    return f"svm_{data}_{side}.csv"


def _count_correct(part: Classification, grid: Floats) -> list[int]:
    from sklearn.model_selection import train_test_split
    from sklearn.svm import SVC

    split: list[Any] = train_test_split(part.x, part.y, test_size=0.3, stratify=part.y, random_state=0)
    x, x_valid, y, y_valid = split
    low, high = np.array(list(SVM_BOUNDS.values())).T
    machines = (SVC(C=c, gamma=gamma) for c, gamma in low + grid * (high - low))
    correct = (machine.fit(x, y).predict(x_valid) == y_valid for machine in machines)
    return [len(y_valid), *(int(right.sum()) for right in correct)]


def _unit_axis(low: float, high: float, side: int) -> Floats:
    unit = (np.geomspace(low, high, side) - low) / (high - low)
    unit[[0, -1]] = 0.0, 1.0  # exactly
    return unit
