"""Results are cut to the rounds that a page uses, small enough to be stored beside it.

The page can thus be made again from its results, and a test compares the two.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from gpbandits.evaluation.result import Result
from gpbandits.reproductions.base import Compute, Part, Results


class Condensed:
    """A reader of the results that `condensing` has written.

    Args:
        folder: folder with one folder a figure.
    """

    def __init__(self, folder: Path):
        self.folder = folder

    def __call__(self, part: Part, folder: Path) -> Results:
        """Return the stored results of a part; the folder of cells is not used."""
        paths = [(each, self.path(part, each.file_name)) for each in part.shown.environments]
        return [(each, Result.load(path)) for each, path in paths if path.exists()]

    def path(self, part: Part, environment: str) -> Path:
        """Return the path of the file of an environment."""
        return self.folder / part.figure / f"{environment}.parquet"


def condensing(compute: Compute, kept: Condensed) -> Compute:
    """Return a function that computes a part and stores the results that a page needs."""

    def compute_and_keep(part: Part, folder: Path) -> Results:
        results = compute(part, folder)
        for entry, result in results:
            path = kept.path(part, entry.file_name)
            path.parent.mkdir(parents=True, exist_ok=True)
            condensed(result, part.rounds).save(path, timings=False)
        return results

    return compute_and_keep


def condensed(result: Result, rounds: Iterable[int]) -> Result:
    """Cut a result to the last recorded round up to each of `rounds`, and the last of all."""
    ends = [result.column_of(each) for each in (*rounds, None)]
    columns = np.unique(np.array(ends) % len(result.rounds))
    records = {label: record.at(columns + 1) for label, record in result.records.items()}
    return dataclasses.replace(result, records=records, checkpoints=result.rounds[columns])
