"""A parameter that is one of several choices."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.basics.types import Floats

from .numeric import plain

APART = math.sqrt(0.5)  # of one-hot coordinates: two categories have distance 1


@dataclass(frozen=True)
class Categorical:
    """Parameter with several choices without an order; kernels have one coordinate a choice.

    Args:
        choices: different texts, numbers, booleans or None; at least two.
    """

    choices: Sequence[Any]

    def __post_init__(self) -> None:
        listed = isinstance(self.choices, Sequence) and not isinstance(self.choices, str)
        require(listed and len(self.choices) >= 2, "choices", "a list of at least two", self.choices)
        for choice in self.choices:
            known = is_number(choice) or isinstance(choice, str | bool | None)
            require(known, "a choice", "text, a finite number, a boolean or None", choice)
        choices = tuple(map(plain, self.choices))
        different = len(set(choices)) == len(choices)
        require(different, "choices", "different from each other (1, 1.0 and True are equal)", self.choices)
        object.__setattr__(self, "choices", choices)

    @property
    def width(self) -> int:
        """Number of choices."""
        return len(self.choices)

    @property
    def levels(self) -> Sequence[Any]:
        """The choices."""
        return self.choices

    def features(self, value: Any) -> Floats:
        """Return sqrt(1/2) at the choice's coordinate, 0 elsewhere."""
        features = np.zeros(self.width)
        features[self.choices.index(value)] = APART
        return features

    def value(self, features: Floats) -> Any:
        """Return the choice of the largest coordinate."""
        return self.choices[int(np.argmax(features))]

    def snap(self, features: Floats) -> Floats:
        """Return features of the choices of the largest coordinates, (n, width)."""
        return APART * np.eye(self.width)[features.argmax(axis=1)]

    def at(self, quantile: float) -> Any:
        """Return the choice at a quantile in [0, 1] of the uniform law."""
        return self.choices[min(int(quantile * self.width), self.width - 1)]

    def check(self, name: str, value: Any) -> Any:
        """Return one of the choices, or raise."""
        choice = plain(value)
        known = isinstance(choice, Hashable) and choice in self.choices
        require(known, name, f"one of {', '.join(map(repr, self.choices))}", value)
        return self.choices[self.choices.index(choice)]
