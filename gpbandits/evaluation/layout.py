"""Cells of text are laid out in lines of at most so many characters.

What does not fit is changed in this order: headings break between words, intervals stand below their
estimates, columns that can be spared are left out, and what remains continues in a further block below.
"""

import sys
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import NamedTuple

GAP = 2  # characters between columns
RULE = "─"


class Grid(NamedTuple):
    """A grid holds headings, and rows of cells in pieces that never break: an estimate, its interval."""

    header: Sequence[str]
    rows: Sequence[Sequence[Sequence[str]]]
    spared: Sequence[int] = ()  # columns that are left out where they do not fit, the first first


class PrintedCell(NamedTuple):
    """A cell of a printed line."""

    row: int  # -1 of headings and rules
    column: int
    text: str  # padded


class Layout(NamedTuple):
    """A layout holds the printed lines, cells beside each other with a gap, and the columns left out."""

    lines: list[list[PrintedCell]]
    left_out: list[int]


def laid_out(grid: Grid, width: int | None) -> Layout:
    """Lay out a grid within a width, or without one in one line a row."""
    columns = [*range(len(grid.header))]
    most = width or sys.maxsize  # a terminal of unknown width has 0
    for stacked, broken in ((False, False), (False, True)):
        made = [_lines(grid, i, stacked, broken) for i in columns]
        if _need(made) <= most:
            return Layout(_framed([_block(made, columns)]), [])
    made = [_labels(grid, most // 2), *(_lines(grid, i, True, True) for i in columns[1:])]
    shown, left_out = columns, []
    for i in grid.spared:
        if _need([made[j] for j in shown]) > most:
            shown, left_out = [j for j in shown if j != i], [*left_out, i]
    blocks = [_block([made[j] for j in part], part) for part in _split(shown, made, most)]
    return Layout(_framed(blocks), left_out)


Column = list[list[str]]  # the lines of the heading and of each row


def _framed(blocks: Sequence[list[list[PrintedCell]]]) -> list[list[PrintedCell]]:
    """Return the lines of all blocks with a rule above and below their headings, and at the end."""
    lines: list[list[PrintedCell]] = []
    last: list[PrintedCell] = []
    for block in blocks:
        length = sum(len(cell.text) for cell in block[0]) + GAP * (len(block[0]) - 1)
        last = [PrintedCell(-1, 0, RULE * length)]
        head, body = ([line for line in block if (line[0].row < 0) == first] for first in (True, False))
        lines += [last, *head, last, *body]
    return [*lines, last]


def _lines(grid: Grid, i: int, stacked: bool, broken: bool) -> Column:
    cells = [list(row[i]) if stacked else [" ".join(row[i])] for row in grid.rows]
    heading = [grid.header[i]]
    if broken:
        longest = max(map(len, (*grid.header[i].split(), *(line for cell in cells for line in cell), "")))
        heading = wrap(grid.header[i], max(longest, 1), break_long_words=False, break_on_hyphens=False)
    return [heading or [""], *cells]


def _labels(grid: Grid, most: int) -> Column:
    """Return the first column, whose labels break only where they would take more than `most`."""
    texts = (grid.header[0], *(" ".join(row[0]) for row in grid.rows))
    return [wrap(text, max(most, 1)) or [""] for text in texts]


def _size(column: Column) -> int:
    return max(len(line) for cell in column for line in cell)


def _need(columns: Sequence[Column]) -> int:
    return sum(map(_size, columns)) + GAP * (len(columns) - 1)


def _split(shown: Sequence[int], made: Sequence[Column], width: int) -> Iterator[list[int]]:
    """Yield the columns of each block: the labels, and as many more as fit, one at least."""
    labels, *others = shown
    part = [labels]
    for i in others:
        if len(part) > 1 and _need([made[j] for j in (*part, i)]) > width:
            yield part
            part = [labels]
        part.append(i)
    yield part


def _block(made: Sequence[Column], columns: Sequence[int]) -> list[list[PrintedCell]]:
    sizes = [*map(_size, made)]
    lines = []
    for row in range(len(made[0])):
        for k in range(max(len(column[row]) for column in made)):
            texts = [column[row][k] if k < len(column[row]) else "" for column in made]
            padded = [text.rjust(size) for text, size in zip(texts, sizes, strict=True)]
            padded[0] = texts[0].ljust(sizes[0])
            lines.append([PrintedCell(row - 1, i, text) for i, text in zip(columns, padded, strict=True)])
    return lines
