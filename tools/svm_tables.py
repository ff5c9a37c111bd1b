r"""Compute the tables behind GPBandit-SVMTuning-v0 and GPBandit-GrowingDataSVM-v0.

    python tools/svm_tables.py                                  # those that ship; seven minutes
    python tools/svm_tables.py growing-diabetes uniform 11 251  # another grid, into the user's cache

A row is a data set: its number of validation patients, then how many of them the machine at each point of
the grid gets right. See `bandit_envs.data.training` for what is trained.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from bandit_envs.data.files import cache_folder
from bandit_envs.data.training import DATA_SETS, SHAPES, ResultGrid, count_correct, svm_table_name

TABLES = Path(__file__).parents[1] / "bandit_envs" / "data" / "tables"


def compute(data: str, grid: ResultGrid, folder: Path) -> None:
    """Train at every point of a grid and write the table."""
    counts = count_correct(DATA_SETS[data](), grid.points)
    folder.mkdir(parents=True, exist_ok=True)
    np.savetxt(folder / svm_table_name(data, grid), counts, fmt="%d", delimiter=",")


def main(arguments: list[str]) -> None:
    """Compute one table into the cache, or all that ship."""
    if arguments:
        data, spacing, first, second = arguments
        compute(data, ResultGrid(spacing, (int(first), int(second))), cache_folder() / "tables")
        return
    for data, shapes in SHAPES.items():
        for grid in map(ResultGrid._make, shapes.items()):
            compute(data, grid, TABLES)


if __name__ == "__main__":
    main(sys.argv[1:])
