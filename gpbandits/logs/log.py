"""A log holds plays of one policy: time, context, action, propensity, reward, and when it was delivered."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import is_integer, require
from bandit_envs.basics.files import check_path, row_error, write_whole
from bandit_envs.basics.types import Bools, Floats, Ints, fixed

SEPARATOR = "|"  # between the available actions of a row in a file


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
    require(given.ndim == 1, "action", "one action for each row", action)
    if is_integer(actions) or (actions is None and given.dtype.kind in "iu"):
        size = int(given.max()) + 1 if actions is None else int(actions)
        return _indices(given, size), tuple(map(str, range(size)))
    texts = given.astype(str).tolist()
    labels = tuple(ascending(list(set(texts))) if actions is None else map(str, actions))
    require(len(set(labels)) == len(labels), "actions", "different labels", actions)
    if given.dtype.kind in "iu":
        return _indices(given, len(labels)), labels
    order = {label: code for code, label in enumerate(labels)}
    codes = np.array([order.get(text, -1) for text in texts], dtype=np.int64)
    require_rows(codes >= 0, f"must have an action among {', '.join(labels[:20])}", given)
    return codes, labels


def ascending(labels: list[str]) -> list[str]:
    """Return labels in ascending order: of their values where all are numbers, so that 2.5 is before 10.0."""
    try:
        return sorted(labels, key=lambda label: (float(label), label))
    except ValueError:
        return sorted(labels)


def all_actions(action: Any, available: Any, actions: Any) -> Any:
    """Return `actions`, or the labels or the number of those that were played or available, if lists say so.

    `action` and `available` are as for `PlayLog`.
    """
    if actions is not None or available is None or is_mask(available):
        return actions
    listed = {each for row in available for each in row}
    both = np.array([*np.unique(np.asarray(action)).tolist(), *listed])
    return int(both.max()) + 1 if both.dtype.kind in "iu" else ascending(list(set(both.astype(str).tolist())))


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
    try:
        whole = given.astype(np.float64)
    except ValueError:  # text
        is_number = [is_number_text(each) for each in given.tolist()]
        require_rows(is_number, f"must have an action in 0..{size - 1}", given)
        raise
    known = (whole >= 0) & (whole < size) & (whole == np.floor(whole))
    require_rows(known, f"must have an action in 0..{size - 1}", given)
    return whole.astype(np.int64)


def is_number_text(text: Any) -> bool:
    """Return True for a text that Python reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


CHUNK = 50_000  # rows that are written together


