"""The sections of a report, its page, and its files in the folder of the results."""

import dataclasses
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
from matplotlib.figure import Figure

from bandit_envs.basics.files import write_whole
from gpbandits.evaluation import tables
from gpbandits.evaluation.columns import fitting, require_columns
from gpbandits.evaluation.environments import overview
from gpbandits.evaluation.formats import PALETTE, Mark, marks_in
from gpbandits.evaluation.measures import metric_named, metrics_of
from gpbandits.evaluation.plots import alarm_figure, regret_figure, save_figure, visible
from gpbandits.evaluation.result import Metric, Result, Scale
from gpbandits.evaluation.statistics import bootstrap_interval
from gpbandits.evaluation.table import Table
from gpbandits.experiments.store import STUDY, open_results
from gpbandits.experiments.study import EnvironmentEntry, Study
from gpbandits.report.chart import Line, line_chart, rendered, style_of
from gpbandits.report.entrants import REFERENCE
from gpbandits.report.holdings import Holdings
from gpbandits.report.standings import LOSSLESS, THRESHOLDS, Standings, has_loss

FIGURES: dict[str, tuple[Scale, Metric]] = {
    "regret-linear": ("linear", "regret"),
    "regret-log-log": ("log-log", "regret"),
    "simple_regret": ("log-log", "simple_regret"),
    "average_regret": ("linear", "average_regret"),  # beside violations alone
    "average_violation": ("linear", "average_violation"),
    "hard_violation": ("linear", "hard_violation"),
    "budget_regret": ("linear", "budget_regret"),
}
_POINTS = 60  # of a curve, few because a page holds all views of all environments


class View(NamedTuple):
    """A view is the drawing of a measure on a scale."""

    metric: Metric
    scale: Scale
    svg: str


def views(result: Result, numbers: Mapping[str, int]) -> list[View]:
    """Draw every measure on every scale: the mean over trials and its 95 % bootstrap interval."""
    shown = []
    for metric, scale in product(metrics_of(result), get_args(Scale)):
        index, text = visible(result.rounds, scale, _POINTS), metric_named(metric).text
        rounds = result.rounds[index].astype(float)
        lines = [
            Line(numbers[label], result.marked(label), rounds, *bootstrap_interval(curve[:, index]))
            for label, curve in result.curves(metric).items()
        ]
        title = f"{text} on {result.environment}, {scale} axes"
        shown.append(View(metric, scale, line_chart(lines, scale, title, "round", text)))
    return shown


def titled(stem: str, heading: str, track: str) -> tuple[str, str]:
    """Return the name of a section's anchor and files, and its heading; no track ("") is not named."""
    return "-".join([stem, *track.split()]), heading + (f", {track}" if track else "")


@dataclasses.dataclass(frozen=True)
class EnvironmentsSection:
    """A section ranks the agents of one track; those of different tracks are not comparable."""

    name: str  # of its anchor and files
    title: str
    standings: Standings
    numbers: Mapping[str, int]  # of the agents, for colour and dashes

    @cached_property
    def tables(self) -> list[Table]:
        """Return the tables of the section, which are also written to files."""
        return [self.standings.overall(), self.standings.improvement()]

    @property
    def svg(self) -> str:
        """Draw the performance profiles."""
        ranked = self.standings
        lines = [
            Line(number, ranked.marked(label), THRESHOLDS, *ranked.profile(label))
            for label, number in self.numbers.items()
            if label in ranked.agents
        ]
        return line_chart(lines, "linear", "Performance profiles", "score τ", "share of trials above τ")

    @property
    def start(self) -> int:
        """Return the index of the threshold shown first, 0.5, halfway to optimal play."""
        return int(np.abs(THRESHOLDS - 0.5).argmin())

    @property
    def legend(self) -> list[tuple[int, str]]:
        """Return the number and label of each agent, best rank first."""
        return [(self.numbers[label], self.standings.marked(label)) for label in self.standings.agents]


def across(
    results: Sequence[Result], numbers: Mapping[str, int], reference: str
) -> list[EnvironmentsSection]:
    """Return a section for each track with results of the reference agent on at least two environments."""
    tracks = {label: track for result in results for label, track in result.tracks.items()}
    several = sorted(set(tracks.values()))
    names = several if len(several) > 1 else [""]
    sections = []
    for track in names:
        entered = [[x for x in each.agents if not track or tracks.get(x, track) == track] for each in results]
        played = [
            each.select(labels) for each, labels in zip(results, entered, strict=True) if reference in labels
        ]
        kept = [part for part in played if has_loss(part, reference)]
        notes = [f"Left out: {part.environment}; {LOSSLESS}." for part in played if part not in kept]
        if len(kept) > 1:
            named = titled("across", "Across environments", track)
            sections.append(EnvironmentsSection(*named, Standings(kept, reference, notes), numbers))
    return sections


@dataclasses.dataclass(frozen=True)
class Section:
    """A section shows one environment, or one track of it."""

    name: str  # of its anchor and files
    title: str
    environment: EnvironmentEntry
    result: Result
    numbers: Mapping[str, int]  # of the agents, for colour and dashes
    columns: Sequence[str] = ()  # of the summary; by default the usual ones
    baseline: str = ""  # to which differences are; by default that of the result

    @cached_property
    def tables(self) -> list[Table]:
        """Return the tables of the section, which are also written to files."""
        result = self.result
        kept: list[Metric] = ["hard_violation"] if result.num_constraints else []
        compared: list[Metric] = [result.main_metric, *kept]
        asked = fitting(result, self.columns, self.baseline)
        baseline = asked["baseline"]
        against = [
            tables.comparison(result, metric, baseline) for metric in compared if len(result.agents) > 1
        ]
        limits = [tables.safety(result)] if result.num_constraints else []
        limits += [tables.stopping_table(result)] if result.stopped else []
        limits += [tables.spending(result)] if result.spent else []
        grown = [] if result.spent else [tables.growth(result)]  # once a budget is spent no regret grows
        return [tables.summary(result, **asked), *limits, *against, *grown, tables.timing(result)]

    @property
    def views(self) -> list[View]:
        """Draw every measure on every scale."""
        return views(self.result, self.numbers)

    @property
    def metrics(self) -> dict[Metric, str]:
        """Return the measures that the reader can choose from, with their names."""
        return {name: each.text for name, each in metrics_of(self.result).items()}

    @property
    def legend(self) -> list[tuple[int, str]]:
        """Return the number and label of each agent, in the order of the summary."""
        return [(self.numbers[label], self.result.marked(label)) for label in self.result.ordered]


