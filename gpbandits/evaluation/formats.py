"""Cells as text, tables of texts as Markdown, LaTeX and CSV, signs behind labels, and styles of lines."""

import csv
import io
import re
import textwrap
from collections.abc import Collection, Iterable, Sequence
from html import escape
from itertools import cycle, islice
from typing import Any, Literal, NamedTuple

import numpy as np

from bandit_envs.basics.notebook import printable
from gpbandits.evaluation.statistics import Interval

MISSING = "-"
Cell = str | int | float | Interval | None
Style = Literal["interval", "±"]  # of intervals: their ends in brackets, or half their width
Places = Collection[tuple[int, int]]  # row and column

_ESCAPES = str.maketrans(
    {char: rf"\{char}" for char in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {
        "†": r"$^\dagger$",
        "‡": r"$^\ddagger$",
        "≈": r"$^\approx$",
        "§": r"$^\S$",
        "¶": r"$^\P$",
        "τ": r"$\tau$",
        "µ": r"$\mu$",
        "λ": r"$\lambda$",
        "ε": r"$\varepsilon$",
        "<": "$<$",
        ">": "$>$",
        "|": "$|$",
        "×": r"$\times$",  # noqa: RUF001
        "β": r"$\beta$",
        "±": r"$\pm$",
    }
)


FORMULAE = ("=", "+", "-", "@", "\t", "\r")  # first characters of a spreadsheet's formulae
SAFE = re.compile(rf"{MISSING}|[-+]?\d+(\.\d*)?(e[-+]?\d+)?")  # which are none all the same


def _inline(text: str) -> str:
    """Return text that Markdown shows as it is, without HTML, links and images of its own."""
    return escape(printable(text), quote=False).replace("|", "&#124;").replace("](", "]&#40;")


def markdown(
    header: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str], bold: Places = frozenset()
) -> str:
    """Return a Markdown table with its notes below."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    body = emphasised([[*map(_inline, row)] for row in rows], bold, "**{}**")
    lines = [f"| {' | '.join(row)} |" for row in ([*map(_inline, header)], rule, *body)]
    return "\n".join([*lines, "", " ".join(map(_inline, notes))])


def emphasised(rows: Iterable[Sequence[str]], bold: Places, form: str) -> list[list[str]]:
    """Return cells of text, those in bold in a form such as "**{}**"."""
    return [
        [form.format(cell) if (i, j) in bold else cell for j, cell in enumerate(row)]
        for i, row in enumerate(rows)
    ]


def latex(
    caption: str,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    notes: Sequence[str],
    bold: Places = frozenset(),
    label: str | None = None,
) -> str:
    """Return a LaTeX table with booktabs rules, shrunk to the line width, its notes in small print below."""
    return "\n".join(
        [
            r"% needs \usepackage{booktabs,graphicx}",
            r"\begin{table}",
            r"\centering\footnotesize",
            rf"\caption{{{_escaped(' '.join(caption.split()))}}}",
            *([rf"\label{{{label}}}"] if label else []),
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
            r"\toprule",
            _row(map(_escaped, header)),
            r"\midrule",
            *map(_row, emphasised([[*map(_escaped, row)] for row in rows], bold, r"\textbf{{{}}}")),
            r"\bottomrule",
            r"\end{tabular}}",
            *([r"\par\smallskip\raggedright\scriptsize", _escaped(" ".join(notes))] if notes else []),
            r"\end{table}",
            "",
        ]
    )


def csv_text(rows: Iterable[Iterable[str | float]]) -> str:
    """Return rows as lines of comma-separated values, which no spreadsheet runs as formulae."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(map(inert, row) for row in rows)
    return file.getvalue()


def inert(part: str | float) -> str | float:
    """Quote text that a spreadsheet would run as a formula, since labels of a study are untrusted."""
    risky = isinstance(part, str) and part.startswith(FORMULAE) and not SAFE.fullmatch(part)
    return f"'{part}" if risky else part


def _escaped(cell: str) -> str:
    r"""Escape text for LaTeX; a missing value is a dash, and negative numbers have a minus sign."""
    if cell == MISSING:
        return "--"
    return re.sub(r"(?<!\w)-(?=\d)", "$-$", printable(cell).translate(_ESCAPES))


def _row(cells: Iterable[str]) -> str:
    r"""Return a line of a tabular; {} protects a leading bracket, which \\ would take as its argument."""
    line = " & ".join(cells)
    return f"{'{}' * line.startswith(('[', '*'))}{line} " + r"\\"


def number(value: float, signed: bool = False) -> str:
    """Format with three significant digits, integers in full, powers of ten only below 0.0001."""
    sign = "+" if signed else ""
    if not np.isfinite(value):
        return MISSING if np.isnan(value) else f"{value:{sign}}"
    if 0 < abs(value) < 1e-4:
        return f"{value:{sign}.2e}"
    decimals = 2 - int(np.floor(np.log10(abs(value)))) if value else 0
    return f"{value:{sign}.{max(decimals, 0)}f}"


def pieces(cell: Cell, signed: bool = False, style: Style = "interval") -> list[str]:
    """Return a cell as it is printed: an estimate, and its interval if it has one; a dash for None."""
    if cell is None:
        return [MISSING]
    if not isinstance(cell, Interval):
        return [printable(str(cell)) if isinstance(cell, str | int) else number(float(cell), signed)]
    estimate, low, high = (number(float(part), signed) for part in cell)
    if low == MISSING:
        return [estimate]
    half = (float(cell.high) - float(cell.low)) / 2
    return [estimate, f"[{low}, {high}]" if style == "interval" else f"± {number(half)}"]


def text(cell: Cell, signed: bool = False) -> str:
    """Return a cell as tables print it."""
    return " ".join(pieces(cell, signed))


def parts(cell: Cell, wide: bool) -> list[str | float | None]:
    """Return a cell, None where it is missing; an interval, or a `wide` cell, is three."""
    if isinstance(cell, Interval):
        return [None if np.isnan(part) else float(part) for part in cell]
    missing = isinstance(cell, float) and np.isnan(cell)
    return [None if missing else cell, *([None] * 2 if wide else [])]


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
