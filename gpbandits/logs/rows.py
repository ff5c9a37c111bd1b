"""Rows of a log: actions by index or label, those that were available, and errors by the row's number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, is_integer, require
from bandit_envs.basics.types import Bools, Ints

SEPARATOR = "|"  # between the available actions of a row in a file


def row_error(row: int, complaint: str) -> ArgumentError:
    """Return the error of one row, which counts from 1 as in a table below its header."""
    return ArgumentError(f"row {row + 1}", complaint)


def require_rows(right: Any, complaint: str, given: Any) -> None:
    """Raise for the first row that is not right."""
    wrong = np.flatnonzero(~np.asarray(right))
    if len(wrong):
        raise row_error(int(wrong[0]), f"{complaint}, got {np.asarray(given)[wrong[0]]}")


def coded(action: Any, actions: Any) -> tuple[Ints, tuple[str, ...]]:
    """Return the indices of actions among the labels, and all labels; raise for an unknown action by row.

    Actions are indices where `actions` is a number, and where they are integers without labels; else labels.
    """
    given = np.asarray(action)
    if is_integer(actions) or (actions is None and given.dtype.kind in "iu"):
        size = int(given.max()) + 1 if actions is None else int(actions)
        return _indices(given, size), tuple(map(str, range(size)))
    if actions is None:
        labels, codes = np.unique(given.astype(str), return_inverse=True)
        return codes.astype(np.int64), tuple(labels.tolist())
    labels = tuple(map(str, actions))
    require(len(set(labels)) == len(labels), "actions", "different labels", actions)
    if given.dtype.kind in "iu":
        return _indices(given, len(labels)), labels
    order = {label: code for code, label in enumerate(labels)}
    codes = np.array([order.get(label, -1) for label in given.astype(str).tolist()], dtype=np.int64)
    require_rows(codes >= 0, f"must have an action among {', '.join(labels[:20])}", given)
    return codes, labels


def all_actions(action: Any, available: Any, actions: Any) -> Any:
    """Return `actions`, or the labels or the number of those that were played or available, if lists say so.

    `action` and `available` are as for `PlayLog`.
    """
    if actions is not None or available is None or is_mask(available):
        return actions
    listed = {each for row in available for each in row}
    both = np.array([*np.unique(np.asarray(action)).tolist(), *listed])
    return int(both.max()) + 1 if both.dtype.kind in "iu" else np.unique(both.astype(str)).tolist()


def is_mask(available: Any) -> bool:
    """Return True for an array of booleans, which lists of actions are not."""
    return isinstance(available, np.ndarray) and available.dtype == bool


def available_mask(available: Any, labels: Sequence[str], count: int) -> Bools:
    """Return which actions were available in each row, (n, A), from a mask or a list of actions a row."""
    shape = count, len(labels)
    if is_mask(available):
        require(available.shape == shape, "available", f"a mask of shape {shape}", available.shape)
        return available.copy()
    require(len(available) == count, "available", f"a list of actions for each of {count} rows", available)
    rows: dict[tuple[Any, ...], int] = {}
    place = np.array([rows.setdefault(tuple(each), len(rows)) for each in available], dtype=np.int64)
    order = {label: code for code, label in enumerate(labels)}
    table = np.zeros((len(rows), len(labels)), dtype=bool)
    for each, row in rows.items():
        codes = [order.get(str(action), -1) for action in each]
        if -1 in codes or not codes:
            known = f"must have available actions among {', '.join(labels[:20])}"
            raise row_error(int((place == row).argmax()), f"{known}, got {list(each)}")
        table[row, codes] = True
    return table[place]


def _indices(given: Any, size: int) -> Ints:
    whole = given.astype(np.float64)
    known = (whole >= 0) & (whole < size) & (whole == np.floor(whole))
    require_rows(known, f"must have an action in 0..{size - 1}", given)
    return whole.astype(np.int64)
