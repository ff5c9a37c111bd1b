"""The page of a report has one section an environment, sections across environments, and the provenance."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from gpbandits.evaluation.marks import Mark, marks_in
from gpbandits.evaluation.metrics import metrics_of
from gpbandits.evaluation.result import Metric, Result
from gpbandits.evaluation.styles import PALETTE
from gpbandits.experiments.study import EnvironmentEntry, Study
from gpbandits.report.across import Across, across, reference_of
from gpbandits.report.chart import style_of
from gpbandits.report.grid import Grid
from gpbandits.report.holdings import Holdings
from gpbandits.report.tables import absence, comparison, growth, safety, spending, summary, timing
from gpbandits.report.views import View, views


@dataclasses.dataclass(frozen=True)
class Section:
    """A section shows one environment, or one track of it.

    Args:
        environment: the environment in the study.
        result: the result that is shown.
        numbers: number of each agent of the study, for colour and dashes.
        track: name of the track, "" if there is at most one.
    """

    environment: EnvironmentEntry
    result: Result
    numbers: Mapping[str, int]
    track: str = ""

    @property
    def name(self) -> str:
        """Return the name of the section's anchor and files."""
        return "-".join([self.environment.file_name, *self.track.split()])

    @property
    def title(self) -> str:
        """Return the heading."""
        return self.environment.label + (f", {self.track}" if self.track else "")

    @cached_property
    def tables(self) -> list[Grid]:
        """Return the tables of the section, which are also written to files."""
        result = self.result
        kept: list[Metric] = ["hard-violation"] if result.num_constraints else []
        compared: list[Metric] = [result.main_metric, *kept]
        against = [comparison(result, metric) for metric in compared if len(result.agents) > 1]
        limits = [safety(result)] if result.num_constraints else []
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
    """A report collects the content of a page about a folder of results.

    Args:
        study: the study of the folder.
        source: the text of the study's file.
        folder: folder of the results, shown in the command that runs the study again.
        sections: one for each environment with results, or for each track of it.
        across: comparisons across environments, one for each track.
        missing: table of missing trials; None if nothing is missing.
        holdings: the cells.
    """

    study: Study
    source: str
    folder: Path
    sections: list[Section]
    across: list[Across]
    missing: Grid | None
    holdings: Holdings

    @staticmethod
    def of(holdings: Holdings, source: str, folder: Path) -> Report:
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
        missing = None if all(count.complete for count in counts) else absence(counts)
        return Report(study, source, folder, sections, together, missing, holdings)

    @property
    def tables(self) -> Iterator[tuple[str, Grid]]:
        """Yield every table with the stem of its files."""
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
