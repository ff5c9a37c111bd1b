"""What every reproduction of a figure offers, whether a study or a computation is behind it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from matplotlib.figure import Figure

from gpbandits.evaluation.result import Result
from gpbandits.experiments import EnvironmentEntry, Study
from gpbandits.reproductions.verdicts import COLUMNS, Judged, table

Results = Sequence[tuple[EnvironmentEntry, Result]]


class Part(NamedTuple):
    """What a figure shows of a study whose other parts are other figures.

    Args:
        figure: its name.
        shown: its environments and agents.
        whole: the study.
        rounds: that it reads beside the last, where it draws no curves.
    """

    figure: str
    shown: Study
    whole: Study
    rounds: tuple[int, ...] = ()


Compute = Callable[[Part, Path], Results]  # computes what the folder lacks, and returns what it has


@dataclasses.dataclass(frozen=True)
class Findings:
    """What a reproduction found.

    Args:
        figures: drawings by file stem.
        text: Markdown of the numbers.
        judged: what the paper says of the figure, sentence by sentence in its order, and the verdicts.
    """

    figures: Mapping[str, Figure]
    text: str
    judged: Sequence[Judged]

    @property
    def unjudged(self) -> Findings:
        """The same without verdicts, for trials that are too few for any."""
        return dataclasses.replace(self, judged=[each.unjudged for each in self.judged])

    @property
    def claims(self) -> str:
        """Markdown of what the paper says, numbered, and of the tests of each sentence."""
        said = [
            f"{i}. {each.says} *{_plain(each.verdict)}*{_because(each.reading)}"
            for i, each in enumerate(self.judged, 1)
        ]
        rows = [(str(i), *row.cells) for i, each in enumerate(self.judged, 1) for row in each.rows]
        tests = table(("claim", *COLUMNS), rows)
        return "\n\n".join(["\n".join(said), *([tests] if rows else [])])


def _plain(verdict: str) -> str:
    return f"{verdict.replace('*', '').capitalize()}."


def _because(reading: str) -> str:
    return f" {reading}" if reading else ""


class Reproduction(Protocol):
    """One figure of a paper."""

    @property
    def name(self) -> str:
        """Such as "srinivas2010-figure-5a"."""
        ...

    @property
    def paper(self) -> str:
        """Authors and year."""
        ...

    @property
    def title(self) -> str:
        """The figure's number and what it shows."""
        ...

    @property
    def differs(self) -> str:
        """Where ours differs from the paper, and why."""
        ...

    def run(self, folder: Path, quick: bool, compute: Compute) -> Findings:
        """Reproduce the figure.

        Args:
            folder: keeps the cells of its study, which figures of one study share.
            quick: take the shorter version, see `quick.shortened`, of which nothing is judged.
            compute: computes the part of a study that the figure shows.
        """
        ...
