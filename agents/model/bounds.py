"""Bounds that are defaults, which tables distinguish from given or published ones."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ..validation import PerTrial


class DefaultBound(float):
    """A bound that was neither given nor published."""


def multiple(bound: PerTrial, factor: float) -> PerTrial:
    """Return a bound times a factor; a default bound stays one."""
    product = np.multiply(factor, bound)
    return DefaultBound(product) if isinstance(bound, DefaultBound) else product


def rests_on_default(part: Any) -> bool:
    """Return True if a part such as a rule or a width, or a part of it, uses a default bound."""
    if isinstance(part, DefaultBound):
        return True
    if not is_dataclass(part) or isinstance(part, type):
        return False
    return any(rests_on_default(getattr(part, field.name)) for field in fields(part))
