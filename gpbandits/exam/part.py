"""Parts of the exam, what a sitting is asked for, and the milestones at which numbers are compared."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import is_count, require
from bandit_envs.basics.types import Floats
from gpbandits.evaluation.formats import number
from gpbandits.evaluation.table import Table
from gpbandits.exam.entrants import Entrant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT = ("random", "tuner")  # entrants where none is named
STATISTICS = ("mean", "median", "worst", "share within")
Bar = Callable[[str, int], AbstractContextManager[Callable[[], None]]]  # of a title and a number of cells


@dataclass(frozen=True)
class Sitting:
    """A sitting says who is examined, how thoroughly, and where results are kept.

    Args:
        folder: of the results; a run that is repeated there computes what is missing alone.
        agents: entrants, as texts; none for the default ones.
        seeds: number of seeds, None for that of each part.
        questions: most questions of a task, None for all.
        quick: True plays few tasks with few seeds.
        workers: number of processes.
        bar: shows progress.
    """

    folder: Path
    agents: Sequence[str] = ()
    seeds: int | None = None
    questions: int | None = None
    quick: bool = False
    workers: int = 1
    bar: Bar = lambda title, total: nullcontext(lambda: None)  # shows nothing

    def __post_init__(self) -> None:
        for name in ("seeds", "questions"):
            given = getattr(self, name)
            require(given is None or is_count(given), name, "None or a positive integer", given)
        require(is_count(self.workers), "workers", "a positive integer", self.workers)
        repeated = len(set(self.agents)) < len(self.agents)
        require(not repeated, "agent", "named once each", list(self.agents))
        require(not self.folder.is_file(), "out", "a folder, or a path where there is none", self.folder)

    @property
    def entrants(self) -> list[Entrant]:
        """Return those who are examined, or raise where a text names nobody."""
        return [Entrant.named(text) for text in self.agents or DEFAULT]


Key = tuple[str, str, int, int]  # task, entrant, seed and number of questions


class ExamRow(NamedTuple):
    """A row has the quantity after each question that the part keeps, and the code that computed it."""

    task: str
    entrant: str
    seed: int
    questions: int
    code: str
    seconds: float
    values: Floats  # (k,)

    @property
    def key(self) -> Key:
        """Return what was played, whatever the code."""
        return self.task, self.entrant, self.seed, self.questions


class ExamReport(NamedTuple):
    """Results of a part: its tables, a figure, and the cells that failed, each with the reason."""

    tables: list[Table]
    figure: Figure | None
    failures: list[tuple[str, str]]


class ExamPart(abc.ABC):
    """A part of the exam by name."""

    name: str
    title: str

    @abc.abstractmethod
    def hold(self, sitting: Sitting) -> ExamReport:
        """Play what is missing, and return the results."""


class Published(NamedTuple):
    """A published number, with the error that its source states, if any."""

    value: float
    error: float | None = None

    def __str__(self) -> str:
        return number(self.value) + ("" if self.error is None else f" ± {number(self.error)}")


class Milestone(NamedTuple):
    """A milestone is the question at which numbers are compared, and the statistic over tasks and seeds.

    `within` is the regret that counts as solved, for "share within". `tasks` are those it is about, none for
    all of the part.
    """

    title: str
    question: int
    statistic: str = "mean"
    tasks: tuple[str, ...] = ()
    within: float = 0.0

    def of(self, values: Mapping[str, Floats], better: int = -1) -> Published:
        """Return the statistic of each task's values, (seeds,) a task, and of a mean the standard error.

        The error is that of seeds alone: tasks are no sample. It is None for one seed, and of quantiles.
        """
        every = np.concatenate(list(values.values()))
        if self.statistic == "median":
            return Published(float(np.median(every)))
        if self.statistic == "worst":
            return Published(float(every.max() if better < 0 else every.min()))
        if self.statistic == "share within":
            return Published(float((every <= self.within).mean()))
        mean = float(np.mean([each.mean() for each in values.values()]))
        if min(map(len, values.values())) < 2:
            return Published(mean)
        variance = sum(each.var(ddof=1) / len(each) for each in values.values()) / len(values) ** 2
        return Published(mean, float(np.sqrt(variance)))


class ComparedPart(ExamPart):
    """A part whose numbers are compared with published ones at milestones.

    `kept` are the questions after which the measured quantity is stored, the last one being the number of
    questions; `better` is 1 where more of it is better, -1 where less is.
    """

    source: str
    quantity: str
    kept: tuple[int, ...]
    milestones: tuple[Milestone, ...]
    better: int = -1
    notes: tuple[str, ...] = ()

    @property
    @abc.abstractmethod
    def tasks(self) -> tuple[str, ...]:
        """Return the names of the tasks."""

    @abc.abstractmethod
    def published(self, at: Milestone, tasks: Sequence[str]) -> dict[str, Published]:
        """Return the published numbers at a milestone on some of the tasks, by their owner."""

    def tasks_of(self, at: Milestone, among: Sequence[str]) -> list[str]:
        """Return the tasks of a milestone among some."""
        return [task for task in at.tasks or self.tasks if task in among]