@dataclasses.dataclass(frozen=True)
class Report:
    """A report collects the content of a page about a folder of results."""

    study: Study
    source: str  # text of the study's file
    folder: Path  # shown in the command that runs the study again
    sections: list[Section]
    overview: Table | None  # of all environments; None if there is one
    across: list[EnvironmentsSection]
    missing: Table | None  # trials; None if nothing is missing
    holdings: Holdings

    @staticmethod
    def of(holdings: Holdings, source: str, folder: Path) -> "Report":
        """Collect the report from the holdings."""
        study = holdings.study
        results = [(environment, holdings.result(environment)) for environment in study.environments]
        lacking: list[tuple[str | int, ...]] = []
        for (environment, result), agent in product(results, study.agents):
            shown = result.num_trials if result is not None and agent.label in result.agents else 0
            if shown < study.trials:
                done, failed, _ = holdings.count(environment, agent)
                lacking.append((environment.label, agent.label, done, failed, shown, study.trials))
        found = [(environment, result) for environment, result in results if result is not None]
        numbers = {agent.label: number for number, agent in enumerate(study.agents)}
        sections = [
            Section(*titled(x.file_name, x.label, track), x, part, numbers, study.columns, study.baseline)
            for x, result in found
            for track, part in result.by_track().items()
        ]
        reference = next((agent.label for agent in study.agents if agent.name == REFERENCE), None)
        together = across([result for _, result in found], numbers, reference) if reference else []
        overall = overview([result for _, result in found]) if len(found) > 1 else None
        missing = tables.absence(lacking) if lacking else None
        return Report(study, source, folder, sections, overall, together, missing, holdings)

    @property
    def tables(self) -> Iterator[tuple[str, Table]]:
        """Yield every table with the stem of its files."""
        if self.overview:
            yield self.overview.name, self.overview
        for section in (*self.across, *self.sections):
            yield from ((f"{section.name}-{table.name}", table) for table in section.tables)

    @property
    def marks(self) -> list[Mark]:
        """Return the marks that follow labels, with their meaning."""
        return marks_in(section.result for section in self.sections)

    def html(self) -> str:
        """Return the page as HTML, which needs no other file and no network."""
        folder = shlex.quote(self.folder.name)  # in commands
        values = {"report": self, "folder": folder, "colours": PALETTE, "style_of": style_of}
        return rendered("gpbandits.report", "report.html", **values)


def write_report(
    folder: str | os.PathLike[str],
    figures: bool = True,
    columns: Sequence[str] | None = None,
    baseline: str | None = None,
) -> Path:
    """Write `report.html`, `tables/` (CSV, LaTeX) and `figures/` (PNG, PDF), and return the path of the page.

    If cells of the folder are missing, the report says so and shows the others. The page has its own figures.
    Columns of summaries, and the baseline of differences, are by default those of the study.
    """
    place = Path(folder)
    study, store = open_results(place)
    if columns is not None:
        study = dataclasses.replace(study, columns=require_columns(columns))
    if baseline is not None:
        study = dataclasses.replace(study, baseline=baseline)
    holdings = Holdings(study, store)
    source = (place / STUDY).read_text(encoding="utf-8")
    report = Report.of(holdings, source, place)
    if not report.sections:
        raise ValueError(f"folder must hold at least one computed cell, got {place} {_without(holdings)}")
    for name, table in report.tables:
        write_table(table, place / "tables", name)
    if figures:
        for section in report.sections:
            write_figures(section.result, place / "figures", section.name)
    page = place / "report.html"
    write_whole(page, report.html().encode())
    return page


def _without(holdings: Holdings) -> str:
    """Say why a folder has no cell to report, and what to do."""
    faults = list(holdings.store.survey(holdings.study).faults.values())
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"with none: {faults[0]}{more}" if faults else "with none; run the study"


def write_table(table: Table, folder: Path, name: str) -> None:
    """Write a table as CSV and as LaTeX."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{name}.csv", table.to_csv().encode())
    write_whole(folder / f"{name}.tex", table.to_latex().encode())


def write_figures(
    result: Result, folder: Path, name: str, suffixes: tuple[str, ...] = (".png", ".pdf")
) -> None:
    """Write the curves of each track and, where they apply, of violation and budget, and the alarms."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = metrics_of(result).keys() - (set() if result.num_constraints else {"average_regret"})
    chosen = {kind: each for kind, each in FIGURES.items() if each[1] in shown}
    for track, part in result.by_track().items():
        label = f"{name}-{track.replace(' ', '-')}" if track else name
        for kind, (scale, metric) in chosen.items():
            _save(regret_figure(part, scale, metric), folder / f"{label}-{kind}", suffixes)
    if result.alarms:
        _save(alarm_figure(result), folder / f"{name}-alarms", suffixes)


def _save(figure: Figure, stem: Path, suffixes: tuple[str, ...]) -> None:
    for suffix in suffixes:
        save_figure(figure, stem.with_name(stem.name + suffix))
