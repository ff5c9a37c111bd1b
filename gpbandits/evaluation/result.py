"""What an evaluation returns: every agent's record on the same trials of one environment."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bandit_envs.basics.extras import from_extra
from bandit_envs.basics.types import Ints
from gpbandits.evaluation.curves import Curves, Metric
from gpbandits.evaluation.record import Record, join_trials

if TYPE_CHECKING:
    import pandas as pd

    from gpbandits.evaluation.table import Table

__all__ = ["Metric", "Record", "Result", "Scale", "join_trials"]

Scale = Literal["linear", "log-log"]
PRETRAINED = "pretrained"  # the track of policies that have learnt on other functions


@dataclasses.dataclass(frozen=True, eq=False)
class Result(Curves):
    """Agents' curves on the same trials of one environment: parts of them, tables, figures and files.

    The arguments are those of `Curves`.
    """

    @property
    def pretrained(self) -> frozenset[str]:
        """Labels of the agents that were trained beforehand on other functions."""
        return frozenset(label for label, track in self.tracks.items() if track == PRETRAINED)

    def marked(self, label: str) -> str:
        """The label as tables and figures print it: † if the agent is privileged, ‡ if pretrained."""
        return label + "†" * (label in self.privileged) + "‡" * (label in self.pretrained)

    def by_track(self) -> dict[str, Result]:
        """A result of each track, with the agents of that track and those of none, which are in both.

        {"": self} where there is one track at most.
        """
        tracks = sorted(set(self.tracks.values()))
        if len(tracks) < 2:
            return {"": self}
        return {
            track: self.select([x for x in self.agents if self.tracks.get(x, track) == track])
            for track in tracks
        }

    def select(self, labels: Sequence[str]) -> Result:
        """The result of some of the agents, in this order."""
        if unknown := [label for label in labels if label not in self.records]:
            raise ValueError(f"unknown agent {unknown[0]!r}; choose among {', '.join(self.agents)}")
        return dataclasses.replace(
            self,
            records={label: self.records[label] for label in labels},
            privileged=self.privileged & set(labels),
            tracks={label: track for label, track in self.tracks.items() if label in labels},
        )

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
        from gpbandits.evaluation.table import Table, summarise

        return Table.of(self, summarise(self, baseline))

    def plot(
        self, path: str | os.PathLike[str], scale: Scale = "linear", metric: Metric = "cumulative"
    ) -> None:
        """Draw the mean of a metric with its interval into a .png, .pdf or .svg file."""
        with from_extra("eval", "figures"):
            from gpbandits.evaluation.plots import regret_figure, save_figure

        save_figure(regret_figure(self, scale, metric), path)

    def detection_table(self) -> Table:
        """Detection delay, missed changes and false alarms of each agent that detects."""
        from gpbandits.evaluation.table import detection_table

        return detection_table(self)

    def plot_alarms(self, path: str | os.PathLike[str]) -> None:
        """Draw how often each agent alarms over time into a .png, .pdf or .svg file."""
        with from_extra("eval", "figures"):
            from gpbandits.evaluation.plots import alarm_figure, save_figure

        save_figure(alarm_figure(self), path)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row an agent, trial and recorded round."""
        with from_extra("eval", "data frames"):
            from gpbandits.evaluation.parquet import to_table

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
            from gpbandits.evaluation.parquet import write

        write(self, path, metadata or {}, timings)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Result:
        """Read what `save` wrote; every array is identical."""
        with from_extra("eval", "files of results"):
            from gpbandits.evaluation.parquet import read

        return read(path)
