"""What an evaluation returns: every agent's record on the same trials of one environment."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from bandit_envs.extras import from_extra
from bandit_envs.types import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

    from bandit_envs.evaluation.table import Table

Metric = Literal[
    "cumulative",
    "average",
    "simple",
    "violation",
    "average-violation",
    "hard-violation",
    "average-hard-violation",
]
Scale = Literal["linear", "log-log"]


class Record(NamedTuple):
    """What one agent did in B trials at T recorded rounds; each round is recorded unless a study thins them.

    Regret, cost and violation count what came since the previous recorded round: with every round recorded
    they are those of the round itself, and their running sums over the recorded rounds are exact either way.
    """

    regret: Floats  # (B, T) regret of the noiseless mean, charged when played
    simple_regret: Floats  # (B, T) regret of the best play that has arrived; before any, the largest possible
    cost: Floats  # (B, T, C) noiseless constraint values of the plays
    violation: Floats  # (B, T) norm of their positive part, which does not cancel over rounds
    action: Any  # (B, T) arms or (B, T, d) points
    seconds: Floats  # (B,) spent in act and update

    def at(self, rounds: Ints) -> Record:
        """Keep these rounds alone; they count from 1, increase, and end with the last, (R,)."""
        index = rounds - 1
        starts = np.r_[0, rounds[:-1]]
        return Record(
            np.add.reduceat(self.regret, starts, axis=1),
            self.simple_regret[:, index],
            np.add.reduceat(self.cost, starts, axis=1),
            np.add.reduceat(self.violation, starts, axis=1),
            self.action[:, index],
            self.seconds,
        )


@dataclasses.dataclass(frozen=True, eq=False)
class Result:
    """Agents' records on the same trials of one environment, by label.

    Args:
        environment: the label that tables and figures print.
        seed: of the evaluation; trial i is drawn from (seed, i) whatever the agents are.
        records: one a label; all with the same B trials, T recorded rounds and C constraints.
        privileged: labels of the agents that were told what a learner cannot know.
        first_trial: index of the first trial, when this is a block of a larger evaluation.
        checkpoints: the recorded rounds, counted from 1, (T,); None where each round is recorded.
    """

    environment: str
    seed: int
    records: dict[str, Record]
    privileged: frozenset[str] = frozenset()
    first_trial: int = 0
    checkpoints: Ints | None = None

    def __post_init__(self) -> None:
        if not self.records:
            raise ValueError("a result needs the record of at least one agent, got none")
        if unknown := self.privileged - self.records.keys():
            raise ValueError(f"privileged names agents without a record: {', '.join(sorted(unknown))}")
        for label, record in self.records.items():
            _check_shapes(label, record, (self.num_trials, len(self.rounds), self.num_constraints))

    @property
    def agents(self) -> list[str]:
        """Labels, in the order in which they were given."""
        return list(self.records)

    @property
    def num_trials(self) -> int:
        """The number of trials B."""
        return len(self._first.regret)

    @property
    def num_constraints(self) -> int:
        """The number of constraints C."""
        return self._first.cost.shape[-1]

    @cached_property
    def rounds(self) -> Ints:
        """The recorded rounds, counted from 1, (T,)."""
        if self.checkpoints is not None:
            return np.asarray(self.checkpoints, dtype=np.int64)
        return np.arange(1, self._first.regret.shape[1] + 1)

    @property
    def horizon(self) -> int:
        """The last round."""
        return int(self.rounds[-1])

    @cached_property
    def regret(self) -> dict[str, Floats]:
        """Cumulative regret R_t = sum_{s <= t} f(x*) - f(x_s) of the noiseless means, (B, T) each."""
        return {label: np.cumsum(record.regret, axis=1) for label, record in self.records.items()}

    @cached_property
    def average_regret(self) -> dict[str, Floats]:
        """R_t / t, (B, T) each."""
        return self._average(self.regret)

    @property
    def simple_regret(self) -> dict[str, Floats]:
        """Regret of the best play that has arrived by round t, or the largest possible, (B, T) each."""
        return {label: record.simple_regret for label, record in self.records.items()}

    @property
    def costs(self) -> dict[str, Floats]:
        """Noiseless constraint values of the plays, (B, T, C) each; sums between checkpoints."""
        return {label: record.cost for label, record in self.records.items()}

    @cached_property
    def violation(self) -> dict[str, Floats]:
        """V_t = || [sum_{s <= t} g(x_s)]^+ ||, (B, T) each; slack makes up for it (Shi 2022, eq. 7)."""
        return {
            label: np.linalg.norm(np.maximum(np.cumsum(record.cost, axis=1), 0.0), axis=2)
            for label, record in self.records.items()
        }

    @cached_property
    def hard_violation(self) -> dict[str, Floats]:
        """sum_{s <= t} || [g(x_s)]^+ ||, (B, T) each; at least V_t, and nothing makes up for it."""
        return {label: np.cumsum(record.violation, axis=1) for label, record in self.records.items()}

    @property
    def actions(self) -> dict[str, Any]:
        """Arms, (B, T), or points, (B, T, d), each."""
        return {label: record.action for label, record in self.records.items()}

    @property
    def seconds(self) -> dict[str, Floats]:
        """Time in act and update, (B,) each."""
        return {label: record.seconds for label, record in self.records.items()}

    @property
    def seconds_per_decision(self) -> dict[str, Floats]:
        """Time in act and update a round, (B,) each."""
        return {label: seconds / self.horizon for label, seconds in self.seconds.items()}

    def curves(self, metric: Metric = "cumulative") -> dict[str, Floats]:
        """Regret or violation by metric, (B, T) each; the averages are over time, up to each round."""
        match metric:
            case "cumulative":
                return self.regret
            case "simple":
                return self.simple_regret
            case "violation":
                return self.violation
            case "hard-violation":
                return self.hard_violation
            case "average":
                return self.average_regret
            case "average-violation":
                return self._average(self.violation)
            case "average-hard-violation":
                return self._average(self.hard_violation)
        raise ValueError(f"unknown metric {metric!r}; choose one of {', '.join(get_args(Metric))}")

    def _average(self, sums: dict[str, Floats]) -> dict[str, Floats]:
        """A time average up to each round."""
        return {label: values / self.rounds for label, values in sums.items()}

    def marked(self, label: str) -> str:
        """The label as tables and figures print it, with a dagger if the agent is privileged."""
        return f"{label}†" if label in self.privileged else label

    def at(self, rounds: Ints | Sequence[int]) -> Result:
        """Thin to these recorded rounds; they count from 1, increase, and end with the horizon."""
        rounds = np.asarray(rounds, dtype=np.int64)
        if self.checkpoints is not None:
            raise ValueError("this result is thinned to checkpoints already; thin the full one")
        if not len(rounds) or rounds[0] < 1 or rounds[-1] != self.horizon or (np.diff(rounds) <= 0).any():
            raise ValueError(
                f"rounds must increase from at least 1 to the horizon {self.horizon}, got {rounds}"
            )
        records = {label: record.at(rounds) for label, record in self.records.items()}
        return dataclasses.replace(self, records=records, checkpoints=rounds)

    def table(self, baseline: str | None = None) -> Table:
        """Final regret of each agent with intervals; differences are to `baseline`, or to the best agent."""
        from bandit_envs.evaluation.table import Table, summarise

        return Table.of(self, summarise(self, baseline))

    def plot(
        self, path: str | os.PathLike[str], scale: Scale = "linear", metric: Metric = "cumulative"
    ) -> None:
        """Draw the mean of a metric with its interval into a .png, .pdf or .svg file."""
        with from_extra("eval", "figures"):
            from bandit_envs.evaluation.plots import regret_figure, save_figure

        save_figure(regret_figure(self, scale, metric), path)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row an agent, trial and recorded round."""
        with from_extra("eval", "data frames"):
            from bandit_envs.evaluation.parquet import to_table

            frame = to_table(self).to_pandas()
        frame.insert(0, "environment", self.environment)
        return frame

    def save(
        self,
        path: str | os.PathLike[str],
        metadata: Mapping[str, Any] | None = None,
        timings: bool = True,
    ) -> None:
        """Write one Parquet file, whole or not at all.

        Args:
            path: of the file, which is replaced if it exists.
            metadata: JSON-able, kept beside ours.
            timings: whether `seconds` are written; without them equal numbers give equal bytes, and `load`
                returns NaN in their place.
        """
        with from_extra("eval", "files of results"):
            from bandit_envs.evaluation.parquet import write

        write(self, path, metadata or {}, timings)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Result:
        """Read what `save` wrote; every array is identical."""
        with from_extra("eval", "files of results"):
            from bandit_envs.evaluation.parquet import read

        return read(path)

    @property
    def _first(self) -> Record:
        return next(iter(self.records.values()))


def join_trials(blocks: Sequence[Record]) -> Record:
    """One record from blocks of trials of the same agent, in their order."""
    return Record(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))


def _check_shapes(label: str, record: Record, expected: tuple[int, int, int]) -> None:
    plays = expected[:2]
    given = (*map(np.shape, record[:4]), np.shape(record.action)[:2], np.shape(record.seconds))
    wanted = (plays, plays, expected, plays, plays, plays[:1])
    for name, shape, right in zip(Record._fields, given, wanted, strict=True):
        if shape != right:
            raise ValueError(
                f"{name} of agent {label!r} must have shape {right} "
                f"(trials, recorded rounds, constraints: {expected}), got {shape}"
            )
