"""Summarise an episode so far as one vector, for learners that see nothing but their observation.

The same classes serve wrappers of environments (`HistoryObservation`, `StatisticsObservation`) and agents,
which have no environment: `begin`, then in every round `vector(observation)` and `note(action, info)`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from gymnasium import spaces

from bandit_envs.basics.arguments import is_count, require
from bandit_envs.basics.types import Floats
from bandit_envs.problem.feedback import Feedback
from bandit_envs.problem.setting import Setting

CELLS = 4096  # more would make a rollout take megabytes


class Summary(ABC):
    """Summarise an episode as a vector of fixed length that begins with the environment's observation.

    Args:
        setting: the published part of the problem.
    """

    unit = 1.0  # divides rewards; agents set a better one

    def __init__(self, setting: Setting):
        self.setting = setting
        self.begin()

    @abstractmethod
    def begin(self) -> None:
        """Start a new episode and clear everything."""

    @abstractmethod
    def note(self, action: Any, info: dict[str, Any]) -> None:
        """Record a play and the feedback that `info` delivers."""

    @abstractmethod
    def details(self) -> Floats:
        """Return the entries that are added to the observation, (n,)."""

    @abstractmethod
    def bounds(self) -> tuple[Floats, Floats]:
        """Return the least and largest values of `details`, (n,) each."""

    def vector(self, observation: Floats) -> Floats:
        """Return the observation (dz,) and the details, (dz + n,) as float32."""
        return np.concatenate([observation, self.details()]).astype(np.float32)  # type: ignore[return-value]

    @property
    def space(self) -> spaces.Box:
        """Return the space of `vector`."""
        seen = self.setting.scaled_contexts.shape[1]
        low, high = self.bounds()
        return spaces.Box(
            np.r_[np.zeros(seen), low].astype(np.float32), np.r_[np.ones(seen), high].astype(np.float32)
        )

    def _place(self, action: Any) -> Floats:
        """Return the features of a play, scaled to [-1, 1], (d,)."""
        if self.setting.continuous:
            return np.asarray(action, dtype=np.float64)
        return self._arms[int(action)]

    @property
    def _arms(self) -> Floats:
        if not hasattr(self, "_unit_arms"):
            self._unit_arms = 2.0 * self.setting.decisions.unit_arms - 1.0
        return self._unit_arms


class Bare(Summary):
    """Show the environment's observation and nothing else."""

    def vector(self, observation: Floats) -> Floats:
        """Return a copy of the observation, (dz,) as float32."""
        return np.array(observation, dtype=np.float32)  # type: ignore[return-value]

    def begin(self) -> None:
        """Do nothing."""

    def note(self, action: Any, info: dict[str, Any]) -> None:
        """Do nothing."""

    def details(self) -> Floats:
        """Return no entries, (0,)."""
        return np.empty(0)

    def bounds(self) -> tuple[Floats, Floats]:
        """Return no bounds, (0,) each."""
        return np.empty(0), np.empty(0)


