"""The schedule of uniform plays, by which changes are found at any arm."""

from __future__ import annotations

import numpy as np

from bandit_envs.basics.arguments import is_number
from bandit_envs.basics.types import Bools, Ints

PAPER_XI_SQUARED = 3


class ForcedExploration:
    """Schedule in which a round is uniform iff |uniform|^2 <= xi^2 |history| (Avanesov 2020, Algorithm 2).

    The history is all plays of a trial since its last restart, the uniform ones included. xi^2 is the
    parameter, because sqrt(3)**2 is not 3 and ties are uniform: with 3 the rounds begin U U U U G G U G G U.
    With 0 only the first round is uniform, as in any algorithm.

    Args:
        num_trials: B.
        xi_squared: xi^2, at least 0; about sqrt(xi^2 T) of T rounds are uniform.
    """

    def __init__(self, num_trials: int, xi_squared: float = PAPER_XI_SQUARED):
        if not is_number(xi_squared) or xi_squared < 0:
            raise ValueError(f"xi_squared must be a number >= 0, got {xi_squared!r}; the paper uses 3")
        self.xi_squared = xi_squared
        self.explored = np.zeros(num_trials, dtype=np.int64)  # number of uniform plays
        self.played = np.zeros(num_trials, dtype=np.int64)  # number of plays

    @property
    def due(self) -> Bools:
        """True where the next round is uniform, (B,)."""
        return self.explored**2 <= self.xi_squared * self.played

    def advance(self) -> Bools:
        """Count the round that is being played; return where it is uniform, (B,)."""
        due = self.due
        self.explored += due
        self.played += 1
        return due

    def restart(self, trial: Ints) -> None:
        """Reset the counts of some trials, (n,)."""
        self.explored[trial] = self.played[trial] = 0


def uniform_rounds(rounds: int, xi_squared: float = PAPER_XI_SQUARED) -> int:
    """Return how many of the first T rounds are uniform."""
    schedule = ForcedExploration(1, xi_squared)
    for _ in range(rounds):
        schedule.advance()
    return int(schedule.explored[0])
