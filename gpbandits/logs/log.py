"""A log holds plays of one policy: time, context, action, propensity, reward, and when it was delivered."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, is_integer, require
from bandit_envs.basics.files import check_path, write_whole
from bandit_envs.basics.immutable import fixed
from bandit_envs.basics.types import Bools, Floats, Ints

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

    def __post_init__(self) -> None:
        count = len(self.action)
        require(count > 0, "action", "at least one play", count)
        codes, labels = coded(self.action, self.actions)
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
        check_rows(self)
        latest = max(float(columns["time"][-1]), float(np.nanmax(columns["delivered"], initial=-np.inf)))
        require(self.until is None or self.until >= latest, "until", f"at least {latest:g}", self.until)
        self._fill(until=latest if self.until is None else float(self.until))
        if self.arms is not None:
            self._fill(arms=_arms(self.arms, len(labels)))

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
        words = np.ascontiguousarray(self.context + 0.0).view(np.dtype((np.void, 8 * self.context.shape[1])))
        _, first, row = np.unique(words.ravel(), return_index=True, return_inverse=True)  # -0.0 is 0.0 above
        return self.context[first], row.astype(np.int64)

    @property
    def mean(self) -> float:
        """Return the mean of the observed rewards, what the logging policy earned."""
        return float(self.reward[self.is_delivered].mean())

    def part(self, rows: Any) -> PlayLog:
        """Return some rows in their order, a slice or indices."""
        columns = {name: getattr(self, name)[rows] for name in (*COLUMNS, "context")}
        return PlayLog(**columns, actions=self.actions, until=self.until, arms=self.arms)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a CSV that `read_log` reads, with an empty cell for what is unknown or not delivered."""
        check_path("path", path)
        names = [f"context_{i}" for i in range(self.context.shape[1])]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*COLUMNS, *names])
        columns = [getattr(self, name) for name in COLUMNS if name != "action"] + list(self.context.T)
        for start in range(0, len(self), CHUNK):
            rows = slice(start, start + CHUNK)
            labels = [self.actions[code] for code in self.action[rows].tolist()]
            cells = [["" if np.isnan(x) else repr(x) for x in each[rows].tolist()] for each in columns]
            writer.writerows(zip(cells[0], labels, *cells[1:], strict=True))
        write_whole(path, text.getvalue().encode())


COLUMNS = ("time", "action", "propensity", "reward", "delivered")


def row_error(row: int, complaint: str) -> ArgumentError:
    """Return the error of one row, which counts from 1 as in a table below its header."""
    return ArgumentError(f"row {row + 1}", complaint)


def check_rows(log: PlayLog) -> None:
    """Raise for the first row with an impossible value, by its number."""
    late = np.isnan(log.delivered)
    _require_rows(np.isfinite(log.context).all(axis=1), "must have finite contexts", log.context)
    _require_rows(np.isfinite(log.time), "must have a finite time", log.time)
    _require_rows(
        np.diff(log.time, prepend=log.time[0]) >= 0.0, "must not be earlier than the last", log.time
    )
    usable = np.isnan(log.propensity) | ((log.propensity > 0.0) & (log.propensity <= 1.0))
    _require_rows(usable, "must have a propensity in (0, 1]", log.propensity)
    _require_rows(late | (log.delivered >= log.time), "must not be delivered before its time", log.delivered)
    _require_rows(~np.isinf(log.delivered), "must have a finite time of delivery or none", log.delivered)
    _require_rows(late | np.isfinite(log.reward), "must have a finite reward, or no delivery", log.reward)
    _require_rows(~late | np.isnan(log.reward), "must have no reward before its delivery", log.reward)


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
    _require_rows(codes >= 0, f"must have an action among {', '.join(labels[:20])}", given)
    return codes, labels


def _indices(given: Any, size: int) -> Ints:
    whole = given.astype(np.float64)
    known = (whole >= 0) & (whole < size) & (whole == np.floor(whole))
    _require_rows(known, f"must have an action in 0..{size - 1}", given)
    return whole.astype(np.int64)


def _numbers(name: str, values: Any, count: int) -> Floats:
    given = np.asarray(values)
    axes = 2 if name == "context" else 1
    fits = given.dtype.kind in "biuf" and given.ndim == axes and len(given) == count
    require(fits, name, f"numbers, one {'list of them ' * (axes - 1)}for each of {count} rows", values)
    return np.array(given, dtype=np.float64)


def _arms(arms: Any, count: int) -> Floats:
    features = np.array(arms, dtype=np.float64)
    fits = features.ndim == 2 and len(features) == count and bool(np.isfinite(features).all())
    require(fits, "arms", f"finite features, a list of them for each of {count} actions", arms)
    return features


def _require_rows(right: Any, complaint: str, given: Any) -> None:
    wrong = np.flatnonzero(~np.asarray(right))
    if len(wrong):
        raise row_error(int(wrong[0]), f"{complaint}, got {np.asarray(given)[wrong[0]]}")
