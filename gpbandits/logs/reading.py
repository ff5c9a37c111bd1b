"""Read logs from CSV, with the standard library alone, or from Parquet, column by column."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import from_extra, is_integer, require
from bandit_envs.basics.files import check_path, csv_names, csv_rows, require_no_pipe, row_error
from bandit_envs.basics.types import Floats, Ints
from gpbandits.logs.log import SEPARATOR, PlayLog, is_number_text

CHUNK = 2000  # rows that are read together
Rows = Iterator[Sequence[Sequence[Any]]]  # blocks of rows


def read_log(
    path: str | os.PathLike[str],
    *,
    action: str = "action",
    reward: str = "reward",
    propensity: str = "propensity",
    time: str | None = None,
    delivered: str | None = None,
    available: str | None = None,
    context: Sequence[str] | None = None,
    actions: Sequence[str] | int | None = None,
    until: float | None = None,
    arms: Any = None,
) -> PlayLog:
    """Read a log from a CSV with a header, or from Parquet; damaged rows are refused by their number.

    Numbers of rows count from 1 below the header. Times are numbers, or dates such as
    2024-05-01T12:00:00, which become seconds since 1970. An empty cell of the delivery, and of the reward,
    is a reward that is not delivered; an empty propensity is unknown. A context column with text becomes a
    column of 0 and 1 for each of its values; one of more than 20,000 different values must be numbers.

    Args:
        path: file.
        action, reward, propensity: names of these columns.
        time, delivered, available: names of these columns; by default "time", "delivered" and "available"
            where they are there. Available actions have | between them, as in hat|shoe.
        context: names of the contexts' columns; by default those that begin with "context".
        actions: labels of all actions in the order of a policy's probabilities, or their number. With labels,
            cells are labels even where they are numbers, such as 101; else a column of integers alone
            holds indices.
        until, arms: as for `PlayLog`.
    """
    check_path("path", path)
    require_no_pipe("path", path)  # a file is read twice
    names, blocks = _parquet(path) if Path(path).suffix == ".parquet" else _csv(path)
    time = time or ("time" if "time" in names else None)
    delivered = delivered or ("delivered" if "delivered" in names else None)
    available = available or ("available" if "available" in names else None)
    asked = [each for each in names if each.startswith("context")] if context is None else list(context)
    wanted = {"action": action, "reward": reward, "propensity": propensity, "time": time}
    wanted |= {"delivered": delivered, "available": available}
    for name in [*wanted.values(), *asked]:
        require(name is None or name in names, "column", f"one of {', '.join(names)}", name)
    readers = {key: reader_of(key, actions) for key, name in wanted.items() if name is not None}
    readers |= {name: FeatureReader(name) for name in asked}
    place = {key: names.index(wanted.get(key) or key) for key in readers}
    row = 0
    for block in blocks:
        cells = list(zip(*block, strict=True))
        for key, reader in readers.items():
            reader.take(cells[place[key]], row)
        row += len(block)
    require(row > 0, "path", "a file with a row below its header", "none")
    columns = {key: reader.column() for key, reader in readers.items() if key in wanted}
    if delivered is not None:  # a reward that is not delivered has no value, whatever its cell says
        columns["reward"] = np.where(np.isnan(columns["delivered"]), np.nan, columns["reward"])
    features = [column for name in asked for column in readers[name].features()]
    table = np.column_stack(features) if features else None
    return PlayLog(**columns, context=table, actions=actions, until=until, arms=arms)


def _csv(path: str | os.PathLike[str]) -> tuple[list[str], Rows]:
    rows = csv_rows(path, "path")
    return csv_names(path, "path"), iter(lambda: list(islice(rows, CHUNK)), [])


def _parquet(path: str | os.PathLike[str]) -> tuple[list[str], Rows]:
    with from_extra("data", "Parquet files"):
        from pyarrow.parquet import ParquetFile

    file = ParquetFile(path)
    names = list(file.schema_arrow.names)
    batches = file.iter_batches(batch_size=CHUNK)
    return names, (list(zip(*(each.to_pylist() for each in batch.columns), strict=True)) for batch in batches)


MOST_INDICES = 1000  # that an action may have in a log of fewer rows
MOST_TEXTS = 20_000  # different texts of a context's column that are kept; each takes about 150 bytes
FEATURE = "every context feature"


def reader_of(key: str, actions: Sequence[Any] | int | None) -> Any:
    """Return what collects a column of plays; `actions` are those of `read_log`."""
    if key in ("action", "available"):
        return _LabelReader(actions) if key == "action" else _SetReader(actions)
    return _NumberReader("time, or a date", _time) if key in ("time", "delivered") else _NumberReader(key)


class _LabelReader:
    """Collect labels as codes; without known labels a column of integers alone is one of indices."""

    def __init__(self, actions: Sequence[Any] | int | None) -> None:
        self._labelled, self._unnamed = not (actions is None or is_integer(actions)), actions is None
        self._codes, self._known = array("q"), dict[str, int]()

    def take(self, cells: Sequence[Any], row: int) -> None:
        texts = cells if self._labelled else [_stripped(cell) for cell in cells]  # labels may have blanks
        _encode(texts, row, self._known, self._codes, "an action")

    def column(self) -> Any:
        labels, codes = np.array(list(self._known)), np.frombuffer(self._codes, dtype=np.int64)
        if self._unnamed:
            remedy = "or give actions=[labels]"
            _require_one_kind(self._known, codes, str.isdigit, f"an index, as most rows have, {remedy}")
        if not self._labelled and all(map(is_index, self._known)):
            labels = labels.astype(np.int64)
        most = max(len(codes), MOST_INDICES) - 1
        if self._unnamed and labels.dtype.kind == "i" and (labels > most).any():
            row = int((labels > most)[codes].argmax())  # nobody has so many actions in so few rows, but names
            words = f"must have an index of at most {most} as action, or give actions=[labels]"
            raise row_error(row, f"{words}, got {labels[codes[row]]}")
        return labels[codes]


class _SetReader(_LabelReader):
    """Collect available actions, with a separator between them, as codes of different sets."""

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


def _require_one_kind(
    known: dict[str, int], codes: Ints, is_usual: Callable[[str], bool], expected: str
) -> None:
    """Raise for the first text among cells most of which are usual: a slip would make categories of all."""
    odd = np.array([not is_usual(text) for text in known])[codes]
    if odd.any() and 2 * np.count_nonzero(odd) < len(odd):
        row = int(odd.argmax())
        raise row_error(row, f"must have {expected}, got {list(known)[codes[row]]!r}")


def _stripped(cell: Any) -> Any:
    return cell.strip() if isinstance(cell, str) else cell


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


def _number(cell: Any) -> float:
    if cell == "" or cell is None:
        return np.nan
    value = float(cell)
    if value != value:  # the text "nan" is a damaged cell
        raise ValueError(cell)
    return value


def _time(cell: Any) -> float:
    try:
        return _number(cell)
    except (ValueError, TypeError):
        date = cell if isinstance(cell, datetime) else datetime.fromisoformat(str(cell))
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


class _NumberReader:
    """Collect numbers; an empty cell is NaN."""

    def __init__(self, key: str, number: Callable[[Any], float] = _number):
        self._key, self._number, self._parts = key, number, list[Floats]()

    def take(self, cells: Sequence[Any], row: int) -> None:
        try:
            values = np.fromiter(map(float, cells), np.float64, len(cells))
        except (ValueError, TypeError):  # an empty cell, a date or damage
            values = np.array([self._checked(cell, row + i) for i, cell in enumerate(cells)])
        else:
            for i in np.flatnonzero(np.isnan(values)).tolist():
                self._checked(cells[i], row + i)
        self._parts.append(values)

    def _checked(self, cell: Any, row: int) -> float:
        try:
            return self._number(cell)
        except (ValueError, TypeError):
            raise row_error(row, f"must have a number as {self._key}, got {cell!r}") from None

    def column(self) -> Floats:
        return np.concatenate(self._parts)


class FeatureReader:
    """Collect a column of contexts: numbers, or categories where a cell is none.

    A column of more than `MOST_TEXTS` different texts has numbers alone, of which no text is kept.
    """

    def __init__(self, name: str):
        self._codes, self._known = array("q"), dict[str, int]()
        self._numbers = _NumberReader(f"{name}, a feature of more than {MOST_TEXTS} different values")
        self._name, self._few = name, True

    def take(self, cells: Sequence[Any], row: int) -> None:
        """Take the next cells, of which the first is in a row of the log, counted from 0."""
        cells = [_stripped(cell) for cell in cells]
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
            remedy = "write categories as text in every row"
            words = f"a number as {self._name}, as most rows have, or {remedy}"
            _require_one_kind(self._known, codes, is_number_text, words)
            return [(codes == self._known[label]).astype(np.float64) for label in sorted(self._known)]
