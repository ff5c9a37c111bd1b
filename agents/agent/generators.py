"""Random generators: a trial's, one a role, with their states; and the global ones, kept as they were."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..named import takes_rngs

# The order names the children: append, never insert.
ROLES = ("ties", "samples", "fits", "search", "rule", "belief", "objective", "restart", "turns")
ROLES += ("first plays", "stopping", "order", "propensities")


class Streams:
    """Spawn the generators of B trials from the trials' seeds."""

    def __init__(self, seeds: Sequence[int]):
        self._seeds = list(map(int, seeds))
        self.made: dict[str, list[np.random.Generator]] = {}  # so far, by role

    def of(self, role: str) -> list[np.random.Generator]:
        """Return the generators of a role, one per trial; later calls return the same objects."""
        if role not in self.made:
            self.made[role] = self._children(ROLES.index(role))
        return self.made[role]

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


class Resumable:
    """The state is a function of the history; `notes` holds the generator states that `act` consumed.

    Within `replaying` the history is replayed, with `skip` in place of calls of `act` that change nothing
    but generators. The restored state equals, bit for bit, that of a full replay.
    """

    streams: Streams
    # Parts of the `GPAgent` that extends this class.
    tie_breaker: Any
    objective: Any
    _restarts: bool  # True if its restart may start trials over
    repeated_arms: Any
    assumptions: Any
    domain: Any

    @property
    def generators(self) -> dict[str, list[np.random.Generator]]:
        """Return the generators that `act` draws from, without that of ties, by role."""
        return {role: rngs for role, rngs in self.streams.made.items() if role != "ties"}

    @property
    def leaves_traces(self) -> bool:
        """Return whether `act` changes more than generators, such as caches; not before a noted fit."""
        return not (self.domain.rereads or self.assumptions.will_change)

    def skip(self) -> None:
        """Stand in for a call of `act`: make the one draw that it always makes, for ties."""
        self.tie_breaker()

    def notes(self) -> dict[str, Any] | None:
        """Return, as data, the state that the history does not determine; None if `act` must be replayed.

        That is so where trials start over, hold arms, or have an objective that changes with questions.
        """
        changes = self._restarts or self.repeated_arms is not None
        if changes or not self.objective.resumes:
            return None
        states = {role: [rng.bit_generator.state for rng in rngs] for role, rngs in self.generators.items()}
        return {**states, **self.assumptions.notes()}

    @contextmanager
    def replaying(self, notes: Mapping[str, Any]) -> Iterator[None]:
        """Replay within, after a reset, the history up to these notes; then set the noted states."""
        with self.assumptions.replaying(notes):
            yield
        for role, rngs in self.generators.items():
            for rng, state in zip(rngs, notes[role], strict=True):
                rng.bit_generator.state = state


@contextmanager
def preserved_generators() -> Iterator[None]:
    """Restore Python's, numpy's and torch's global generators on leaving."""
    python, legacy = random.getstate(), np.random.get_state()  # noqa: NPY002 (the state that agents share)
    torch = sys.modules.get("torch")  # agents that use it have imported it
    state = None if torch is None else torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(legacy)  # noqa: NPY002
        if torch is not None:
            torch.set_rng_state(state)
