"""Signs behind an agent's label, and the styles of lines."""

import textwrap
from collections.abc import Collection, Iterable
from itertools import cycle, islice
from typing import Any, NamedTuple

WIDTH = 29  # characters of a legend
# Okabe & Ito (2008) without their yellow, which is too light for a line, and with a grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
GREY = "#A6A6A6"  # of curves beside highlighted ones
# Beyond eight lines: shades of other hues or lightness; dashes and markers help readers who see few hues.
MORE = ("#7A1F5C", "#8C6D1F", "#004D40", "#B2182B", "#5E3C99", "#A6761D", "#66C2A5", "#1B2A6B")
PALETTE = COLOURS + MORE
DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")


class Mark(NamedTuple):
    """A mark is a sign, the attribute of a result that lists its agents, and a footnote."""

    sign: str
    which: str
    note: str

    def of(self, result: Any) -> Collection[str]:
        """Return the labels with this mark."""
        return getattr(result, self.which)

    @property
    def footnote(self) -> str:
        """Return the footnote of a table."""
        return f"{self.sign} {self.note}."

    @property
    def legend(self) -> str:
        """Return the footnote in lines of a legend."""
        return textwrap.fill(f"{self.sign} {self.note}", WIDTH, subsequent_indent="   ")


MARKS = (
    Mark("†", "privileged", "privileged: sees the truth, as no learner does"),
    Mark("‡", "pretrained", "pretrained: learnt on other functions beforehand"),
    Mark("≈", "approximate", "approximate: the posterior is not exact"),
    Mark("§", "assuming", "default bound: none was given or published"),
    Mark("¶", "unfit", "unfit: does not handle a feature of the environment"),
)


def drawn_from(result: Any) -> str:
    """Return what a table names of its draws: the seed, and the entropy that an isolated run has beside."""
    entropy = "" if result.entropy is None else f", isolated, entropy {result.entropy}"
    return f"seed {result.seed}{entropy}"


def signs(label: str, *results: Any) -> str:
    """Return the signs of the marks that an agent has in any of some results."""
    return "".join(mark.sign for mark in MARKS if any(label in mark.of(each) for each in results))


def marks_in(results: Iterable[Any]) -> list[Mark]:
    """Return the marks of all agents of some results."""
    results = list(results)
    return [mark for mark in MARKS if any(map(mark.of, results))]


def footnotes(*results: Any) -> list[str]:
    """Return the footnotes of a table of these results."""
    return [mark.footnote for mark in marks_in(results)]


class LineStyle(NamedTuple):
    """A style of a line; the first 16 differ in colour, the first 80 in colour or dashes."""

    colour: str
    dashes: Any
    marker: str


def styles(count: int) -> list[LineStyle]:
    """Return so many styles; those of fewer lines are the first of them."""
    return [LineStyle(*each) for each in islice(zip(cycle(PALETTE), cycle(DASHES), cycle(MARKERS)), count)]
