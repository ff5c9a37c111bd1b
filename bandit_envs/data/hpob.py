"""Tables of HPO-B: exact accuracies of classifiers at many configurations (Pineda Arango et al. 2021)."""

import io
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import require_choice
from bandit_envs.basics.immutable import fixed
from bandit_envs.basics.types import Floats
from bandit_envs.data.files import member
from bandit_envs.data.runs import HPOB, Origin

PACKAGE = "bocode"  # its wheel holds the tables; `packages.toml` has its digest and licence
ORIGIN = Origin(authors="Pineda Arango et al. (2021), HPO-B", licence="MIT", doi="10.48550/arXiv.2106.06257")
_FILE = "bocode/opt_problems/hpo/data/hpob_data.npz"
# Names of tables, such as "4796-23", of a search space and a data set of OpenML.
TABLES = tuple(f"{space}-{data_set}" for space, held in HPOB.items() for data_set in held)


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
    require_choice("table", table, TABLES)
    rows = arrays()[table.replace("-", "_")].astype(np.float64)
    rows = rows[np.lexsort((-rows[:, -1], *rows[:, :-1].T))]  # equal ones together, the best first
    unit, first = np.unique(rows[:, :-1], axis=0, return_index=True)
    return AccuracyTable(fixed(unit), fixed(rows[first, -1]))


@cache
def arrays() -> Any:
    """Return the arrays of all tables by name, each of which is read when it is asked for."""
    return np.load(io.BytesIO(member(PACKAGE, _FILE)), allow_pickle=False)
