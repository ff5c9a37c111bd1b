r"""Compute the tables behind GPBandit-SVMTuning-v0 and GPBandit-GrowingDataSVM-v0.

    python scripts/svm_tables.py                      # those that ship with the package; two minutes
    python scripts/svm_tables.py growing-diabetes 60  # another grid, into the user's cache; ten minutes

A row is a data set: its number of validation patients, then how many of them the machine at each point of
the grid gets right. See `bandit_envs.data.svm_tuning` for what is trained.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from bandit_envs.data.files import cache_folder
from bandit_envs.data.svm_tuning import DATA_SETS, count_correct, svm_grid, svm_table_name

TABLES = Path(__file__).parents[1] / "bandit_envs" / "data" / "tables"
SHIPPED = {"diabetes": 30, "breast-cancer": 30, "growing-diabetes": 20}


def compute(data: str, side: int, folder: Path) -> None:
    """Train at every point of a grid and write the table."""
    counts = count_correct(DATA_SETS[data](), svm_grid(side))
    folder.mkdir(parents=True, exist_ok=True)
    np.savetxt(folder / svm_table_name(data, side), counts, fmt="%d", delimiter=",")


def main(arguments: list[str]) -> None:
    """Compute one table into the cache, or all that ship."""
    if arguments:
        data, side = arguments
        compute(data, int(side), cache_folder() / "tables")
        return
    for data, side in SHIPPED.items():
        compute(data, side, TABLES)


if __name__ == "__main__":
    main(sys.argv[1:])
