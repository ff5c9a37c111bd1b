"""Columns of a file of plays: labels, sets of available actions, numbers, times, and features of contexts."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats
from gpbandits.logs.rows import SEPARATOR, row_error

MOST_TEXTS = 20_000  # different texts of a context's column that are kept; each takes about 150 bytes
FEATURE = "every context feature"


def reader_of(key: str, labelled: bool) -> Any:
    """Return what collects a column of plays; `labelled` is True where labels of the actions are known."""
    if key in ("action", "available"):
        return _LabelReader(labelled) if key == "action" else _SetReader(labelled)
    return _TimeReader() if key in ("time", "delivered") else _NumberReader(key)


class _LabelReader:
    """Collect labels as codes; without known labels a column of integers alone is one of indices."""

    def __init__(self, labelled: bool) -> None:
        self._labelled = labelled
        self._codes, self._known = array("q"), dict[str, int]()

    def take(self, cells: Sequence[Any], row: int) -> None:
        _encode(cells, row, self._known, self._codes, "an action")

    def column(self) -> Any:
        labels = np.array(list(self._known))
        if not self._labelled and all(map(is_index, self._known)):
            labels = labels.astype(np.int64)
        return labels[np.frombuffer(self._codes, dtype=np.int64)]


class _SetReader:
    """Collect available actions, with a separator between them, as codes of different sets."""

    def __init__(self, labelled: bool) -> None:
        self._labelled = labelled
        self._codes, self._known = array("q"), dict[str, int]()

    def take(self, cells: Sequence[Any], row: int) -> None:
        texts = [SEPARATOR.join(map(str, cell)) if isinstance(cell, list) else cell for cell in cells]
        _encode(texts, row, self._known, self._codes, "available actions")

    def column(self) -> list[tuple[Any, ...]]:
        sets = [tuple(each.strip() for each in text.split(SEPARATOR)) for text in self._known]
        if not self._labelled and all(is_index(each) for every in sets for each in every):
            sets = [tuple(map(int, every)) for every in sets]
        return [sets[code] for code in self._codes]


def is_index(label: str) -> bool:
    """Return True for a label that is an index."""
    return label.isascii() and label.isdigit() and len(label) < 10


def _encode(cells: Sequence[Any], row: int, known: dict[str, int], codes: array[int], what: str) -> None:
    """Append the code of each cell, a new one of a value that is not yet known."""
    _require_cells(cells, row, what)
    texts = list(map(str, cells))
    for text in dict.fromkeys(texts):
        known.setdefault(text, len(known))
    codes.extend(map(known.__getitem__, texts))


def _require_cells(cells: Sequence[Any], row: int, what: str) -> None:
    for empty in ("", None):
        if empty in cells:
            raise row_error(row + cells.index(empty), f"must have {what}, got an empty cell")


class _NumberReader:
    """Collect numbers; an empty cell is NaN."""

    def __init__(self, key: str):
        self._key, self._parts = key, list[Floats]()

    def take(self, cells: Sequence[Any], row: int) -> None:
        try:
            values = np.fromiter(map(float, cells), np.float64, len(cells))
        except (ValueError, TypeError):  # an empty cell, a date or damage
            values = np.array([self._checked(cell, row + i) for i, cell in enumerate(cells)])
        else:
            for i in np.flatnonzero(np.isnan(values)).tolist():
                self._checked(cells[i], row + i)
        self._parts.append(values)

    def number(self, cell: Any) -> float:
        if cell == "" or cell is None:
            return np.nan
        value = float(cell)
        if value != value:  # the text "nan" is a damaged cell
            raise ValueError(cell)
        return value

    def _checked(self, cell: Any, row: int) -> float:
        try:
            return self.number(cell)
        except (ValueError, TypeError):
            raise row_error(row, f"must have a number as {self._key}, got {cell!r}") from None

    def column(self) -> Floats:
        return np.concatenate(self._parts)


class _TimeReader(_NumberReader):
    """Collect times: numbers, or dates as seconds since 1970."""

    def __init__(self) -> None:
        super().__init__("time, or a date,")

    def number(self, cell: Any) -> float:
        try:
            return super().number(cell)
        except (ValueError, TypeError):
            date = cell if isinstance(cell, datetime) else datetime.fromisoformat(str(cell))
            return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


class FeatureReader:
    """Collect a column of contexts: numbers, or categories where a cell is none.

    A column of more than `MOST_TEXTS` different texts has numbers alone, of which no text is kept.
    """

    def __init__(self, name: str):
        self._codes, self._known = array("q"), dict[str, int]()
        self._numbers = _NumberReader(f"{name}, a feature of more than {MOST_TEXTS} different values")
        self._few = True

    def take(self, cells: Sequence[Any], row: int) -> None:
        """Take the next cells, of which the first is in a row of the log, counted from 0."""
        if not self._few:
            _require_cells(cells, row, FEATURE)
            self._numbers.take(cells, row)
            return
        _encode(cells, row, self._known, self._codes, FEATURE)
        if len(self._known) > MOST_TEXTS:
            texts = list(self._known)
            self._numbers.take([texts[code] for code in self._codes], 0)
            self._codes, self._known, self._few = array("q"), {}, False

    def features(self) -> list[Floats]:
        """Return the column, or one of 0 and 1 for each category in ascending order."""
        if not self._few:
            return [self._numbers.column()]
        codes = np.frombuffer(self._codes, dtype=np.int64)
        try:
            return [np.array(list(map(float, self._known)))[codes]]
        except ValueError:
            return [(codes == self._known[label]).astype(np.float64) for label in sorted(self._known)]
