"""Line charts as SVG that needs nothing else, their axes, and the templates of pages.

Each path has a class `band` or `line`, the classes `style_of(n)` for colour and dashes of agent n, and the
attribute data-agent. To read values off a chart, data-x holds the points and data-values the values of a line
with their intervals, as text.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.ticker import LogLocator, MaxNLocator

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.formats import DASHES, PALETTE, number
from gpbandits.evaluation.result import Scale

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
WIDTH, HEIGHT = 480, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 10, 40  # margins


class Axis(NamedTuple):
    """An axis maps a range of values, or of their logarithms, linearly to a range of pixels."""

    low: float
    high: float
    start: float  # pixel of low
    end: float  # pixel of high
    logarithmic: bool

    def place(self, values: Floats | float) -> Floats:
        """Return the pixels of values, (n,); values outside the range, such as log 0, are put at its ends."""
        parts: list[Any] = [self.low, self.high, np.clip(np.nan_to_num(values, nan=self.low), *self[:2])]
        low, high, at = map(np.log, parts) if self.logarithmic else parts
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


class Line(NamedTuple):
    """A line is the curve of an agent with its band."""

    agent: int  # its number, for colour and dashes
    label: str
    x: Floats  # (n,)
    y: Floats  # (n,)
    low: Floats  # (n,), NaN where there is no interval
    high: Floats  # (n,)

    @property
    def has_band(self) -> bool:
        """Return whether the curve has an interval everywhere."""
        return bool(np.isfinite(self.low).all())

    @property
    def values(self) -> str:
        """Return the values, with their intervals, as text."""
        parts = [self.y, self.low, self.high] if self.has_band else [self.y]
        return ",".join(" ".join(number(float(part)) for part in each) for each in zip(*parts, strict=True))


def line_chart(lines: Sequence[Line], scale: Scale, title: str, x_label: str, y_label: str) -> str:
    """Return an <svg> element of curves over the same points; its description has the final values."""
    logarithmic = scale == "log-log"
    x = np.concatenate([line.x for line in lines])
    across = Axis(float(x.min()), max(float(x.max()), float(x.min()) + 1), LEFT, WIDTH - RIGHT, logarithmic)
    # A band may reach zero, which is minus infinity on a logarithmic axis: there the curves set the range.
    shown = [line.y if logarithmic else np.concatenate([line.y, line.low, line.high]) for line in lines]
    up = padded(np.concatenate(shown), logarithmic, HEIGHT - BOTTOM, TOP)
    ends = "; ".join(f"{line.label} {number(float(line.y[-1]))}" for line in lines)

    def points(x: Floats, y: Floats) -> str:
        return " ".join(f"{h:.1f},{v:.1f}" for h, v in zip(across.place(x), up.place(y), strict=True))

    values: dict[str, Any] = {"size": (WIDTH, HEIGHT), "x": " ".join(f"{x:.10g}" for x in lines[0].x)}
    values |= {"title": title, "x_label": x_label, "y_label": y_label, "ends": ends, "lines": lines}
    values |= {"across": across, "up": up, "points": points, "style_of": style_of}
    return rendered("gpbandits.report", "chart.svg", **values)


def style_of(agent: int) -> str:
    """Return the classes of an agent's colour and dashes in the style sheet, from a0 and d0 on."""
    return f"a{agent % len(PALETTE)} d{agent % len(DASHES)}"


@cache
def _templates(package: str) -> Environment:
    given: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "undefined": StrictUndefined}
    return Environment(loader=PackageLoader(package), autoescape=True, **given)


def rendered(package: str, name: str, **values: Any) -> str:
    """Return a template of a package with these values, which are escaped."""
    return _templates(package).get_template(name).render(**values)
