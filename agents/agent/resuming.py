"""Agents that resume from a file without repeating every call of `act`."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

State = list[int]  # of one generator


class Resumable(abc.ABC):
    """The state is a function of the history; `notes` holds the generator states that `act` consumed.

    Between `recall` and `resume` the history is replayed, with `skip` in place of calls of `act` that change
    nothing but generators. The restored state equals, bit for bit, that of a full replay.
    """

    @property
    def leaves_traces(self) -> bool:
        """Return True if `act` changes more of the agent than its generators, such as caches."""
        return True

    @property
    @abc.abstractmethod
    def generators(self) -> Mapping[str, Sequence[np.random.Generator]]:
        """Return the generators that `act` draws from, without that of ties, by role."""

    def notes(self) -> dict[str, Any] | None:
        """Return, as data, the state that the history does not determine; None if `act` must be replayed."""
        return {role: list(map(state_of, rngs)) for role, rngs in self.generators.items()}

    def recall(self, notes: Mapping[str, Any]) -> None:  # noqa: B027 (most agents need no preparation)
        """Prepare, after a reset, for the replay of the history up to these notes."""

    @abc.abstractmethod
    def skip(self) -> None:
        """Stand in for a call of `act`: make the one draw that it always makes, for ties."""

    def resume(self, notes: Mapping[str, Any]) -> None:
        """Set the generators to the noted states, once the history has been replayed."""
        for role, rngs in self.generators.items():
            for rng, state in zip(rngs, notes[role], strict=True):
                set_state(rng, state)


def state_of(rng: np.random.Generator) -> State:
    """Return the state of one of numpy's default generators."""
    known = rng.bit_generator.state
    return [known["state"]["state"], known["state"]["inc"], known["has_uint32"], known["uinteger"]]


def set_state(rng: np.random.Generator, state: State) -> None:
    """Set a generator to a state that `state_of` returned."""
    inner, inc, has_uint32, uinteger = state
    rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": inner, "inc": inc},
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
