"""The interface of every reproduction of a figure, the rule of `--quick`, and how long studies take."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from matplotlib.figure import Figure

from bandit_envs.environment.making import make
from gpbandits.evaluation import evaluate
from gpbandits.evaluation.result import Result
from gpbandits.experiments import AgentEntry, EnvironmentEntry, Study
from gpbandits.reproductions.markdown import claims_text, table_of_tests
from gpbandits.reproductions.verdicts import Judged

TRIALS, ROUNDS = 5, 1000
SUFFIX = "-quick"  # appended to the names of shortened studies
REHEARSED = 10  # rounds
Results = Sequence[tuple[EnvironmentEntry, Result]]


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


def seconds_of(study: Study, workers: int) -> float:
    """Estimate the duration of a study in seconds from the first rounds of its agents.

    It is an order of magnitude: rounds become slower as a posterior grows or hyperparameters are learnt, and
    the first may be the slowest if work is done once.
    """
    cells = [_seconds(study, entry, agent) for entry in study.environments for agent in study.agents]
    return max(sum(cells) / workers, *cells)


def in_words(seconds: float) -> str:
    """Return a duration in words, such as "3 minutes"."""
    for size, unit in ((3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1.0):.0f} seconds"


def _seconds(study: Study, entry: EnvironmentEntry, agent: AgentEntry) -> float:
    """Estimate the seconds of one agent on one environment: the setup and all rounds."""
    limited = {**entry.kwargs, "max_episode_steps": REHEARSED}
    options = {"trials": study.trials, "seed": study.seed, "env_kwargs": limited}
    begin = perf_counter()
    result = evaluate(entry.id, {agent.label: (agent.name, agent.options)}, **options)
    whole = perf_counter() - begin
    deciding = float(result.seconds[agent.label].sum())
    rounds = entry.kwargs.get("horizon", REHEARSED)
    return whole + deciding * max(rounds / result.horizon - 1.0, 0.0)


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


@dataclasses.dataclass(frozen=True)
class Reproduction:
    """A reproduction computes one figure of a paper and judges its claims.

    Args:
        name: such as "srinivas2010-figure-5a".
        paper: the paper's authors and year.
        title: the figure's number and subject.
        differs: the differences from the paper and their reasons.
    """

    name: str
    paper: str
    title: str
    differs: str

    def run(self, folder: Path, quick: bool, compute: Compute) -> Findings:
        """Reproduce the figure.

        Args:
            folder: folder of the cells of its study, which the figures of one study share.
            quick: take the shorter version, see `shortened`, without verdicts.
            compute: computes the part of a study that the figure shows.
        """
        raise NotImplementedError
