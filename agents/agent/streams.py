"""Which generator draws what in a trial: every role has its own, so that none moves another's draws."""

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
    """The generators of B trials, children of the trials' seeds.

    Args:
        seeds: one integer a trial.
    """

    def __init__(self, seeds: Sequence[int]):
        self._seeds = list(map(int, seeds))
        self._made: dict[str, list[np.random.Generator]] = {}

    def of(self, role: str) -> list[np.random.Generator]:
        """The generators of a role, one a trial; the same at every call, so that they go on."""
        if role not in self._made:
            self._made[role] = self._children(ROLES.index(role))
        return self._made[role]

    @property
    def made(self) -> dict[str, list[np.random.Generator]]:
        """The generators that somebody has, by role."""
        return dict(self._made)

    def of_round(self, role: str, t: int) -> list[np.random.Generator]:
        """The generators of a role in round t = 0, 1, ... alone, whatever was drawn before."""
        return self._children(ROLES.index(role), t)

    def _children(self, *key: int) -> list[np.random.Generator]:
        words = (np.random.SeedSequence(word, spawn_key=key) for word in self._seeds)  # as spawn makes them
        return list(map(np.random.default_rng, words))


def build(make: Callable[..., Any], model: Any, streams: Streams, role: str, num_trials: int) -> Any:
    """Return a part from the model and the number of trials, with generators if it asks for `rngs`."""
    if takes_rngs(make):
        return make(model, num_trials, rngs=streams.of(role))
    return make(model, num_trials)
