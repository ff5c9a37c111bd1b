"""An axis maps the values of a chart to pixels and places the ticks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.ticker import LogLocator, MaxNLocator

from bandit_envs.basics.types import Floats

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Axis(NamedTuple):
    """An axis maps a range of values, or of their logarithms, linearly to a range of pixels."""

    low: float
    high: float
    start: float  # pixel of low
    end: float  # pixel of high
    logarithmic: bool

    def place(self, values: Floats | float) -> Floats:
        """Return the pixels of values, (n,); values outside the range, such as log 0, are put at its ends."""
        inside = np.clip(np.nan_to_num(values, nan=self.low), self.low, self.high)
        low, high, at = (self._scaled(part) for part in (self.low, self.high, inside))
        return self.start + (at - low) / (high - low) * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[tuple[float, str]]:
        """Return the pixels and texts of about `count` round values."""
        if self.logarithmic:
            subs = (1.0,) if self.high > 20 * self.low else (1.0, 2.0, 5.0)
            values = LogLocator(subs=subs, numticks=count + 2).tick_values(self.low, self.high)
        else:
            values = MaxNLocator(count, steps=[1, 2, 2.5, 5, 10]).tick_values(self.low, self.high)
        slack = 1e-9 * (self.high - self.low)
        inside = [value for value in values if self.low - slack <= value <= self.high + slack]
        return [(float(self.place(value)), self._text(value)) for value in inside]

    def _scaled(self, values: Floats | float) -> Floats:
        return np.log(values) if self.logarithmic else np.asarray(values, dtype=np.float64)

    def _text(self, value: float) -> str:
        exponent = np.log10(abs(value)) if value else 0.0
        if -4 < exponent < 5:
            return f"{value:.10g}".replace("-", "−")  # noqa: RUF001 (as in print)
        power, factor = int(np.floor(exponent + 1e-9)), value / 10 ** np.floor(exponent + 1e-9)
        times = "" if abs(factor - 1) < 1e-6 else f"{factor:.3g}·"
        return f"{times}10{str(power).translate(_SUPERSCRIPTS)}"


def padded(values: Floats, logarithmic: bool, start: float, end: float) -> Axis:
    """Return an axis that contains 0 and all values or, if it is logarithmic, the positive ones."""
    finite = values[np.isfinite(values) & ((values > 0) | (not logarithmic))]
    if not finite.size:
        return Axis(0.1, 1.0, start, end, logarithmic) if logarithmic else Axis(0.0, 1.0, start, end, False)
    low, high = float(finite.min()), float(finite.max())
    if logarithmic:
        return Axis(low / 1.5, high * 1.5, start, end, True)
    low, high = min(low, 0.0), max(high, 0.0)
    room = 0.05 * (high - low) or 1.0
    return Axis(low - room if low < 0 else 0.0, high + room, start, end, False)
