"""Read CSV files in UTF-8 row by row; what is damaged is refused by line or by row."""

import csv
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from bandit_envs.basics.arguments import ArgumentError, require


def row_error(row: int, complaint: str) -> ArgumentError:
    """Return the error of one row, from 0; the message counts from 1, as in a table below its header."""
    return ArgumentError(f"row {row + 1}", complaint)


def csv_names(path: str | os.PathLike[str], argument: str) -> list[str]:
    """Return the names in the header without blanks around them; they must differ.

    `argument` is the name under which the caller was given the path.
    """
    with _opened(path, argument) as file:
        names = [name.strip() for name in next(csv.reader(file), [])]
    require(len(set(names)) == len(names) > 0, argument, "a table with different names in its header", names)
    return names


def csv_rows(path: str | os.PathLike[str], argument: str) -> Iterator[list[str]]:
    """Yield the rows below the header; one of another length is refused by its number.

    Empty lines at the end are none, others are refused likewise.
    """
    with _opened(path, argument) as file:
        lines, empty = csv.reader(file), 0
        width = len(next(lines))
        for row, cells in enumerate(lines):
            if not cells:
                empty += 1
                continue
            if empty:
                raise row_error(row - empty, "must have cells, got an empty line")
            if len(cells) != width:
                raise row_error(row, f"must have {width} cells, got {len(cells)}")
            yield cells


@contextmanager
def _opened(path: str | os.PathLike[str], argument: str) -> Iterator[TextIO]:
    """Open a file as text; bytes that are not UTF-8 are refused by file and line."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            yield file
    except UnicodeDecodeError as error:  # it counts bytes from the start of a block, not of the file
        with open(path, "rb") as lines:
            line = next(i for i, each in enumerate(lines, 1) if each.decode(errors="ignore").encode() != each)
        words = f"must be a CSV in UTF-8; line {line} is not, got {os.fspath(path)}"
        raise ArgumentError(argument, words) from error
    except csv.Error as error:  # such as a cell of 131,072 characters, after a quote that is never closed
        words = f"must be a CSV, each quote of which is closed ({error}), got {os.fspath(path)}"
        raise ArgumentError(argument, words) from error
