"""Arrays with one row of B numbers a round, stored without an object a round."""

from __future__ import annotations

from typing import Any

import numpy as np

FIRST_CAPACITY = 64  # rounds; doubled whenever they are full


class ByRound:
    """Growing array of B numbers a round.

    Args:
        num_trials: B.
        dtype: of the numbers.
    """

    def __init__(self, num_trials: int, dtype: Any = np.int64):
        self._rows, self._used = np.empty((FIRST_CAPACITY, num_trials), dtype), 0

    def __len__(self) -> int:
        return self._used

    @property
    def rows(self) -> np.ndarray:
        """All rows, (T, B); they may be written to."""
        return self._rows[: self._used]

    def append(self, row: np.ndarray) -> None:
        """Append the row of a round, (B,)."""
        if self._used == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[self._used] = row
        self._used += 1

    def replace(self, rows: np.ndarray) -> None:
        """Replace the rows of all rounds so far, (T, B)."""
        self._rows, self._used = np.concatenate([rows, self._rows[:1]]), len(rows)
