"""Bounds that nobody knows, which tables are to tell from those that somebody does."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ..validation import PerTrial


class DefaultBound(float):
    """A bound that was neither given nor published."""


def multiple(bound: PerTrial, factor: float) -> PerTrial:
    """A bound times a factor, of which as much is known."""
    product = np.multiply(factor, bound)
    return DefaultBound(product) if isinstance(bound, DefaultBound) else product


def rests_on_default(part: Any) -> bool:
    """Whether a part such as a rule or a width, or one that it was given, has a bound that nobody knows."""
    if isinstance(part, DefaultBound):
        return True
    if not is_dataclass(part) or isinstance(part, type):
        return False
    return any(rests_on_default(getattr(part, field.name)) for field in fields(part))
