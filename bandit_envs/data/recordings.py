"""Load recorded sensors: the measurements of IntelTemperature and CMULight."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.io import loadmat

from bandit_envs.basics.types import Floats
from bandit_envs.data.files import locate


class Recordings(NamedTuple):
    """Hold synchronised measurements of several sensors, earlier times to train and later ones to test."""

    train: Floats  # (times, sensors)
    test: Floats  # (times, sensors)
    coordinates: Floats | None  # (sensors, 2) in the units of the source; None if unknown


def intel_temperature() -> Recordings:
    """Load half-hourly temperatures of 50 sensors in the Intel Berkeley lab, degrees C, 144 + 96 times."""
    return Recordings(
        train=_one_row_a_time("intel_temperature_train.csv"),
        test=_one_row_a_time("intel_temperature_test.csv"),
        coordinates=None,
    )


def cmu_light() -> Recordings:
    """Load light of 41 sensors in the CMU Intelligent Workplace, raw sensor units, 601 + 192 times."""
    data = loadmat(locate("cmu_light_iw_data_all.mat"), simplify_cells=True)["data"]
    return Recordings(
        # The file has unsigned 16-bit integers, whose differences would wrap around.
        train=np.asarray(data["train"]["sensordata"], dtype=np.float64),
        test=np.asarray(data["test"]["sensordata"], dtype=np.float64),
        coordinates=np.asarray(data["coords"], dtype=np.float64),
    )


def _one_row_a_time(file: str) -> Floats:
    # The Intel files have one row a sensor.
    return np.ascontiguousarray(np.loadtxt(locate(file), delimiter=",", dtype=np.float64).T)
