"""Kinds of parameters, and their features for a kernel.

Kernels use the values that will be run: the rounded integer, one coordinate a category (Garrido-Merchan &
Hernandez-Lobato 2020). So points that a kernel distinguishes never give the same experiment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from bandit_envs.basics.types import Floats

from .categorical import Categorical
from .numeric import Integer, Linear, Log

__all__ = ["KINDS", "Categorical", "Integer", "Linear", "Log", "Parameter"]


class Parameter(Protocol):
    """One quantity to be chosen."""

    @property
    def width(self) -> int:
        """Number of features."""
        ...

    @property
    def levels(self) -> Sequence[Any] | None:
        """All values in order, None for a continuum."""
        ...

    def features(self, value: Any) -> Floats:
        """Return features of a value in [0, 1], (width,)."""
        ...

    def value(self, features: Floats) -> Any:
        """Return the value whose features are nearest, (width,)."""
        ...

    def snap(self, features: Floats) -> Floats:
        """Return features of the values nearest to points of [0, 1]^width, (n, width)."""
        ...

    def at(self, quantile: float) -> Any:
        """Return the value at a quantile in [0, 1] of its uniform law."""
        ...

    def check(self, name: str, value: Any) -> Any:
        """Return a possible value as a plain Python value, or raise a ValueError."""
        ...


KINDS: dict[str, Any] = {kind.__name__: kind for kind in (Linear, Log, Integer, Categorical)}
