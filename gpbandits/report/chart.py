"""Line charts as SVG that needs nothing else, and their axes.

Each path has a class `band` or `line`, the classes `style_of(n)` for colour and dashes of agent n, and the
attribute data-agent. To read values off a chart, data-x holds the points and data-values the values of a line
with their intervals, as text.
"""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np
from matplotlib.ticker import LogLocator, MaxNLocator

from bandit_envs.basics.types import Floats
from gpbandits.evaluation.formats import number
from gpbandits.evaluation.marks import DASHES, PALETTE
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


class Line(NamedTuple):
    """A line is the curve of an agent with its band."""

    agent: int  # its number, for colour and dashes
    label: str
    x: Floats  # (n,)
    y: Floats  # (n,)
    low: Floats  # (n,), NaN where there is no interval
    high: Floats  # (n,)


def line_chart(lines: Sequence[Line], scale: Scale, title: str, x_label: str, y_label: str) -> str:
    """Return an <svg> element of curves over the same points; its description has the final values."""
    logarithmic = scale == "log-log"
    x = np.concatenate([line.x for line in lines])
    across = Axis(float(x.min()), max(float(x.max()), float(x.min()) + 1), LEFT, WIDTH - RIGHT, logarithmic)
    # A band may reach zero, which is minus infinity on a logarithmic axis: there the curves set the range.
    shown = [line.y if logarithmic else np.concatenate([line.y, line.low, line.high]) for line in lines]
    up = padded(np.concatenate(shown), logarithmic, HEIGHT - BOTTOM, TOP)
    ends = "; ".join(f"{line.label} {number(float(line.y[-1]))}" for line in lines)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" xmlns="http://www.w3.org/2000/svg" '
        f'data-x="{" ".join(f"{x:.10g}" for x in lines[0].x)}" data-name="{escape(x_label)}">',
        f"<title>{escape(title)}</title><desc>{escape(f'{y_label} at the end: {ends}')}</desc>",
        *_frame(across, up, x_label, y_label),
        *(_band(line, across, up) for line in lines if np.isfinite(line.low).all()),
        *(_curve(line, across, up) for line in lines),
        "</svg>",
    ]
    return "".join(parts)


def style_of(agent: int) -> str:
    """Return the classes of an agent's colour and dashes in the style sheet, from a0 and d0 on."""
    return f"a{agent % len(PALETTE)} d{agent % len(DASHES)}"


def _frame(across: Axis, up: Axis, x_label: str, y_label: str) -> list[str]:
    lines = [f"M{at:.1f} {up.start}V{up.end}" for at, _ in across.ticks()]
    lines += [f"M{across.start} {at:.1f}H{across.end}" for at, _ in up.ticks()]
    below = [f'<text x="{at:.1f}" y="{up.start + 14}" class="x">{text}</text>' for at, text in across.ticks()]
    beside = [
        f'<text x="{across.start - 5}" y="{at + 3.5:.1f}" class="y">{text}</text>' for at, text in up.ticks()
    ]
    middle, height = (across.start + across.end) / 2, (up.start + up.end) / 2
    return [
        f'<path class="grid" d="{"".join(lines)}"/>',
        *below,
        *beside,
        f'<text x="{middle}" y="{HEIGHT - 8}" class="x">{escape(x_label)}</text>',
        f'<text transform="translate(11 {height}) rotate(-90)" class="x">{escape(y_label)}</text>',
    ]


def _band(line: Line, across: Axis, up: Axis) -> str:
    there = _points(line.x, line.high, across, up)
    back = _points(line.x[::-1], line.low[::-1], across, up)
    return f'<path class="band {style_of(line.agent)}" data-agent="{line.agent}" d="M{there}L{back}Z"/>'


def _curve(line: Line, across: Axis, up: Axis) -> str:
    points = _points(line.x, line.y, across, up)
    return (
        f'<path class="line {style_of(line.agent)}" data-agent="{line.agent}" d="M{points}" '
        f'data-values="{_values(line)}"><title>{escape(line.label)}</title></path>'
    )


def _values(line: Line) -> str:
    parts = [line.y, line.low, line.high] if np.isfinite(line.low).all() else [line.y]
    return ",".join(" ".join(number(float(part)) for part in point) for point in zip(*parts, strict=True))


def _points(x: Floats, y: Floats, across: Axis, up: Axis) -> str:
    return " ".join(f"{h:.1f},{v:.1f}" for h, v in zip(across.place(x), up.place(y), strict=True))
