"""Kinds of parameters, and how a value of each becomes features of a kernel.

Kernels see what will be used: the rounded integer, one coordinate a category (Garrido-Merchan &
Hernandez-Lobato 2020). So a function of the parameters has no steps inside what a kernel takes for two
points.
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
        """All values in order, None where there is a continuum of them."""
        ...

    def features(self, value: Any) -> Floats:
        """Features of a value in [0, 1], (width,)."""
        ...

    def value(self, features: Floats) -> Any:
        """The value whose features are nearest, (width,)."""
        ...

    def snap(self, features: Floats) -> Floats:
        """Features of the values nearest to some in [0, 1], (n, width)."""
        ...

    def at(self, quantile: float) -> Any:
        """The value at a quantile in [0, 1] of its uniform law."""
        ...

    def check(self, name: str, value: Any) -> Any:
        """Return a value that the parameter can take as a plain one of Python's, or raise a ValueError."""
        ...


KINDS: dict[str, Any] = {kind.__name__: kind for kind in (Linear, Log, Integer, Categorical)}
