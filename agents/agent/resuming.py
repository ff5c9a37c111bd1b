"""Agents that go on from a file without being asked again all that they were asked."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

State = list[int]  # of a generator


class Resumable(abc.ABC):
    """Told again what it was told, it is what it was, but for what its questions drew: that is noted.

    Between `recall` and `resume` it is told its history again, with `skip` in the place of questions that
    leave no trace. What it then is, is the same bit for bit as if it had been asked.
    """

    @property
    def leaves_traces(self) -> bool:
        """Whether a question changes more of the agent than its generators, as caches over the arms do."""
        return True

    @property
    @abc.abstractmethod
    def generators(self) -> Mapping[str, Sequence[np.random.Generator]]:
        """What questions draw from, beside the ties, by role."""

    def notes(self) -> dict[str, Any] | None:
        """What does not follow from what it was told, as data; None if it has to be asked again."""
        return {role: list(map(state_of, rngs)) for role, rngs in self.generators.items()}

    def recall(self, notes: Mapping[str, Any]) -> None:  # noqa: B027 (most need not know)
        """It has been reset, and will be told again what it was told up to these notes."""

    @abc.abstractmethod
    def skip(self) -> None:
        """A question was asked here: draw what is drawn whatever it finds, which is one among ties."""

    def resume(self, notes: Mapping[str, Any]) -> None:
        """It has been told everything again, and draws as it would have gone on."""
        for role, rngs in self.generators.items():
            for rng, state in zip(rngs, notes[role], strict=True):
                set_state(rng, state)


def state_of(rng: np.random.Generator) -> State:
    """The state of one of numpy's default generators."""
    known = rng.bit_generator.state
    return [known["state"]["state"], known["state"]["inc"], known["has_uint32"], known["uinteger"]]


def set_state(rng: np.random.Generator, state: State) -> None:
    """The inverse of `state_of`."""
    inner, inc, has_uint32, uinteger = state
    rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": inner, "inc": inc},
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
