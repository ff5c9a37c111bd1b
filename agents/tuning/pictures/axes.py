"""A parameter as an axis of a figure: its positions, its scale and its labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from bandit_envs.basics.types import Floats

from ..categorical import Categorical
from ..numeric import Integer, Log
from ..parameters import Parameter


class ParameterAxis:
    """Axis of a parameter.

    Args:
        name: of the parameter.
        kind: of the parameter.
    """

    def __init__(self, name: str, kind: Parameter):
        self.name, self.kind = name, kind

    @property
    def named(self) -> bool:
        """True if values are categories."""
        return isinstance(self.kind, Categorical)

    def values(self, number: int) -> list[Any]:
        """Return distinct values over the range, at most `number`."""
        levels = self.kind.levels
        if levels is not None and len(levels) <= number:
            return list(levels)
        return list(dict.fromkeys(self.kind.at(u) for u in np.linspace(0.0, 1.0, number).tolist()))

    def places(self, values: list[Any]) -> Floats:
        """Return positions of values on the axis, (n,)."""
        kind = self.kind
        if isinstance(kind, Categorical):
            return np.array([kind.choices.index(each) for each in values], dtype=float)
        return np.array(values, dtype=float)

    def label(self, axes: Axes, way: str) -> None:
        """Set name and scale of the x or the y axis."""
        axis, set_scale = getattr(axes, f"{way}axis"), getattr(axes, f"set_{way}scale")
        axis.set_label_text(self.name)
        kind = self.kind
        if isinstance(kind, Categorical):
            axis.set_ticks(range(len(kind.choices)), [str(each) for each in kind.choices])
            axis.set_view_interval(-0.5, len(kind.choices) - 0.5)
        elif isinstance(kind, Log) or (isinstance(kind, Integer) and kind.log):
            set_scale("log")
        elif isinstance(kind, Integer):
            axis.set_major_locator(MaxNLocator(integer=True))
