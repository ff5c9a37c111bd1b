"""Results cut to what a page reads, short studies, and how long they take.

The page can thus be made again from its results, and a test compares the two.
"""

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from time import perf_counter

import numpy as np

from gpbandits.evaluation import evaluate
from gpbandits.evaluation.result import Result
from gpbandits.experiments import AgentEntry, EnvironmentEntry, Study
from gpbandits.reproductions import REPRODUCTIONS
from gpbandits.reproductions.base import SUFFIX, Compute, Part, Results
from gpbandits.reproductions.study_figure import StudyFigure


def parts_of(study: Study) -> dict[str, Study]:
    """Return the part of a study of each figure, by name, without figures that show all of it."""
    figures = [each for each in REPRODUCTIONS.values() if isinstance(each, StudyFigure)]
    named = [figure for figure in figures if study.name.removesuffix(SUFFIX) in figure.studies]
    parts = {figure.name: figure.part(study) for figure in named if figure.shows(study)}
    return {name: part for name, part in parts.items() if part != study}


REHEARSED = 10  # rounds


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


class Condensed:
    """A reader of the results that `condensing` has written, in one folder a figure."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __call__(self, part: Part, folder: Path) -> Results:
        """Return the stored results of a part; the folder of cells is not used."""
        paths = [(each, self.path(part, each.file_name)) for each in part.shown.environments]
        return [(each, Result.load(path)) for each, path in paths if path.exists()]

    def path(self, part: Part, environment: str) -> Path:
        """Return the path of the file of an environment."""
        return self.folder / part.figure / f"{environment}.parquet"


def condensing(compute: Compute, kept: Condensed) -> Compute:
    """Return a function that computes a part and stores the results that a page needs."""

    def compute_and_keep(part: Part, folder: Path) -> Results:
        results = compute(part, folder)
        for entry, result in results:
            path = kept.path(part, entry.file_name)
            path.parent.mkdir(parents=True, exist_ok=True)
            condensed(result, part.rounds).save(path, timings=False)
        return results

    return compute_and_keep


def condensed(result: Result, rounds: Iterable[int]) -> Result:
    """Cut a result to the last recorded round up to each of `rounds`, and the last of all."""
    ends = [result.column_of(each) for each in (*rounds, None)]
    columns = np.unique(np.array(ends) % len(result.rounds))
    records = {label: record.at(columns + 1) for label, record in result.records.items()}
    return dataclasses.replace(result, records=records, checkpoints=result.rounds[columns])
