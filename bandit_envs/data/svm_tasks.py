"""Load tables of support vector machines on 50 tasks (Wistuba et al. 2016)."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.data.files import locate, sources

FOLDER = "tst_svm/"


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
    names = sorted(
        (file.removeprefix(FOLDER) for file in sources() if file.startswith(FOLDER)), key=str.encode
    )
    tables = np.array([np.loadtxt(locate(FOLDER + name), dtype=np.float64) for name in names])
    tables.setflags(write=False)
    return SVMTasks(tuple(names), tables[:, 0, 7:], tables[0, :, 1:7], tables[:, :, 0])
