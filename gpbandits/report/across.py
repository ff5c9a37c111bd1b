"""The sections of a report: views of a result, and all environments together."""

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, get_args

import numpy as np

from gpbandits.evaluation.metrics import METRICS, metric_named, metrics_of
from gpbandits.evaluation.plots import visible
from gpbandits.evaluation.result import Metric, Result, Scale
from gpbandits.evaluation.statistics import ENOUGH, bootstrap_interval
from gpbandits.evaluation.table import Table
from gpbandits.experiments.study import Study
from gpbandits.report.chart import Line, line_chart
from gpbandits.report.entrants import REFERENCE
from gpbandits.report.standings import INDISTINCT, THRESHOLDS, Standings, distinct, has_loss

NAMES: dict[Metric, str] = {name: each.text for name, each in METRICS.items()}
_POINTS = 60  # of a curve, few because a page holds all views of all environments


class View(NamedTuple):
    """A view is the drawing of a measure on a scale."""

    metric: Metric
    scale: Scale
    svg: str


def views(result: Result, numbers: Mapping[str, int]) -> list[View]:
    """Draw every measure on every scale: the mean over trials and its 95 % bootstrap interval."""
    return [
        View(metric, scale, _drawn(result, numbers, metric, scale))
        for metric in metrics_of(result)
        for scale in get_args(Scale)
    ]


def _drawn(result: Result, numbers: Mapping[str, int], metric: Metric, scale: Scale) -> str:
    index = visible(result.rounds, scale, _POINTS)
    rounds = result.rounds[index].astype(float)
    lines = [
        Line(numbers[label], result.marked(label), rounds, *bootstrap_interval(curve[:, index]))
        for label, curve in result.curves(metric).items()
    ]
    text = metric_named(metric).text
    return line_chart(lines, scale, f"{text} on {result.environment}, {scale} axes", "round", text)


@dataclasses.dataclass(frozen=True)
class EnvironmentsSection:
    """A section ranks the agents of one track; those of different tracks are not comparable."""

    standings: Standings
    track: str  # "" if there is at most one
    numbers: Mapping[str, int]  # of the agents, for colour and dashes

    @property
    def name(self) -> str:
        """Return the name of the section's anchor and files."""
        return "-".join(["across", *self.track.split()])

    @property
    def title(self) -> str:
        """Return the heading."""
        return "Across environments" + (f", {self.track}" if self.track else "")

    @cached_property
    def tables(self) -> list[Table]:
        """Return the tables of the section, which are also written to files."""
        return [self.standings.overall(), self.standings.improvement()]

    @property
    def svg(self) -> str:
        """Draw the performance profiles."""
        lines = [
            Line(
                self.numbers[label], self.standings.marked(label), THRESHOLDS, *self.standings.profile(label)
            )
            for label in self.numbers
            if label in self.standings.agents
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
    by_track = {track: [_part(result, tracks, track) for result in results] for track in names}
    sections = []
    for track, parts in by_track.items():
        usable = [part for part in parts if part is not None and has_loss(part, reference)]
        kept = [part for part in usable if part.num_trials < ENOUGH or distinct(part, reference)]
        notes = [f"Left out: {part.environment}; {INDISTINCT}." for part in usable if part not in kept]
        if len(kept) > 1:
            sections.append(EnvironmentsSection(Standings(kept, reference, notes), track, numbers))
    return sections


def _part(result: Result, tracks: Mapping[str, str], track: str) -> Result | None:
    """Select the agents of a track and those without one; all agents if the track is ""."""
    labels = [label for label in result.agents if not track or tracks.get(label, track) == track]
    return result.select(labels) if labels else None


def reference_of(study: Study) -> str | None:
    """Return the label of the first agent that plays at random; None if there is none."""
    return next((agent.label for agent in study.agents if agent.name == REFERENCE), None)
