"""What an evaluation returns: every agent's record on the same trials of one environment."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bandit_envs.basics.extras import from_extra
from gpbandits.evaluation.curves import Axis, Curves, Metric, Scale
from gpbandits.evaluation.overlay import Overlay
from gpbandits.evaluation.record import Record, join_trials

if TYPE_CHECKING:
    import pandas as pd

    from gpbandits.evaluation.table import Table

__all__ = ["Metric", "Record", "Result", "Scale", "join_trials"]


@dataclasses.dataclass(frozen=True, eq=False)
class Result(Curves):
    """Agents' curves on the same trials of one environment, with tables, figures and files of them.

    The arguments are those of `Comparison`.
    """

    def table(self, baseline: str | None = None) -> Table:
        """Final regret of each agent with intervals; differences are to `baseline`, or to the best agent."""
        from gpbandits.evaluation.table import Table, summarise

        return Table.of(self, summarise(self, baseline))

    def plot(
        self,
        path: str | os.PathLike[str],
        scale: Scale = "linear",
        metric: Metric = "cumulative",
        bounds: Sequence[Overlay] = (),
        x: Axis = "round",
    ) -> None:
        """Draw the mean of a metric with its interval into a .png, .pdf or .svg file.

        Args:
            path: of the file.
            scale, metric: what is drawn, on which axes.
            bounds: what theory says beside it, by `gpbandits.theory.overlays.bound`; rates ask for "log-log"
                axes, on which they are slopes.
            x: "round", or "spent" for what plays have cost, where there is a budget.
        """
        with from_extra("eval", "figures"):
            from gpbandits.evaluation.plots import regret_figure, save_figure

        save_figure(regret_figure(self, scale, metric, bounds, x), path)

    def detection_table(self) -> Table:
        """Detection delay, missed changes and false alarms of each agent that detects."""
        from gpbandits.evaluation.table import detection_table

        return detection_table(self)

    def safety_table(self) -> Table:
        """Unsafe plays of each agent, when the first one came, and the share of runs with any."""
        from gpbandits.evaluation.table import safety_table

        return safety_table(self)

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

        return read(path, Result)
