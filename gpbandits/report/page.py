"""What a report says, section by section, and the page that says it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from gpbandits.evaluation.marks import Mark, marks_in
from gpbandits.evaluation.result import Metric, Result
from gpbandits.evaluation.styles import PALETTE
from gpbandits.experiments.study import EnvironmentEntry, Study
from gpbandits.report.across import Across, across, reference_of
from gpbandits.report.chart import style_of
from gpbandits.report.grid import Grid
from gpbandits.report.holdings import Holdings
from gpbandits.report.tables import absence, comparison, growth, safety, spending, summary, timing
from gpbandits.report.views import View, metrics_of, views


@dataclasses.dataclass(frozen=True)
class Section:
    """One environment of a report, or one track of it.

    Args:
        environment: as in the study.
        result: what is shown of it.
        numbers: of the study's agents, for colour and dashes.
        track: "" where there is one at most.
    """

    environment: EnvironmentEntry
    result: Result
    numbers: Mapping[str, int]
    track: str = ""

    @property
    def name(self) -> str:
        """Of its place in the page and of its files."""
        return "-".join([self.environment.file_name, *self.track.split()])

    @property
    def title(self) -> str:
        """The heading."""
        return self.environment.label + (f", {self.track}" if self.track else "")

    @cached_property
    def tables(self) -> list[Grid]:
        """What the section prints, and the folder of tables keeps."""
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
        """Every measure on every scale, drawn."""
        return views(self.result, self.numbers)

    @property
    def metrics(self) -> dict[Metric, str]:
        """The measures one can choose from."""
        return metrics_of(self.result)

    @property
    def legend(self) -> list[tuple[int, str]]:
        """Number and label of each agent, in the order of the summary."""
        return [(self.numbers[label], self.result.marked(label)) for label in self.result.ordered]


@dataclasses.dataclass(frozen=True)
class Report:
    """All that is said about a folder of results.

    Args:
        study: as it was asked for.
        source: the text of its file.
        folder: of the results, for the command that runs it again.
        sections: one an environment of which something is there, or one a track of it.
        across: all environments together, one a track.
        missing: what is not there; None if nothing is missing.
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
        """Collect what the holdings have."""
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
        """Every table with the name of its files."""
        for section in (*self.across, *self.sections):
            yield from ((f"{section.name}-{table.name}", table) for table in section.tables)

    @property
    def marks(self) -> list[Mark]:
        """What the signs behind labels say."""
        return marks_in(section.result for section in self.sections)

    def html(self) -> str:
        """One page that needs no other file and no network."""
        templates = Environment(
            loader=PackageLoader("gpbandits.report"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
        )
        return templates.get_template("report.html").render(report=self, colours=PALETTE, style_of=style_of)
