"""Tabulate support vector machines over C and gamma, or train them: all values are of real training runs.

The setting is that of Verma et al. (2022), Section 6.2: raw features, 70 % training and 30 % validation
(stratified, random_state 0), C = 1e-4 + x_1 (100 - 1e-4) and gamma = 1e-4 + x_2 (10 - 1e-4) with (x_1, x_2)
in [0, 1]^2. On nearly all of that square the machine learns nothing; the accuracy changes where x_2 is below
about 0.004 and exceeds the plateau below about 0.001. The "uniform" grid is the square as the authors search
it, with the edge x_2 = 0 and a few rows beside it; on the "log" grid, log-spaced towards both edges, one
point in five is above the plateau, so that random play does well there.
`tools/svm_tables.py` computes the tables.
"""

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.data.files import cache_folder
from bandit_envs.data.tables import Classification, breast_cancer, pima_diabetes, to_unit

SVM_BOUNDS = {"C": (1e-4, 100.0), "gamma": (1e-4, 10.0)}
BESIDE_THE_EDGE = (0.001, 0.002, 0.003)  # more values of x_2, next to the edge where the accuracy changes
PREFIXES = 20  # growing data sets
ORDER_SEED = 0  # of the patients' order in which they grow


def growing_diabetes() -> list[Classification]:
    """Return 20 growing prefixes of the diabetes data in one random order: 38, 76, ..., 768 patients."""
    patients = pima_diabetes().shuffled(ORDER_SEED)
    sizes = np.arange(1, PREFIXES + 1) * len(patients.y) // PREFIXES
    return [patients.prefix(int(size)) for size in sizes]


# The Z data sets of each name, one a row of its table.
DATA_SETS: dict[str, Callable[[], list[Classification]]] = {
    "diabetes": lambda: [pima_diabetes()],
    "breast-cancer": lambda: [breast_cancer()],
    "growing-diabetes": growing_diabetes,
}


# Shipped tables: numbers of values of C and gamma, by data and spacing.
SHAPES: dict[str, dict[str, tuple[int, int]]] = {
    "diabetes": {"uniform": (11, 251), "log": (30, 30)},
    "breast-cancer": {"uniform": (11, 251), "log": (30, 30)},
    "growing-diabetes": {"uniform": (6, 126), "log": (20, 20)},
}


class ResultGrid(NamedTuple):
    """Hold the spacing of points of the square, and how many values of C and gamma span their ranges."""

    spacing: str  # "uniform" or "log"
    shape: tuple[int, int]

    @property
    def points(self) -> Floats:
        """Return all pairs (x_1, x_2) of the axes' values, edges included, (A, 2)."""
        if self.spacing == "log":
            axes = [_log_axis(*bounds, n) for bounds, n in zip(SVM_BOUNDS.values(), self.shape, strict=True)]
        else:
            first, second = (np.linspace(0.0, 1.0, count) for count in self.shape)
            axes = [first, np.union1d(second, BESIDE_THE_EDGE)]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)


def svm_accuracy(data: str, grid: ResultGrid) -> Floats:
    """Return the validation accuracy on each data set at each point of a grid, (Z, A).

    Args:
        data: a name in `DATA_SETS`.
        grid: of a shape in `SHAPES[data]`; other tables must have been computed.
    """
    name = svm_table_name(data, grid)
    found = files("bandit_envs.data").joinpath("tables", name)
    if not found.is_file():
        found = cache_folder() / "tables" / name
    if not found.is_file():
        first, second = grid.shape
        raise ValueError(
            f"shape must be that of a shipped or computed table, got {grid.shape}; compute it by"
            f" `python tools/svm_tables.py {data} {grid.spacing} {first} {second}`, or train at once with"
            " train=True"
        )
    return accuracy_of(np.loadtxt(found.read_text(encoding="utf-8").splitlines(), delimiter=",", ndmin=2))


@cache
def train_svm(data: str, grid: ResultGrid) -> Floats:
    """Return that accuracy by training, 0.01 s a machine; cached once a process. Do not write to it."""
    return accuracy_of(count_correct(DATA_SETS[data](), grid.points))


def count_correct(parts: list[Classification], points: Floats) -> Ints:
    """Return the number of validation patients, then of correct ones for each machine, (Z, 1 + A)."""
    return np.array([_count_correct(part, points) for part in parts], dtype=np.int64)


def accuracy_of(counts: Any) -> Floats:
    """Return the share of correct validation patients, (Z, 1 + A) -> (Z, A)."""
    return counts[:, 1:] / counts[:, :1]


def svm_values(points: Floats) -> Floats:
    """Return C and gamma at points of the square, (A, 2)."""
    low, high = np.array(list(SVM_BOUNDS.values())).T
    return low + points * (high - low)


def svm_unit(points: Floats) -> Floats:
    """Return log C and log gamma at points of the square, scaled to [0, 1], (A, 2)."""
    return to_unit(svm_values(points), np.array(list(SVM_BOUNDS.values())))


def svm_table_name(data: str, grid: ResultGrid) -> str:
    """Return the file name of a table."""
    first, second = grid.shape
    return f"svm_{data}_{grid.spacing}_{first}x{second}.csv"


def _count_correct(part: Classification, points: Floats) -> list[int]:
    from sklearn.model_selection import train_test_split
    from sklearn.svm import SVC

    split: list[Any] = train_test_split(part.x, part.y, test_size=0.3, stratify=part.y, random_state=0)
    x, x_valid, y, y_valid = split
    machines = (SVC(C=c, gamma=gamma) for c, gamma in svm_values(points))
    correct = (machine.fit(x, y).predict(x_valid) == y_valid for machine in machines)
    return [len(y_valid), *(int(right.sum()) for right in correct)]


def _log_axis(low: float, high: float, side: int) -> Floats:
    unit = (np.geomspace(low, high, side) - low) / (high - low)
    unit[[0, -1]] = 0.0, 1.0  # without rounding errors
    return unit
