"""The result of an evaluation: every agent's record on the same trials."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bandit_envs.basics.arguments import from_extra, require
from bandit_envs.basics.files import check_path, sweep_beside
from bandit_envs.basics.notebook import printable
from gpbandits.evaluation.curves import Axis, Curves, Legend, to_dataset
from gpbandits.evaluation.formats import Style
from gpbandits.evaluation.measures import Metric, Overlay, Scale
from gpbandits.evaluation.record import Record, join_trials
from gpbandits.evaluation.stamp import brief, signed

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gpbandits.evaluation.table import Table
    from gpbandits.logs.log import PlayLog

MOST = 20  # agents that are named
LONGEST = 60  # characters of a label


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


__all__ = ["Metric", "Record", "Result", "Scale", "join_trials"]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Result(Curves):
    """A result holds curves of agents, see `SharedTrials`, with their tables, figures and files.

    `logs` has the log of each trial by label, if `evaluate` was asked for them. Files of `save` have none; a
    log has a `save` of its own.
    """

    logs: Mapping[str, tuple[PlayLog, ...]] = dataclasses.field(default_factory=dict)

    def __repr__(self) -> str:
        """Return trials, rounds, seed, and each agent's mean regret and, with constraints, violation."""
        trials = "1 trial" if self.num_trials == 1 else f"{self.num_trials} trials"
        finals = {label: float(regret[:, -1].mean()) for label, regret in self.main.items()}
        asked = self.curves(self.asked) if self.asked else {}
        beside = {label: f", {curve[:, -1].mean():.4g}" for label, curve in asked.items()}
        lines = [
            f"  {_short(self.marked(label))}: {finals[label]:.4g}{beside.get(label, '')}"
            for label in self.ordered[:MOST]
        ]
        played = f"{trials} of {self.horizon} rounds, seed {self.seed}"
        what = "mean budget regret" if self.spent else "mean regret"
        what += f", mean {self.asked.replace('_', ' ')}" if self.asked else ""
        first = f"Result of {_short(self.environment)}, {played}; {what}:"
        left = len(finals) - MOST
        more = [f"  and {left} more agents"] if left > 0 else []
        origins = [f"  {printable(line)}" for line in brief(self.origins[:MOST])]
        return "\n".join([printable(first), *map(printable, lines), *more, *origins])

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def table(
        self,
        columns: Sequence[str] | None = None,
        *,
        baseline: str | None = None,
        style: Style = "interval",
        sort: str | None = None,
        metric: Metric | None = None,
    ) -> Table:
        """Return last values with intervals, and differences to a baseline, one row an agent.

        Args:
            columns: names of metrics and of `gpbandits.evaluation.columns.COLUMNS`, such as ["regret",
                "difference", "simple_regret"]; by default the most useful. On a terminal that is too narrow
                headings break between words, then intervals stand below their estimates; of the default
                columns some are then left out, and others continue in a further block.
            baseline: the agent to which differences are; by default the first in order that is comparable.
            style: "interval" for [low, high], or "±" for half the interval's width.
            sort: name of a column whose least is first, or with a leading "-" whose greatest is; "given" for
                the order in which agents were passed. By default by `metric`, or without one in the order
                of `ordered`, in which violation decides before regret.
            metric: metric of medians and differences; by default `main_metric`.

        Example:
            >>> few = {"num_arms": 20, "horizon": 30}
            >>> result = evaluate("GPBandit-GP-v0", ["gp-ucb", "random"], trials=2, env_kwargs=few)
            >>> print(result.table(["regret", "difference"], baseline="random", style="±"))
        """
        from gpbandits.evaluation.columns import result_table

        return result_table(self, columns, baseline, style, sort, metric)

    def join(self, more: Result) -> Result:
        """Return one result of the same agents on more trials, or of more agents on the same trials.

        Both must be of one evaluation: environment, seed, entropy and recorded rounds are compared, and the
        fingerprints of the environments; trials of the same agents, whose options are compared where all
        agents are joined, must follow each other.

        Args:
            more: another result, such as one of `evaluate(..., first_trial=result.num_trials)`.

        Example:
            >>> few = {"num_arms": 20, "horizon": 30}
            >>> result = evaluate("GPBandit-GP-v0", ["gp-ucb"], trials=2, env_kwargs=few)
            >>> others = evaluate("GPBandit-GP-v0", ["random"], trials=2, env_kwargs=few)
            >>> assert result.join(others).agents == ["gp-ucb", "random"]
        """
        from gpbandits.evaluation.comparison import join

        require(isinstance(more, Result), "more", "a result", more)
        made = join(self, more)
        first, second = sorted((self, more), key=lambda each: each.first_trial)
        logs = {x: (*first.logs.get(x, ()), *second.logs.get(x, ())) for x in made.agents}
        return dataclasses.replace(
            made, logs={x: each for x, each in logs.items() if len(each) == made.num_trials}
        )

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        scale: Scale | None = None,
        metric: Metric | Sequence[Metric] | None = None,
        bounds: Sequence[Overlay] = (),
        *,
        x: Axis = "round",
        agents: Sequence[str] | None = None,
        ax: Axes | Sequence[Axes] | None = None,
        size: str | tuple[float, float] | None = None,
        title: str | None = None,
        legend: Legend = "outside",
        inset: bool = False,
        highlight: Sequence[str] | None = None,
    ) -> Figure:
        """Draw the mean of a metric with its 95 % interval; a notebook displays the figure.

        Args:
            path: path of a .png, .pdf or .svg file to write; by default no file.
            scale: scale of the axes. None is "linear", with a logarithmic vertical axis of simple regret.
            metric: the metric, or several with a panel each. None is `main_metric`: cumulative regret, or
                budget regret where plays have a cost.
            bounds: bounds of theorems, made by `gpbandits.theory.overlays.bound`; rates need "log-log" axes,
                on which they are slopes.
            x: "round", or "spent" for the cost of plays where there is a budget.
            agents: labels of the agents to draw, in this order; by default all, in the order of tables.
            ax: existing axes, one a metric, instead of a new figure.
            size: "column" (3.3 inches wide) or "page" (6.9) for print, with the legend beneath and text of
                7 points; or width and height in inches.
            title: title of the figure; by default the environment.
            legend: "outside" draws it beside or beneath the axes, inside of given ones; "direct" writes
                labels at the ends of the curves, and False draws none.
            inset: draw curves again, enlarged, where a much higher one flattens them.
            highlight: labels of the agents in colour, others being grey; by default all are in colour.

        Returns:
            The matplotlib figure, which may be modified.
        """
        with from_extra("eval", "figures"):
            from gpbandits.evaluation.plots import regret_figure, save_figure

        require(not isinstance(agents, str), "agents", "a list of labels", agents)
        known = highlight is None or (not isinstance(highlight, str) and {*highlight} <= {*self.agents})
        require(known, "highlight", f"a list of some of {', '.join(self.agents)}", highlight)
        shown = self if agents is None else self.select(agents)
        look: dict[str, Any] = {"x": x, "ax": ax, "size": size, "title": title, "legend": legend}
        look |= {"inset": inset, "order": agents, "highlight": highlight}
        return save_figure(regret_figure(shown, scale, metric, bounds, **look), path)

    def plot_learning(
        self,
        learners: Mapping[str, Any],
        path: str | os.PathLike[str] | None = None,
        *,
        points: int = 40,
        ax: Axes | None = None,
        size: str | tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Figure:
        """Draw regret a round while learners train, beside that of the result's agents as horizontal lines.

        Learners from scratch and marked policies, trained beforehand, may be among the lines.

        Args:
            learners: label -> a `RegretCallback` with which a model of stable-baselines3 has learnt, or
                several of different seeds, whose mean has a band, its 95 % interval.
            path: path of a .png, .pdf or .svg file to write; by default no file.
            points: stretches of training over which regret is averaged.
            ax: existing axes instead of a new figure.
            size: see `plot`.
            title: title of the figure; by default the environment.

        Example:
            >>> result.plot_learning({"PPO": callbacks}, "learning.png")  # doctest: +SKIP
        """
        with from_extra("eval", "figures"):
            from gpbandits.evaluation.plots import learning_figure, save_figure

        return save_figure(
            learning_figure(self, learners, points=points, ax=ax, size=size, title=title), path
        )

    def detection_table(self) -> Table:
        """Return detection delay, missed changes and false alarms of each detecting agent."""
        from gpbandits.evaluation.tables import detection_table

        return detection_table(self)

    def safety_table(self) -> Table:
        """Return unsafe plays, their first round, the share of runs with any, and coverage of each agent."""
        from gpbandits.evaluation.tables import safety

        return safety(self, sized=False)

    def stopping_table(self, price: float | None = None) -> Table:
        """Return when each rule of `stopping` would have stopped, at what regret and cost.

        Args:
            price: charges the same for all rules; by default each its own, and none of a rule without one.
        """
        from gpbandits.evaluation.tables import stopping_table

        return stopping_table(self, price)

    def plot_alarms(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the frequency of each agent's alarms over time, into a .png, .pdf or .svg file if given."""
        with from_extra("eval", "figures"):
            from gpbandits.evaluation.plots import alarm_figure, save_figure

        return save_figure(alarm_figure(self), path)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row an agent, trial and recorded round."""
        with from_extra("eval", "data frames"):
            from gpbandits.evaluation.parquet import to_table

            frame = to_table(self).to_pandas()
        frame.insert(0, "environment", self.environment)
        return frame

    def to_xarray(self) -> xr.Dataset:
        """Return an xarray Dataset with the axes agent, trial and round.

        Regret, simple regret, each round's regret, violation, action and, with constraints, costs; `seconds`
        by agent and trial.
        """
        return to_dataset(self)

    def save(
        self, path: str | os.PathLike[str], metadata: Mapping[str, Any] | None = None, timings: bool = True
    ) -> None:
        """Write one Parquet file, whole or not at all.

        Args:
            path: path of the file, which is replaced if it exists.
            metadata: further metadata that can be written as JSON.
            timings: write `seconds`, and `origins` with commit, digests of the code, versions and time;
                without them equal numbers give equal bytes, and `load` returns NaN and no origins.
        """
        with from_extra("eval", "files of results"):
            from gpbandits.evaluation.parquet import write

        check_path("path", path)
        sweep_beside(path)
        write(self, path, metadata or {}, timings, [signed(each) for each in self.origins if timings])

    @staticmethod
    def load(path: str | os.PathLike[str], max_bytes: int | None = None) -> Result:
        """Read a file that `save` wrote; every array is identical, and `origins` says which code played it.

        Args:
            path: path of the file.
            max_bytes: limit of the file, and of its table in memory; by default 4 GiB.
        """
        with from_extra("eval", "files of results"):
            from gpbandits.evaluation.parquet import MAX_BYTES, read_with_metadata

        return read_with_metadata(path, Result, MAX_BYTES if max_bytes is None else max_bytes)[0]
