"""Lines have distinct colours, and dashes and markers for print without colour."""

from __future__ import annotations

from itertools import cycle, islice
from typing import Any, NamedTuple

# Okabe & Ito (2008) without their yellow, which is too light for a line, and with a grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
# Beyond eight lines: shades of other hues or lightness; dashes and markers help readers who see few hues.
MORE = ("#7A1F5C", "#8C6D1F", "#004D40", "#B2182B", "#5E3C99", "#A6761D", "#66C2A5", "#1B2A6B")
PALETTE = COLOURS + MORE
DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")


class Style(NamedTuple):
    """A style of a line; the first 16 differ in colour, the first 80 in colour or dashes."""

    colour: str
    dashes: Any
    marker: str


def styles(count: int) -> list[Style]:
    """Return so many styles; those of fewer lines are the first of them."""
    return [Style(*each) for each in islice(zip(cycle(PALETTE), cycle(DASHES), cycle(MARKERS)), count)]
