"""What every reproduction of a figure offers, whether a study or a computation is behind it."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from matplotlib.figure import Figure

from gpbandits.evaluation.result import Result
from gpbandits.experiments import EnvironmentEntry, Study

Results = Sequence[tuple[EnvironmentEntry, Result]]


class Part(NamedTuple):
    """What a figure shows of a study whose other parts are other figures."""

    shown: Study
    whole: Study


Compute = Callable[[Part, Path], Results]  # computes what the folder lacks, and returns what it has


@dataclasses.dataclass(frozen=True)
class Findings:
    """What a reproduction found: drawings by file stem, and Markdown of the numbers."""

    figures: Mapping[str, Figure]
    text: str


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
    def reports(self) -> str:
        """What the paper says that the figure shows."""
        ...

    @property
    def differs(self) -> str:
        """Where ours differs from the paper, and why."""
        ...

    def run(self, folder: Path, quick: bool, compute: Compute) -> Findings:
        """Reproduce the figure.

        Args:
            folder: keeps the cells of its study, which figures of one study share.
            quick: take the shorter version of about a minute, see `quick.shortened`.
            compute: computes the part of a study that the figure shows.
        """
        ...
