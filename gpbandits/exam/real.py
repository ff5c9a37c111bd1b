"""Real tasks: the leaderboard of all families of the suite, with entrants beside its own agents."""

from __future__ import annotations

from bandit_envs.problems.real import HORIZON
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.statistics import ENOUGH
from gpbandits.exam.entrants import TUNER
from gpbandits.exam.part import ExamPart, ExamReport, Sitting
from gpbandits.experiments import Store, run
from gpbandits.experiments.store import CELLS
from gpbandits.report.entrants import REFERENCE, enter
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
        trials = sitting.seeds or ENOUGH
        entries = enter(trials, sitting.questions or HORIZON, agents=entrants, suite="real")
        store, failures = Store(sitting.folder / self.name / CELLS), []
        with sitting.bar(self.title, sum(len(list(study.cells())) for study in entries.studies)) as advance:
            for study in entries.studies:
                before = len(list(study.cells())) - len(list(store.survey(study).missing))
                for _ in range(before):
                    advance()
                failed = run(study, store, sitting.workers, lambda outcome: advance())
                failures += [(str(each.cell), str(each.failure)) for each in failed]
        families: dict[str, list[Result]] = {}
        for study in entries.studies:
            result = Holdings(study, store, by_installed=True).result(study.environments[0])
            if result is not None and has_loss(result, REFERENCE):
                families.setdefault(entries.classes[result.environment], []).append(result)
        tables = [Standings(families[name], REFERENCE).overall() for name in sorted(families)]
        return ExamReport(tables, None, failures)
