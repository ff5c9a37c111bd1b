"""Give every role of a trial its own generator, so that draws of one never shift another's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..named import takes_rngs

# The order names the children: append, never insert.
ROLES = (
    "ties",
    "samples",
    "fits",
    "search",
    "rule",
    "belief",
    "objective",
    "restart",
    "turns",
    "first plays",
)


class Streams:
    """Spawn the generators of B trials from the trials' seeds.

    Args:
        seeds: one integer per trial.
    """

    def __init__(self, seeds: Sequence[int]):
        self._seeds = list(map(int, seeds))
        self._made: dict[str, list[np.random.Generator]] = {}

    def of(self, role: str) -> list[np.random.Generator]:
        """Return the generators of a role, one per trial; later calls return the same objects."""
        if role not in self._made:
            self._made[role] = self._children(ROLES.index(role))
        return self._made[role]

    @property
    def made(self) -> dict[str, list[np.random.Generator]]:
        """Return the generators made so far, by role."""
        return dict(self._made)

    def of_round(self, role: str, t: int) -> list[np.random.Generator]:
        """Return generators of a role for round t = 0, 1, ... alone, independent of earlier draws."""
        return self._children(ROLES.index(role), t)

    def _children(self, *key: int) -> list[np.random.Generator]:
        words = (np.random.SeedSequence(word, spawn_key=key) for word in self._seeds)  # as spawn makes them
        return list(map(np.random.default_rng, words))


def build(make: Callable[..., Any], model: Any, streams: Streams, role: str, num_trials: int) -> Any:
    """Build a part from the model and the number of trials, with generators if it has an argument `rngs`."""
    if takes_rngs(make):
        return make(model, num_trials, rngs=streams.of(role))
    return make(model, num_trials)
