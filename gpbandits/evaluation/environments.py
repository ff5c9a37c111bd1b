"""Results of the same agents on several environments: a table with the best in bold, panels and a frame."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bandit_envs.basics.arguments import from_extra, require, require_choice
from bandit_envs.basics.types import Floats
from gpbandits.evaluation import statistics
from gpbandits.evaluation.curves import Legend
from gpbandits.evaluation.formats import Style, footnotes, signs
from gpbandits.evaluation.measures import Metric, Scale, metric_named
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.table import Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

BUDGETED = ", of budget regret where plays have a cost,"
Finals = dict[str, Floats]  # (B,) an agent
_BEST = (
    "In bold (*): the least mean of a line, and all that do not differ significantly from it (sign flips on "
    "the same trials, Holm's correction for all lines of regret at error 5 %, and for all of violation); "
    "privileged and pretrained agents are left out."
)
_KEPT = (
    "Under constraints violation comes first: regret is in bold among the agents that are in bold in the "
    "line of violation."
)
_NONE = "These trials are too few for any difference to be significant, so all are in bold."


class Results(dict[str, Result]):
    """Results hold one `Result` an environment, by label, of the same agents.

    Example:
        >>> few = {"num_arms": 20, "horizon": 30}
        >>> places = {"GP": ("GPBandit-GP-v0", few), "RKHS": ("GPBandit-RKHS-v0", few)}
        >>> results = evaluate(places, ["gp-ucb", "random"], trials=2)
        >>> print(results.table())
        >>> regret = results["RKHS"].regret["gp-ucb"]
    """

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.values()))

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def join(self, more: Results) -> Results:
        """Return one of both: further environments, or in the same ones what `Result.join` joins.

        Example:
            >>> others = {"hard": ("GPBandit-Hard-v0", {"horizon": 30})}
            >>> both = results.join(evaluate(others, ["gp-ucb", "random"], trials=2))
        """
        require(isinstance(more, Results), "more", "results of several environments", more)
        joined = {x: each.join(more[x]) if x in more else each for x, each in self.items()}
        return Results({**joined, **{x: each for x, each in more.items() if x not in self}})

    def table(self, metric: Metric | None = None, style: Style = "interval") -> Table:
        """Return means at the horizon, a line an environment and a column an agent, the best in bold.

        Args:
            metric: by default regret, or budget regret where plays have a cost. Without one, environments
                with constraints have a line of violation before that of regret.
            style: see `Result.table`.
        """
        require_choice("style", style, ("interval", "±"))
        return overview(list(self.values()), metric, style)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        scale: Scale | None = None,
        metric: Metric | None = None,
        *,
        agents: Sequence[str] | None = None,
        size: str | tuple[float, float] | None = None,
        legend: Legend = "outside",
    ) -> Figure:
        """Draw a panel an environment, with one legend; the arguments are those of `Result.plot`."""
        with from_extra("eval", "figures"):
            from gpbandits.evaluation.panels import Panels
            from gpbandits.evaluation.plots import regret_figure, save_figure

        require(not isinstance(agents, str), "agents", "a list of labels", agents)
        chosen = {label: each if agents is None else each.select(agents) for label, each in self.items()}
        panels = Panels.new(len(chosen), max(len(each.agents) for each in chosen.values()), size)
        *_, last = chosen
        for axes, (label, result) in zip(panels.axes, chosen.items(), strict=True):
            own: Legend = False if legend == "outside" and label != last else legend
            shown = result.marked_as(chosen.values())  # since one legend, that of the last, serves all
            regret_figure(shown, scale, metric, ax=axes, title=label, legend=own, order=agents)
        return save_figure(panels.figure, path)

    def save(self, folder: str | os.PathLike[str], timings: bool = True) -> None:
        """Write one Parquet file an environment into a folder, which is made if it is missing.

        Args:
            folder: a folder without other Parquet files, so that `load` finds these environments alone.
            timings: see `Result.save`.

        Example:
            >>> results.save("results")
            >>> assert list(Results.load("results")) == list(results)
        """
        files = [f"{place:03d}.parquet" for place in range(len(self))]
        there = {path.name for path in Path(folder).glob("*.parquet")}
        require(there <= set(files), "folder", "one without other Parquet files", os.fspath(folder))
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, (label, each) in zip(files, self.items(), strict=True):
            dataclasses.replace(each, environment=label).save(Path(folder) / name, timings=timings)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Results:
        """Read a folder that `save` wrote; environments have their order, and every array is identical."""
        found = [Result.load(path) for path in sorted(Path(folder).glob("*.parquet"))]
        require(found, "folder", "one that `Results.save` wrote", os.fspath(folder))
        return cls({each.environment: each for each in found})

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row an environment, agent, trial and recorded round."""
        with from_extra("eval", "data frames"):
            import pandas as pd

        return pd.concat([each.to_frame() for each in self.values()], ignore_index=True)

    def to_csv(self) -> str:
        """Return the cells of the table as comma-separated values."""
        return self.table().to_csv()

    def to_markdown(self) -> str:
        """Return the table in Markdown, with its notes below."""
        return self.table().to_markdown()

    def to_latex(
        self, caption: str | None = None, label: str | None = None, columns: Sequence[str] | None = None
    ) -> str:
        """Return the table in LaTeX, with the rules of booktabs and the notes below; see `Table.to_latex`."""
        return self.table().to_latex(caption, label, columns)


