"""The section of a report that looks at all environments together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from gpbandits.evaluation.result import Result
from gpbandits.evaluation.statistics import ENOUGH
from gpbandits.experiments.study import Study
from gpbandits.report.chart import Line, line_chart
from gpbandits.report.entrants import REFERENCE
from gpbandits.report.grid import Grid
from gpbandits.report.standings import INDISTINCT, THRESHOLDS, Standings, distinct, has_loss


@dataclasses.dataclass(frozen=True)
class Across:
    """Who stands where across the environments of a study.

    Agents of different tracks do not share one: what was learnt beforehand is not comparable.

    Args:
        standings: of the agents.
        track: "" where there is one at most.
        numbers: of the agents, for colour and dashes.
    """

    standings: Standings
    track: str
    numbers: Mapping[str, int]

    @property
    def name(self) -> str:
        """Of its place in the page and of its files."""
        return "-".join(["across", *self.track.split()])

    @property
    def title(self) -> str:
        """The heading."""
        return "Across environments" + (f", {self.track}" if self.track else "")

    @cached_property
    def tables(self) -> list[Grid]:
        """What the section prints, and the folder of tables keeps."""
        return [self.standings.overall(), self.standings.improvement()]

    @property
    def svg(self) -> str:
        """Performance profiles."""
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
        """The index of the threshold that is read off first: half of the way to optimal play."""
        return int(np.abs(THRESHOLDS - 0.5).argmin())

    @property
    def legend(self) -> list[tuple[int, str]]:
        """Number and label of each agent, best rank first."""
        return [(self.numbers[label], self.standings.marked(label)) for label in self.standings.agents]


def across(results: Sequence[Result], numbers: Mapping[str, int], reference: str) -> list[Across]:
    """One section a track; none where fewer than two environments have results of the reference agent.

    Args:
        results: one an environment.
        numbers: of the study's agents, for colour and dashes.
        reference: the label that scores 0.
    """
    tracks = {label: track for result in results for label, track in result.tracks.items()}
    several = sorted(set(tracks.values()))
    names = several if len(several) > 1 else [""]
    by_track = {track: [_part(result, tracks, track) for result in results] for track in names}
    sections = []
    for track, parts in by_track.items():
        usable = [part for part in parts if part is not None and has_loss(part, reference)]
        telling = [part for part in usable if part.num_trials < ENOUGH or distinct(part, reference)]
        notes = [f"Left out: {part.environment}; {INDISTINCT}." for part in usable if part not in telling]
        if len(telling) > 1:
            sections.append(Across(Standings(telling, reference, notes), track, numbers))
    return sections


def _part(result: Result, tracks: Mapping[str, str], track: str) -> Result | None:
    """The agents of a track, and those of none; all where the track is none."""
    labels = [label for label in result.agents if not track or tracks.get(label, track) == track]
    return result.select(labels) if labels else None


def reference_of(study: Study) -> str | None:
    """The label of the first agent that plays at random; None where none does."""
    return next((agent.label for agent in study.agents if agent.name == REFERENCE), None)