@dataclass(frozen=True, eq=False, repr=False)
class PlayLog:
    """Hold n plays in the order of time.

    Args:
        action: the played action of each row: its index, or a label among `actions`, (n,).
        reward: observed rewards, (n,); NaN where the reward is not delivered yet.
        propensity: probability with which the logging policy chose the action in its context, (n,), in
            (0, 1]; NaN where it is unknown.
        actions: labels of all A actions in the order of a policy's probabilities, or their number; by
            default the actions of the rows in ascending order.
        context: features of each context, (n, dz); none by default.
        time: of each play, (n,), ascending; by default the number of the row.
        delivered: time at which each reward was observed, (n,); NaN where it is not yet. By default at once.
        until: time at which the log was closed; by default the last of all times.
        arms: features of the actions, (A, d), for the model of the reward; by default actions are unordered.
        available: which actions could be chosen in each row: booleans, (n, A), or a list of actions a row;
            all by default. A policy is valued on these alone.

    Example:
        >>> log = PlayLog(action=[0, 1, 1], reward=[1.0, 0.0, 2.0], propensity=[0.5, 0.5, 0.5])
        >>> len(log), log.num_actions
        (3, 2)
    """

    action: Any
    reward: Any
    propensity: Any
    actions: Any = None
    context: Any = None
    time: Any = None
    delivered: Any = None
    until: Any = None
    arms: Any = None
    available: Any = None

    def __post_init__(self) -> None:
        count = len(self.action) if np.ndim(self.action) else 0
        require(count > 0, "action", "at least one play", count)
        codes, labels = coded(self.action, all_actions(self.action, self.available, self.actions))
        times = np.arange(count) if self.time is None else self.time
        given = {
            "reward": self.reward,
            "propensity": self.propensity,
            "time": times,
            "delivered": times if self.delivered is None else self.delivered,
            "context": np.empty((count, 0)) if self.context is None else self.context,
        }
        columns = {name: _numbers(name, values, count) for name, values in given.items()}
        self._fill(action=codes, actions=labels, **columns)
        if self.available is not None:
            self._fill(available=available_mask(self.available, labels, count))
        check_rows(self)
        latest = max(float(columns["time"][-1]), float(np.nanmax(columns["delivered"], initial=-np.inf)))
        require(self.until is None or self.until >= latest, "until", f"at least {latest:g}", self.until)
        self._fill(until=latest if self.until is None else float(self.until))
        if self.arms is not None:
            arms = np.array(self.arms, dtype=np.float64)
            fits = arms.ndim == 2 and len(arms) == len(labels) and bool(np.isfinite(arms).all())
            words = f"finite features, a list of them for each of {len(labels)} actions"
            require(fits, "arms", words, self.arms)
            self._fill(arms=arms)

    def _fill(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, fixed(value) if isinstance(value, np.ndarray) else value)

    def __len__(self) -> int:
        return len(self.action)

    def __repr__(self) -> str:
        late = f", {np.count_nonzero(~self.is_delivered)} not delivered" * (not self.is_delivered.all())
        width = f", {self.context.shape[1]} context features" * bool(self.context.shape[1])
        return f"PlayLog of {len(self)} plays of {self.num_actions} actions{width}{late}"

    @property
    def num_actions(self) -> int:
        """Return the number of actions A."""
        return len(self.actions)

    @cached_property
    def is_delivered(self) -> Bools:
        """Return whether the reward of each row was observed, (n,)."""
        return ~np.isnan(self.delivered)

    @cached_property
    def contexts(self) -> tuple[Floats, Ints]:
        """Return the different contexts, (Z, dz), and the index of each row's, (n,)."""
        if not self.context.shape[1]:
            return np.empty((1, 0)), np.zeros(len(self), dtype=np.int64)
        first, row = _different(self.context + 0.0)  # in which -0.0 is 0.0
        return self.context[first], row

    @cached_property
    def available_sets(self) -> tuple[Bools, Ints]:
        """Return the different sets of available actions, (S, A), and the index of each row's, (n,)."""
        if self.available is None:
            return np.ones((1, self.num_actions), dtype=bool), np.zeros(len(self), dtype=np.int64)
        first, row = _different(np.packbits(self.available, axis=1))
        return self.available[first], row

    @property
    def mean(self) -> float:
        """Return the mean of the observed rewards, what the logging policy earned."""
        return float(self.reward[self.is_delivered].mean())

    def part(self, rows: Any) -> PlayLog:
        """Return some rows in their order, a slice or indices."""
        columns = {name: getattr(self, name)[rows] for name in (*COLUMNS, "context")}
        columns["available"] = None if self.available is None else self.available[rows]
        return PlayLog(**columns, actions=self.actions, until=self.until, arms=self.arms)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a CSV that `read_log` reads, with an empty cell for what is unknown or not delivered."""
        check_path("path", path)
        names = [f"context_{i}" for i in range(self.context.shape[1])]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*COLUMNS, *["available"] * (self.available is not None), *names])
        sets, of_row = self._written_sets()
        known = [getattr(self, name) for name in COLUMNS if name != "action"]
        for start in range(0, len(self), CHUNK):
            rows = slice(start, start + CHUNK)
            labels = [self.actions[code] for code in self.action[rows].tolist()]
            cells, features = _cells(known, rows), _cells(list(self.context.T), rows)
            there = [[sets[i] for i in of_row[rows].tolist()]] * (self.available is not None)
            writer.writerows(zip(cells[0], labels, *cells[1:], *there, *features, strict=True))
        write_whole(path, text.getvalue().encode())

    def _written_sets(self) -> tuple[list[str], Ints]:
        """Return the cell of each different set of available actions, and the index of each row's, (n,)."""
        masks, row = self.available_sets
        plain = self.available is None or not any(SEPARATOR in label for label in self.actions)
        require(plain, "actions", f"labels without {SEPARATOR!r} where some are not available", self.actions)
        return [SEPARATOR.join(self.actions[a] for a in np.flatnonzero(mask)) for mask in masks], row


COLUMNS = ("time", "action", "propensity", "reward", "delivered")


def check_rows(log: PlayLog) -> None:
    """Raise for the first row with an impossible value, by its number."""
    late = np.isnan(log.delivered)
    require_rows(np.isfinite(log.context).all(axis=1), "must have finite contexts", log.context)
    if log.available is not None:
        there = log.available[np.arange(len(log)), log.action]
        require_rows(there, "must have an action that was available", [log.actions[a] for a in log.action])
    require_rows(np.isfinite(log.time), "must have a finite time", log.time)
    require_rows(np.diff(log.time, prepend=log.time[0]) >= 0.0, "must not be earlier than the last", log.time)
    usable = np.isnan(log.propensity) | ((log.propensity > 0.0) & (log.propensity <= 1.0))
    require_rows(usable, "must have a propensity in (0, 1]", log.propensity)
    require_rows(late | (log.delivered >= log.time), "must not be delivered before its time", log.delivered)
    require_rows(~np.isinf(log.delivered), "must have a finite time of delivery or none", log.delivered)
    require_rows(late | np.isfinite(log.reward), "must have a finite reward, or no delivery", log.reward)
    require_rows(~late | np.isnan(log.reward), "must have no reward before its delivery", log.reward)


def _different(rows: Any) -> tuple[Ints, Ints]:
    """Return the first of each different row, (Z,), and the index of each row's, (n,)."""
    table = np.ascontiguousarray(rows)
    words = table.view(np.dtype((np.void, table.itemsize * table.shape[1])))
    _, first, row = np.unique(words.ravel(), return_index=True, return_inverse=True)
    return first, row.astype(np.int64)


def _cells(columns: list[Floats], rows: slice) -> list[list[str]]:
    return [["" if np.isnan(x) else repr(x) for x in each[rows].tolist()] for each in columns]


def _numbers(name: str, values: Any, count: int) -> Floats:
    given = np.asarray(values)
    axes = 2 if name == "context" else 1
    fits = given.dtype.kind in "biuf" and given.ndim == axes and len(given) == count
    require(fits, name, f"numbers, one {'list of them ' * (axes - 1)}for each of {count} rows", values)
    return np.array(given, dtype=np.float64)
