"""Recorded data: sensors, classification sets, and tables of training runs, HPO-B's too."""

from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from scipy.io import loadmat

from bandit_envs.basics.arguments import require_choice
from bandit_envs.basics.types import Floats, Ints, fixed
from bandit_envs.data.files import locate, sources
from bandit_envs.data.runs import HPOB, Origin, hpo_arrays

FOLDER = "tst_svm/"
# The smallest and largest value of each hyperparameter (Verma et al. 2022, section 6), on log scales.
LOGISTIC_BOUNDS = {"batch_size": (32.0, 128.0), "step_size": (1e-6, 1.0), "decay": (1e-6, 1.0)}
CNN_BOUNDS = {**LOGISTIC_BOUNDS, "batch_size": (128.0, 512.0)}


class Classification(NamedTuple):
    """Hold patients and their diagnoses."""

    x: Floats  # (n, d) raw features
    y: Ints  # (n,) 0 or 1

    def prefix(self, count: int) -> "Classification":
        """Return the first `count` patients."""
        return Classification(self.x[:count], self.y[:count])

    def shuffled(self, seed: int) -> "Classification":
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


class Recordings(NamedTuple):
    """Hold synchronised measurements of several sensors, earlier times to train and later ones to test."""

    train: Floats  # (times, sensors)
    test: Floats  # (times, sensors)


def intel_temperature() -> Recordings:
    """Load half-hourly temperatures of 50 sensors in the Intel Berkeley lab, degrees C, 144 + 96 times."""
    paths = (locate(f"intel_temperature_{part}.csv") for part in Recordings._fields)
    rows = (np.loadtxt(path, delimiter=",", dtype=np.float64) for path in paths)
    return Recordings(*(np.ascontiguousarray(each.T) for each in rows))  # the files have one row a sensor


def cmu_light() -> Recordings:
    """Load light of 41 sensors in the CMU Intelligent Workplace, raw sensor units, 601 + 192 times."""
    data = loadmat(locate("cmu_light_iw_data_all.mat"), simplify_cells=True)["data"]
    # The file has unsigned 16-bit integers, whose differences would wrap around.
    return Recordings(*(np.asarray(data[part]["sensordata"], np.float64) for part in Recordings._fields))


class SVMTasks(NamedTuple):
    """Hold the validation accuracy of the same A configurations on Z classification tasks."""

    names: tuple[str, ...]  # of the tasks, in byte order
    features: Floats  # (Z, 22) meta-features of the tasks, in [0, 1]
    configurations: Floats  # (A, 6): RBF, polynomial, linear (one-hot), C, gamma and degree, log-scaled
    accuracy: Floats  # (Z, A)


@cache  # half a second to read and check 50 files
def tst_svm() -> SVMTasks:
    """Load 50 tasks x 288 configurations; cached once a process, so the arrays are read-only."""
    # Two pairs of tasks share their first features but not their accuracies: rows are tasks.
    held = (file for file in sources() if file.startswith(FOLDER))
    names = sorted((file.removeprefix(FOLDER) for file in held), key=str.encode)
    tables = fixed(np.array([np.loadtxt(locate(FOLDER + name), dtype=np.float64) for name in names]))
    return SVMTasks(tuple(names), tables[:, 0, 7:], tables[0, :, 1:7], tables[:, :, 0])


class TuningTable(NamedTuple):
    """Hold the validation accuracy of a learner at N settings of its hyperparameters."""

    names: tuple[str, ...]  # of the hyperparameters, d of them
    values: Floats  # (N, d) in the learner's units
    unit: Floats  # (N, d) the same on log scales, in [0, 1]
    accuracy: Floats  # (N,) mean over the replicates
    std: Floats  # (N,) std of one run


def logistic_tuning() -> TuningTable:
    """Load logistic regression on the breast-cancer data, made by `tools/logistic_tuning_table.py`."""
    return tuning_table(_read("logistic_tuning.csv"), LOGISTIC_BOUNDS)


def cnn_tuning() -> TuningTable:
    """Load a convolutional network on scikit-learn's digits, made by `tools/cnn_tuning_table.py`."""
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


HPOB_PACKAGE = "bocode"  # its wheel holds the tables; `packages.toml` has its digest and licence
HPOB_ORIGIN = Origin("Pineda Arango et al. (2021), HPO-B", licence="MIT", doi="10.48550/arXiv.2106.06257")
# Names of tables, such as "4796-23", of a search space and a data set of OpenML.
HPOB_TABLES = tuple(f"{space}-{data_set}" for space, held in HPOB.items() for data_set in held)


class AccuracyTable(NamedTuple):
    """Hold the exact accuracy of a classifier at A different configurations."""

    unit: Floats  # (A, d) parameters as the authors scale them to [0, 1], categories one-hot
    accuracy: Floats  # (A,)

    @property
    def normalised(self) -> Floats:
        """Return (accuracy - worst) / (best - worst), (A,), whose best is 1, as the authors report it."""
        return (self.accuracy - self.accuracy.min()) / np.ptp(self.accuracy)


def load_hpob(table: str) -> AccuracyTable:
    """Return a table by its name, such as "4796-23"; its package is downloaded at the first use.

    Equal configurations, of which the largest tables have up to 16, count once, with the best accuracy.
    """
    require_choice("table", table, HPOB_TABLES)
    rows = hpo_arrays("hpob")[table.replace("-", "_")].astype(np.float64)
    rows = rows[np.lexsort((-rows[:, -1], *rows[:, :-1].T))]  # equal ones together, the best first
    unit, first = np.unique(rows[:, :-1], axis=0, return_index=True)
    return AccuracyTable(fixed(unit), fixed(rows[first, -1]))
