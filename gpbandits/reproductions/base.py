"""The interface of every reproduction of a figure, and the rule of `--quick`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from matplotlib.figure import Figure

from bandit_envs.environment.making import make
from gpbandits.evaluation.result import Result
from gpbandits.experiments import EnvironmentEntry, Study
from gpbandits.reproductions.markdown import claims_text, table_of_tests
from gpbandits.reproductions.verdicts import Judged

TRIALS, ROUNDS = 5, 1000
SUFFIX = "-quick"  # appended to the names of shortened studies


def shortened(study: Study, rounds: int = ROUNDS) -> Study:
    """Return the study with at most `TRIALS` trials of at most so many rounds."""
    environments = tuple(_shortened(entry, rounds) for entry in study.environments)
    name, trials = f"{study.name}{SUFFIX}", min(study.trials, TRIALS)
    return dataclasses.replace(study, name=name, trials=trials, environments=environments)


def _shortened(entry: EnvironmentEntry, rounds: int) -> EnvironmentEntry:
    env = make(entry.id, **entry.kwargs)
    env.reset(seed=0)
    horizon = min(env.get_wrapper_attr("setting").horizon, rounds)
    env.close()
    return dataclasses.replace(entry, kwargs={**entry.kwargs, "horizon": horizon})


Results = Sequence[tuple[EnvironmentEntry, Result]]


class Part(NamedTuple):
    """A part is the share of a study that one figure shows."""

    figure: str
    shown: Study  # with the figure's environments and agents only
    whole: Study
    rounds: tuple[int, ...] = ()  # at which the figure's claims are tested, beside the last


Compute = Callable[[Part, Path], Results]  # computes the cells that the folder lacks, and returns the results


@dataclasses.dataclass(frozen=True)
class Findings:
    """The findings of a reproduction are its figures, its numbers and its verdicts."""

    figures: Mapping[str, Figure]  # by file stem
    text: str  # Markdown of the numbers
    judged: Sequence[Judged]  # the paper's sentences about the figure, in their order

    @property
    def unjudged(self) -> Findings:
        """Return the findings without verdicts, for too few trials."""
        return dataclasses.replace(self, judged=[each.unjudged for each in self.judged])

    @property
    def claims(self) -> str:
        """Return Markdown of the paper's sentences, numbered, and of the tests of each."""
        return "\n\n".join(filter(None, [claims_text(self.judged), table_of_tests(self.judged)]))


class Reproduction(Protocol):
    """A reproduction computes one figure of a paper and judges its claims."""

    @property
    def name(self) -> str:
        """Return the name, such as "srinivas2010-figure-5a"."""
        ...

    @property
    def paper(self) -> str:
        """Return the paper's authors and year."""
        ...

    @property
    def title(self) -> str:
        """Return the figure's number and subject."""
        ...

    @property
    def differs(self) -> str:
        """Return the differences from the paper and their reasons."""
        ...

    def run(self, folder: Path, quick: bool, compute: Compute) -> Findings:
        """Reproduce the figure.

        Args:
            folder: folder of the cells of its study, which the figures of one study share.
            quick: take the shorter version, see `quick.shortened`, without verdicts.
            compute: computes the part of a study that the figure shows.
        """
        ...
