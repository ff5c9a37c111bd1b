"""What an agent has declared of its constraints: that nothing can keep them, and since when."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.types import Bools, Ints

NEVER = -1


class Declared:
    """Of B trials.

    Args:
        num_trials: B.
    """

    def __init__(self, num_trials: int):
        self._last: Bools | None = None
        self._first = np.full(num_trials, NEVER)

    def note(self, round_: int, infeasible: Bools | None) -> None:
        """Keep what was found in a round, (B,); None where it cannot be told."""
        self._last = None if infeasible is None else infeasible.copy()
        if self._last is not None:
            self._first[self._last & (self._first == NEVER)] = round_

    def last(self, num_trials: int | None) -> Bools | bool | None:
        """What was found last, (B,), or of one trial without an axis."""
        if self._last is None:
            return None
        return self._last.copy() if num_trials else bool(self._last[0])

    def first(self, num_trials: int | None) -> Ints | int | None:
        """The first round that found so, (B,), or of one trial without an axis; -1 if none did."""
        if self._last is None:
            return None
        return self._first.copy() if num_trials else int(self._first[0])
