"""Summarise B episodes at once: equal to B summaries of `observations`, and much faster."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.environment.observations import Bare, History, Statistics, Summary


class BareBatch:
    """Show the environment's observations and nothing else.

    Args:
        summary: of one episode; it defines the entries.
        size: B.
    """

    def __init__(self, summary: Summary, size: int):
        self.summary, self.setting, self.rows = summary, summary.setting, np.arange(size)
        self.round = np.zeros(size, dtype=np.int64)

    def begin(self, rows: Any) -> None:
        """Start new episodes in these rows."""
        self.round[rows] = 0

    def note(self, actions: Any, info: dict[str, Any]) -> None:
        """Record the plays of all rows, and the feedback that `info` delivers to each."""
        self.round += 1

    def vectors(self, observations: Floats) -> Floats:
        """Return the observations with their details, (B, dz) -> (B, dz + n) as float32."""
        return np.concatenate([observations, self.details(observations)], axis=1).astype(np.float32)  # type: ignore[return-value]

    def details(self, observations: Floats) -> Floats:
        """Return the entries that are added to the observations, (B, n)."""
        return np.empty((len(observations), 0))

    def places(self, actions: Any) -> Floats:
        """Return the features of the plays, scaled to [-1, 1], (B, d)."""
        if self.setting.continuous:
            return np.asarray(actions, dtype=np.float64)
        return self.summary._arms[np.asarray(actions)]

    @property
    def share(self) -> Floats:
        """Return the share of rounds played, (B, 1)."""
        return self.round[:, None] / self.setting.horizon


class HistoryBatch(BareBatch):
    """Batch `observations.History`."""

    def __init__(self, summary: Summary, size: int):
        super().__init__(summary, size)
        dim, horizon = self.setting.dim, self.setting.horizon
        self._plays, self._credited = np.zeros((size, horizon, dim)), np.zeros((size, dim))
        self._last, self._reward, self._news = np.zeros((size, dim)), np.zeros((size, 1)), np.zeros((size, 1))

    def begin(self, rows: Any) -> None:
        """Start new episodes in these rows."""
        super().begin(rows)
        for kept in (self._credited, self._last, self._reward, self._news):
            kept[rows] = 0.0

    def note(self, actions: Any, info: dict[str, Any]) -> None:
        """Record the plays of all rows, and the feedback that `info` delivers to each."""
        self._last = self.places(actions)
        self._plays[self.rows, self.round] = self._last
        arrived: Bools = info["feedback_mask"]
        latest: Ints = np.where(arrived, info["feedback_step"], -1).argmax(axis=1)
        delivered: Any = arrived.any(axis=1)
        rows, slot = self.rows[delivered], latest[delivered]
        self._news = delivered[:, None].astype(float)
        self._reward[rows, 0] = info["feedback_reward"][rows, slot]
        self._credited[rows] = self._plays[rows, info["feedback_step"][rows, slot]]
        super().note(actions, info)

    def details(self, observations: Floats) -> Floats:
        """Return last play, credited play, reward, news flag and share of rounds, (B, 2 d + 3)."""
        reward = self._reward / self.summary.unit
        return np.concatenate([self._last, self._credited, reward, self._news, self.share], axis=1)


class StatisticsBatch(BareBatch):
    """Batch `observations.Statistics`."""

    summary: Statistics

    def __init__(self, summary: Summary, size: int):
        super().__init__(summary, size)
        assert isinstance(summary, Statistics)
        self._bins = summary.bins
        shape = (size, len(self.setting.scaled_contexts), self._bins**self.setting.dim)
        self._count, self._sum = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        self._cells = np.zeros((2, size, self.setting.horizon), dtype=np.int64)  # context and cell of a play
        self._context = np.zeros(size, dtype=np.int64)
        counts = np.arange(self.setting.horizon + 1.0)
        self._logs = np.log1p(counts) / np.log1p(self.setting.horizon)

    def begin(self, rows: Any) -> None:
        """Start new episodes in these rows."""
        super().begin(rows)
        self._count[rows], self._sum[rows] = 0, 0.0

    def note(self, actions: Any, info: dict[str, Any]) -> None:
        """Record the plays of all rows, and the feedback that `info` delivers to each."""
        place = ((self.places(actions) + 1.0) / 2.0 * self._bins).astype(int)
        index = np.clip(place, 0, self._bins - 1)
        self._cells[0, self.rows, self.round] = self._context
        self._cells[1, self.rows, self.round] = np.ravel_multi_index(
            tuple(index.T), (self._bins,) * self.setting.dim
        )
        rows, slot = np.nonzero(info["feedback_mask"])  # in the order of slots, as a single summary adds them
        context, cell = self._cells[:, rows, info["feedback_step"][rows, slot]]
        np.add.at(self._count, (rows, context, cell), 1)
        np.add.at(self._sum, (rows, context, cell), info["feedback_reward"][rows, slot])
        super().note(actions, info)

    def details(self, observations: Floats) -> Floats:
        """Return counts, means and the share of rounds in the observed contexts, (B, 2 bins^d + 1)."""
        self._context = self.setting.context_index(observations)
        count, total = self._count[self.rows, self._context], self._sum[self.rows, self._context]
        mean = total / np.maximum(count, 1) / self.summary.unit
        return np.concatenate([self._logs[count], mean, self.share], axis=1)


BATCHES: dict[type[Summary], type[BareBatch]] = {
    Bare: BareBatch,
    History: HistoryBatch,
    Statistics: StatisticsBatch,
}


def batch_of(summary: Summary, size: int) -> BareBatch:
    """Return the batched form of a summary of `observations.SUMMARIES` for B episodes."""
    return BATCHES[type(summary)](summary, size)