class History(Summary):
    """Show the last play, the last reward, the play that earned it, whether it is new, and t / T.

    In this order: d features of the last play in [-1, 1]; d of the one whose reward was delivered last, the
    same without delay; that reward; 1 if it was delivered in the last round, else 0; the share of rounds
    played. Of several delivered in one round, the latest play counts. With a recurrent policy this is the
    input of RL^2 (Duan et al. 2016, section 2.2).
    """

    def begin(self) -> None:
        """Start a new episode and clear everything."""
        self._plays: list[Floats] = []
        self._credited, self._reward, self._news = np.zeros(self.setting.dim), 0.0, 0.0

    def note(self, action: Any, info: dict[str, Any]) -> None:
        """Record a play and the feedback that `info` delivers."""
        self._plays.append(self._place(action))
        _, rounds, rewards, _ = Feedback.arrived(info)
        self._news = float(len(rounds) > 0)
        if len(rounds):
            latest = rounds.argmax()
            self._credited, self._reward = self._plays[rounds[latest]], rewards[latest]

    def details(self) -> Floats:
        """Return last play, credited play, reward, news flag and share of rounds, (2 d + 3,)."""
        last = self._plays[-1] if self._plays else np.zeros(self.setting.dim)
        share = len(self._plays) / self.setting.horizon
        return np.r_[last, self._credited, self._reward / self.unit, self._news, share]

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the bounds of the box and of the shares; rewards have none."""
        ones = np.ones(2 * self.setting.dim)
        return np.r_[-ones, -np.inf, 0.0, 0.0], np.r_[ones, np.inf, 1.0, 1.0]


class Statistics(Summary):
    """Show count and mean reward of each cell of a grid in the current context, and t / T.

    In this order: log(1 + n) / log(1 + T) of each of the `bins`^d cells with n delivered rewards of plays in
    it; their mean, 0 where there are none; the share of rounds played.

    Args:
        setting: the published part of the problem.
        bins: cells a dimension, at most 4096 in all.
    """

    def __init__(self, setting: Setting, bins: int = 10):
        require(is_count(bins), "bins", "a positive integer", bins)
        cells = int(bins) ** setting.dim
        require(cells <= CELLS, "bins", f"small enough for {CELLS} cells in {setting.dim} dimensions", bins)
        self.bins = int(bins)
        self._shape = len(setting.scaled_contexts), cells
        super().__init__(setting)

    def begin(self) -> None:
        """Start a new episode and clear everything."""
        self._count, self._sum = np.zeros(self._shape), np.zeros(self._shape)
        self._cells: list[tuple[int, int]] = []  # (context, cell) of each play
        self._context = 0

    def vector(self, observation: Floats) -> Floats:
        """Return the observation and the statistics of its context, (dz + 2 bins^d + 1,) as float32."""
        self._context = int(self.setting.context_index(np.asarray(observation)[None])[0])
        return super().vector(observation)

    def note(self, action: Any, info: dict[str, Any]) -> None:
        """Record a play and the feedback that `info` delivers."""
        self._cells.append((self._context, self._cell(action)))
        _, rounds, rewards, _ = Feedback.arrived(info)
        for played, reward in zip(rounds, rewards, strict=True):
            self._count[self._cells[played]] += 1.0
            self._sum[self._cells[played]] += reward

    def details(self) -> Floats:
        """Return scaled counts, means and the share of rounds, (2 bins^d + 1,)."""
        count, total = self._count[self._context], self._sum[self._context]
        share = len(self._cells) / self.setting.horizon
        mean = total / np.maximum(count, 1.0) / self.unit
        return np.r_[np.log1p(count) / np.log1p(self.setting.horizon), mean, share]

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the bounds of the shares; means have none."""
        zeros, ones = np.zeros(self._shape[1]), np.ones(self._shape[1])
        return np.r_[zeros, -np.inf * ones, 0.0], np.r_[ones, np.inf * ones, 1.0]

    def _cell(self, action: Any) -> int:
        index = np.clip(((self._place(action) + 1.0) / 2.0 * self.bins).astype(int), 0, self.bins - 1)
        return int(np.ravel_multi_index(tuple(index), (self.bins,) * self.setting.dim))


SUMMARIES: dict[str, type[Summary]] = {"none": Bare, "history": History, "statistics": Statistics}


def make_summary(observation: Any, setting: Setting) -> Summary:
    """Return the summary that a keyword argument describes.

    Args:
        observation: "none", "history", "statistics" or {"kind": "statistics", "bins": 20}.
        setting: the published part of the problem.
    """
    spec = {"kind": observation} if isinstance(observation, str) else observation
    named = isinstance(spec, dict) and spec.get("kind") in SUMMARIES
    require(named, "observation", f"one of {', '.join(SUMMARIES)}, or a dict with that as kind", observation)
    options = {key: value for key, value in spec.items() if key != "kind"}
    allowed = {"bins"} if spec["kind"] == "statistics" else set()
    unknown = sorted(options.keys() - allowed)
    require(not unknown, "observation", f"without {', '.join(unknown)} for {spec['kind']!r}", observation)
    attributable = spec["kind"] == "none" or not setting.aggregated
    remedy = "none where feedback is aggregated: it belongs to no single play"
    require(attributable, "observation", remedy, observation)
    return SUMMARIES[spec["kind"]](setting, **options)
