"""Parts on tables of measured values: HPO-B's classifiers, printed structures, and the suite's real tasks."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.data.runs import load_runs, origins
from bandit_envs.data.tables import HPOB_ORIGIN, HPOB_TABLES, load_hpob
from gpbandits.evaluation.result import Result
from gpbandits.exam.entrants import TUNER, Entrant, TablePlayer, generator
from gpbandits.exam.part import ExamPart, ExamReport, Milestone, Published, Sitting
from gpbandits.exam.played import PlayedPart
from gpbandits.experiments import Store, run
from gpbandits.experiments.store import CELLS
from gpbandits.report.entrants import REFERENCE, enter
from gpbandits.report.holdings import Holdings
from gpbandits.report.standings import Standings, has_loss

FIRST = 5  # random configurations before the first question
RESULTS = "https://github.com/machinelearningnuremberg/HPO-B, results/*.json"
LEARNING = ("RGPE", "TAF", "TST", "FSBO", "FSBO2")  # methods that learn from other tables first


@cache
def published_rows() -> tuple[dict[str, str], ...]:
    """Return the published results: a row a table and method, means over five seeds."""
    text = files("gpbandits.exam").joinpath("published", "hpob.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def asked_rows(
    player: TablePlayer, values: Floats, first: int, questions: int, rng: np.random.Generator
) -> list[int]:
    """Return random first rows of a table and those that a player asks for, told the value of each, (A,)."""
    rows: list[int] = rng.choice(len(values), first, replace=False).tolist()
    for row in rows:
        player.tell(row, float(values[row]))
    for _ in range(questions):
        rows.append(player.ask())
        player.tell(rows[-1], float(values[rows[-1]]))
    return rows


class HPOB(PlayedPart):
    """Find the best configuration of a table, asking for none twice."""

    name = "hpo-b"
    title = "HPO-B"
    source = (
        f"{HPOB_ORIGIN.authors}, doi:{HPOB_ORIGIN.doi}, {HPOB_ORIGIN.licence}; published numbers: {RESULTS}"
    )
    quantity = "simple regret of the normalised accuracy"
    kept = (0, 1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100)
    milestones = tuple(Milestone(f"{q} questions", q) for q in (5, 25, 50, 100))
    seeds, quick_seeds = 5, 1
    quick_tasks = ("4796-3549", "5889-9971", "5970-37", "7607-3896")
    notes = (
        f"After {FIRST} random first configurations. Theirs are not public: our first ones are others, and "
        "runs are unpaired. Accuracies are normalised to [0, 1] over the table, means over tables weigh "
        "alike, and published numbers are averaged over the same tables.",
        f"‡ learns from other tables beforehand: {', '.join(LEARNING)}.",
    )

    @property
    def tasks(self) -> tuple[str, ...]:
        return HPOB_TABLES

    def play(self, task: str, entrant: Entrant, seed: int, questions: int) -> Floats:
        table = load_hpob(task)
        player = entrant.on_table(table.unit, FIRST + questions, seed)
        rng = generator(self.name, task, seed)
        chosen = asked_rows(player, table.normalised, FIRST, questions, rng)
        best = np.minimum.accumulate(1.0 - table.normalised[chosen])[FIRST - 1 :]
        return best[self.kept_until(questions)]

    def published(self, at: Milestone, tasks: Sequence[str]) -> dict[str, Published]:
        values: dict[str, list[float]] = {}
        for row in published_rows():
            if f"{row['search_space']}-{row['data_set']}" in tasks:
                label = row["method"] + "‡" * (row["method"] in LEARNING)
                values.setdefault(label, []).append(float(row[f"regret_{at.question}"]))
        return {label: Published(float(np.mean(each))) for label, each in values.items()}


STRUCTURES, BEST = 2, 30  # random first structures; how many of the toughest are to be found
LIANG_ET_AL = origins()["materials/Crossed barrel"]
LIANG = {12: Published(1.1), 30: Published(5.9, 0.4), 60: Published(11.5, 0.3), 96: Published(17.2, 0.2)}


class CrossedBarrel(PlayedPart):
    """Find the 30 toughest of 600 structures, asking for none twice."""

    name = "crossed-barrel"
    title = "Crossed barrel"
    source = f"{LIANG_ET_AL.authors}, doi:{LIANG_ET_AL.doi}; PV-Lab/Benchmarking"
    quantity = f"of the {BEST} best of 600, found"
    kept = tuple(range(STRUCTURES, 101))
    milestones = tuple(Milestone(f"question {q}", q) for q in LIANG)
    seeds, quick_seeds = 50, 3
    quick_tasks = ("crossed-barrel",)
    better = 1
    notes = (
        f"The {STRUCTURES} random first structures count as questions. Values are means of three replicates, "
        "and exact. Random play finds 30 n / 600 of n in the mean.",
    )

    @property
    def tasks(self) -> tuple[str, ...]:
        return self.quick_tasks

    def play(self, task: str, entrant: Entrant, seed: int, questions: int) -> Floats:
        runs = load_runs("materials/Crossed barrel")
        toughness = runs.mean("value")
        player = entrant.on_table(runs.unit, questions, seed)
        rng = generator(self.name, task, seed)
        chosen = asked_rows(player, toughness, STRUCTURES, questions - STRUCTURES, rng)
        among = np.zeros(len(toughness), dtype=np.bool_)
        among[np.argsort(toughness)[-BEST:]] = True
        found = among[chosen].cumsum().astype(np.float64)
        return found[self.kept_until(questions) - 1]

    def published(self, at: Milestone, tasks: Sequence[str]) -> dict[str, Published]:
        return {"GP Matern, LCB 2": LIANG[at.question]} if at.question in LIANG and tasks else {}


class RealTasks(ExamPart):
    """Play the suite's tasks in rounds, and rank agents within each family as its leaderboard does.

    Entrants are agents of rounds: the tuner, which looks for the best at the end, is none. Without entrants
    the leaderboard's own selection plays.
    """

    name = "real"
    title = "Real tasks"

    def hold(self, sitting: Sitting) -> ExamReport:
        entrants = [each.label for each in sitting.entrants if each.name != TUNER] if sitting.agents else []
        given: dict[str, Any] = {"trials": sitting.seeds, "horizon": sitting.questions}
        chosen = {name: number for name, number in given.items() if number is not None}
        entries = enter(agents=entrants, suite="real", **chosen)
        store = Store(sitting.folder / self.name / CELLS)
        failures: list[tuple[str, str]] = []
        families: dict[str, list[Result]] = {}
        for study in entries.studies:
            missing = len(list(store.survey(study).missing))
            with sitting.bar(study.environments[0].label, missing) as advance:
                failed = run(study, store, sitting.workers, lambda outcome: advance())
            failures += [(str(each.cell), str(each.failure)) for each in failed]
            result = Holdings(study, store, by_installed=True).result(study.environments[0])
            if result is not None and has_loss(result, REFERENCE):
                families.setdefault(entries.classes[result.environment], []).append(result)
        tables = {name: Standings(results, REFERENCE).overall() for name, results in sorted(families.items())}
        shown = [
            replace(each, title=f"{self.title}: {name}", name=f"real-{name}") for name, each in tables.items()
        ]
        return ExamReport(shown, None, failures)
