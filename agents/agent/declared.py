"""Record in which rounds an agent found the problem infeasible."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Bools, Ints

NEVER = -1


class Declared:
    """Keep the latest finding of infeasibility of B trials, and the first round of each.

    Args:
        num_trials: B.
    """

    def __init__(self, num_trials: int):
        self._last: Bools | None = None
        self._first = np.full(num_trials, NEVER)

    def note(self, round_: int, infeasible: Bools | None) -> None:
        """Record the finding of a round, (B,); None if the agent has no test."""
        self._last = None if infeasible is None else infeasible.copy()
        if self._last is not None:
            self._first[self._last & (self._first == NEVER)] = round_

    def last(self, num_trials: int | None) -> Bools | bool | None:
        """Return the latest finding, (B,), or one value for a single trial (num_trials None)."""
        if self._last is None:
            return None
        return self._last.copy() if num_trials else bool(self._last[0])

    def first(self, num_trials: int | None) -> Ints | int | None:
        """Return the first infeasible round, (B,), or one number for a single trial; -1 if there is none."""
        if self._last is None:
            return None
        return self._first.copy() if num_trials else int(self._first[0])