def overview(results: Sequence[Result], metric: Metric | None = None, style: Style = "interval") -> Table:
    """Return the table of some environments, with lines of violation where there are costs and no metric."""
    asked = {i: each.asked for i, each in enumerate(results) if each.asked and metric is None}
    kept = {i: _finals(results[i], violation) for i, violation in asked.items()}
    among = _best([(values, _comparable(results[i])) for i, values in kept.items()])
    least = dict(zip(kept, among, strict=True))
    regret = [_finals(each, metric or each.main_metric) for each in results]
    best = _best([(regret[i], least.get(i, _comparable(each))) for i, each in enumerate(results)])
    lines: list[tuple[str, Finals, Collection[str]]] = []
    for i, each in enumerate(results):
        if i in asked:
            lines.append((f"{each.environment}: {metric_named(asked[i]).text}", kept[i], least[i]))
        lines.append((each.environment + (": regret" if i in asked else ""), regret[i], best[i]))
    labels = list(dict.fromkeys(label for each in results for label in each.agents))
    rows = tuple(
        (title, *(statistics.bootstrap_interval(values[x]) if x in values else None for x in labels))
        for title, values, _ in lines
    )
    bold = {(i, 1 + labels.index(x)) for i, (*_, own) in enumerate(lines) for x in own if len(labels) > 1}
    header = ("environment", *(label + signs(label, *results) for label in labels))
    # All may be best only because sign flips of so few trials can reject nothing.
    comparable = [set(_comparable(each)) for each in results]
    smallest = 2.0 ** (1 - max(each.num_trials for each in results))  # p-value, before Holm's correction
    count = sum(len(each) - 1 for each in comparable)
    undecided = count * smallest > 1 - statistics.LEVEL and comparable == best
    notes = _notes(results, undecided, metric, style)
    return Table("All environments", header, rows, notes, frozenset(bold), "environments", style=style)


def _finals(result: Result, metric: Metric) -> Finals:
    return {label: curve[:, -1] for label, curve in result.curves(metric).items()}


def _comparable(result: Result) -> list[str]:
    return [label for label in result.agents if result.comparable(label)] or result.agents


def _best(lines: Sequence[tuple[Finals, Collection[str]]]) -> list[set[str]]:
    """Return the least of some agents in each line, and what does not differ from it; all tested together."""
    least = [min(among, key=lambda x: float(values[x].mean())) for values, among in lines]
    tests = [(i, label) for i, (_, among) in enumerate(lines) for label in among if label != least[i]]
    differ = statistics.significant_signs([(lines[i][0][label], lines[i][0][least[i]]) for i, label in tests])
    best = [{label} for label in least]
    for (i, label), sign in zip(tests, differ, strict=True):
        if sign == 0:
            best[i].add(label)
    return best


def _notes(
    results: Sequence[Result], undecided: bool, metric: Metric | None, style: Style
) -> tuple[str, ...]:
    trials = sorted({each.num_trials for each in results})
    several = " to ".join(map(str, trials[:: max(len(trials) - 1, 1)]))
    kinds = "cumulative regret at the horizon" + BUDGETED * any(each.spent for each in results)
    kinds = kinds if metric is None else f"{metric_named(metric).text} at the horizon"
    ends = "with" if style == "interval" else "± half the width of"
    interval = f"{ends} 95 % BCa bootstrap intervals ({statistics.RESAMPLES} resamples)"
    notes = {
        f"Means of {kinds} over {several} trials, {interval}.": True,
        _BEST: any(len(each.agents) > 1 for each in results),
        _KEPT: metric is None and any(each.asked for each in results),
        _NONE: undecided,
        statistics.FEW: 1 < trials[0] < statistics.ENOUGH,
    }
    return (*(note for note, applies in notes.items() if applies), *footnotes(*results))
