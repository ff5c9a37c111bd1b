"""Results cut to the rounds that a page reads of them, small enough to be kept beside it.

So the page can be made again from what it rests on, and a test can hold one to the other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from gpbandits.evaluation.result import Result
from gpbandits.reproductions.base import Compute, Part, Results


class Condensed:
    """Reads what `condensing` has written.

    Args:
        folder: of the figures' folders.
    """

    def __init__(self, folder: Path):
        self.folder = folder

    def __call__(self, part: Part, folder: Path) -> Results:
        """The results of a part, wherever its cells are."""
        paths = [(each, self.path(part, each.file_name)) for each in part.shown.environments]
        return [(each, Result.load(path)) for each, path in paths if path.exists()]

    def path(self, part: Part, environment: str) -> Path:
        """Of the file of an environment."""
        return self.folder / part.figure / f"{environment}.parquet"


def condensing(compute: Compute, kept: Condensed) -> Compute:
    """Compute likewise, and keep what a page needs of it."""

    def compute_and_keep(part: Part, folder: Path) -> Results:
        results = compute(part, folder)
        for entry, result in results:
            path = kept.path(part, entry.file_name)
            path.parent.mkdir(parents=True, exist_ok=True)
            condensed(result, part.rounds).save(path, timings=False)
        return results

    return compute_and_keep


def condensed(result: Result, rounds: Iterable[int]) -> Result:
    """The last of its recorded rounds up to each of some rounds, and the last of all."""
    ends = [result.column_of(each) for each in (*rounds, None)]
    columns = np.unique(np.array(ends) % len(result.rounds))
    records = {label: record.at(columns + 1) for label, record in result.records.items()}
    return dataclasses.replace(result, records=records, checkpoints=result.rounds[columns])
