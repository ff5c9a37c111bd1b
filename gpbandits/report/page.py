"""The sections of a report, its page, and its files in the folder of the results."""

import dataclasses
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.figure import Figure

from bandit_envs.basics.files import write_whole
from gpbandits.evaluation.marks import PALETTE, Mark, marks_in
from gpbandits.evaluation.metrics import metrics_of
from gpbandits.evaluation.plots import alarm_figure, regret_figure, save_figure
from gpbandits.evaluation.result import Metric, Result, Scale
from gpbandits.evaluation.several import overview
from gpbandits.evaluation.stopping_table import stopping_table
from gpbandits.evaluation.table import Table
from gpbandits.experiments.store import STUDY, open_results
from gpbandits.experiments.study import EnvironmentEntry, Study
from gpbandits.report.across import EnvironmentsSection, View, across, reference_of, views
from gpbandits.report.chart import style_of
from gpbandits.report.holdings import Holdings
from gpbandits.report.tables import absence, comparison, growth, safety, spending, summary, timing

FIGURES: dict[str, tuple[Scale, Metric]] = {
    "regret-linear": ("linear", "cumulative"),
    "regret-log-log": ("log-log", "cumulative"),
    "simple-regret": ("log-log", "simple"),
}
FIGURES_OF_BUDGETS: dict[str, tuple[Scale, Metric]] = {"budget-regret": ("linear", "budget")}
FIGURES_OF_CONSTRAINTS: dict[str, tuple[Scale, Metric]] = {
    "average-regret": ("linear", "average"),
    "average-violation": ("linear", "average-violation"),
    "hard-violation": ("linear", "hard-violation"),
}


@dataclasses.dataclass(frozen=True)
class Section:
    """A section shows one environment, or one track of it."""

    environment: EnvironmentEntry
    result: Result
    numbers: Mapping[str, int]  # of the agents, for colour and dashes
    track: str = ""  # "" if there is at most one

    @property
    def name(self) -> str:
        """Return the name of the section's anchor and files."""
        return "-".join([self.environment.file_name, *self.track.split()])

    @property
    def title(self) -> str:
        """Return the heading."""
        return self.environment.label + (f", {self.track}" if self.track else "")

    @cached_property
    def tables(self) -> list[Table]:
        """Return the tables of the section, which are also written to files."""
        result = self.result
        kept: list[Metric] = ["hard-violation"] if result.num_constraints else []
        compared: list[Metric] = [result.main_metric, *kept]
        against = [comparison(result, metric) for metric in compared if len(result.agents) > 1]
        limits = [safety(result)] if result.num_constraints else []
        limits += [stopping_table(result).printed] if result.stopped else []
        limits += [spending(result)] if result.spent else []
        grown = [] if result.spent else [growth(result)]  # once a budget is spent no regret grows
        return [summary(result), *limits, *against, *grown, timing(result)]

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
        counts = [
            holdings.count(environment, agent, result)
            for environment, result in results
            for agent in study.agents
        ]
        found = [(environment, result) for environment, result in results if result is not None]
        numbers = {agent.label: number for number, agent in enumerate(study.agents)}
        sections = [
            Section(environment, part, numbers, track)
            for environment, result in found
            for track, part in result.by_track().items()
        ]
        reference = reference_of(study)
        together = across([result for _, result in found], numbers, reference) if reference else []
        overall = overview([result for _, result in found]) if len(found) > 1 else None
        missing = None if all(count.complete for count in counts) else absence(counts)
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
        templates = Environment(
            loader=PackageLoader("gpbandits.report"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
        )
        return templates.get_template("report.html").render(report=self, colours=PALETTE, style_of=style_of)


def write_report(folder: str | os.PathLike[str], figures: bool = True) -> Path:
    """Write `report.html`, `tables/` (CSV, LaTeX) and `figures/` (PNG, PDF), and return the path of the page.

    If cells of the folder are missing, the report says so and shows the others. The page has its own figures.
    """
    place = Path(folder)
    holdings = Holdings(*open_results(place))
    source = (place / STUDY).read_text(encoding="utf-8")
    report = Report.of(holdings, source, place)
    if not report.sections:
        raise ValueError(f"folder must hold at least one computed cell, got {place} with none; run the study")
    for name, table in report.tables:
        write_table(table, place / "tables", name)
    if figures:
        for section in report.sections:
            write_figures(section.result, place / "figures", section.name)
    page = place / "report.html"
    write_whole(page, report.html().encode())
    return page


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
    chosen = FIGURES | (FIGURES_OF_CONSTRAINTS if result.num_constraints else {})
    chosen |= FIGURES_OF_BUDGETS if result.spent else {}
    for track, part in result.by_track().items():
        label = f"{name}-{track.replace(' ', '-')}" if track else name
        for kind, (scale, metric) in chosen.items():
            _save(regret_figure(part, scale, metric), folder / f"{label}-{kind}", suffixes)
    if result.alarms:
        _save(alarm_figure(result), folder / f"{name}-alarms", suffixes)


def _save(figure: Figure, stem: Path, suffixes: tuple[str, ...]) -> None:
    for suffix in suffixes:
        save_figure(figure, stem.with_name(stem.name + suffix))
