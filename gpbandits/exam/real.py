"""Real tasks: the leaderboard of all families of the suite, with entrants beside its own agents."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpbandits.evaluation.result import Result
from gpbandits.evaluation.table import Table
from gpbandits.exam.entrants import TUNER
from gpbandits.exam.part import ExamPart, ExamReport, Sitting
from gpbandits.experiments import Store, Study, run
from gpbandits.experiments.store import CELLS
from gpbandits.report.entrants import REFERENCE, Entries, enter
from gpbandits.report.holdings import Holdings
from gpbandits.report.standings import Standings, has_loss


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
        failures = [each for study in entries.studies for each in self._played(study, store, sitting)]
        return ExamReport(self._ranked(entries, store), None, failures)

    def _played(self, study: Study, store: Store, sitting: Sitting) -> list[tuple[str, str]]:
        """Play what is missing of a task, and return the cells that failed, each with its traceback."""
        missing = len(list(store.survey(study).missing))
        with sitting.bar(study.environments[0].label, missing) as advance:
            failed = run(study, store, sitting.workers, lambda outcome: advance())
        return [(str(each.cell), str(each.failure)) for each in failed]

    def _ranked(self, entries: Entries, store: Store) -> list[Table]:
        """Return the table of each family with results."""
        families: dict[str, list[Result]] = {}
        for study in entries.studies:
            result = Holdings(study, store, by_installed=True).result(study.environments[0])
            if result is not None and has_loss(result, REFERENCE):
                families.setdefault(entries.classes[result.environment], []).append(result)
        tables = {name: Standings(results, REFERENCE).overall() for name, results in sorted(families.items())}
        titles = {name: f"{self.title}: {name}" for name in tables}
        return [replace(tables[name], title=titles[name], name=f"real-{name}") for name in tables]
