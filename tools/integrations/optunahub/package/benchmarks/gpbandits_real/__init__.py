"""Real tasks of gpbandits for OptunaHub: measured runs, with what each took, weighed and cost."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
import optuna
import optunahub

from bandit_envs.data.runs import load_runs
from bandit_envs.problems.real import PLAYS, WORKERS, excess_of, pays, rewards_of, tasks

__all__ = ["TASKS", "RealTask", "play"]

SINGLE = ("repeat", "late", "budget", "limit", "everything", "tuning", "laboratory")  # one function each
TASKS = tuple(
    name
    for name, task in tasks().items()
    # The operations of NAS-Bench-201 are categories, which the suite has as one-hot features.
    if task.family in SINGLE and not task.tables[0].startswith("nasbench201/")
)


class RealTask(optunahub.benchmarks.BaseProblem):
    """A table of runs that were all made: a trial returns one of the runs of its configuration.

    Args:
        task: one of `TASKS`; the package that holds its table is downloaded at its first use.
        seed: draws which of the runs of a configuration a trial returns.
    """

    def __init__(self, task: str = "digits-everything", *, seed: int = 0):
        if task not in TASKS:
            raise ValueError(f"unknown task {task!r}; choose one of {', '.join(TASKS)}")
        self.task, self.seed = tasks()[task], seed
        runs = load_runs(self.task.tables[0])
        rewards = rewards_of(self.task.reward, runs)
        self.mean, self._values, self._first = rewards.mean("reward"), rewards.measured["reward"], runs.first
        family = self.task.family
        timed = "train_time" in runs.measured
        times = runs.mean("train_time") if timed else np.ones(len(runs.unit))
        median = float(np.median(times))
        self.spent = times if family in ("late", "budget", "everything") else None
        late = family in ("late", "everything")
        self.delay = np.floor(times * WORKERS / median).astype(int) if late else None
        paid = family == "budget" or (family == "everything" and pays(runs))
        self.budget = PLAYS * median if paid else None
        self.excess = excess_of(runs.mean(self.task.limited)) if self.task.limited else None
        self._points = runs.unit
        self._levels = [np.unique(column) for column in runs.unit.T]
        self._grid = np.prod([len(each) for each in self._levels]) == len(runs.unit)
        self._drawn: dict[int, int] = {}

    @property
    def search_space(self) -> dict[str, optuna.distributions.BaseDistribution]:
        """The levels of a grid; else numbers in [0, 1], of which the nearest configuration is taken."""
        if self._grid:
            distributions = [optuna.distributions.IntDistribution(0, len(each) - 1) for each in self._levels]
        else:
            distributions = [optuna.distributions.FloatDistribution(0.0, 1.0) for _ in self._levels]
        return {f"x{i}": each for i, each in enumerate(distributions)}

    @property
    def directions(self) -> list[optuna.study.StudyDirection]:
        """Rewards are maximised."""
        return [optuna.study.StudyDirection.MAXIMIZE]

    def arm(self, params: dict[str, Any]) -> int:
        """Return the row of the configuration nearest to the parameters."""
        given = [params[f"x{i}"] for i in range(len(self._levels))]
        point = (
            [each[level] for each, level in zip(self._levels, given, strict=True)] if self._grid else given
        )
        return int(np.argmin(np.sum((self._points - np.array(point)) ** 2, axis=1)))

    def __call__(self, trial: optuna.Trial) -> Any:
        """Evaluate a trial; its user attributes say what it spent and how many rounds it is late."""
        value = super().__call__(trial)
        arm = self.arm(trial.params)
        for name, held in (("spent", self.spent), ("delay", self.delay)):
            if held is not None:
                trial.set_user_attr(name, held[arm].item())
        return value

    def evaluate(self, params: dict[str, Any]) -> float:
        """Return the reward of one of the configuration's runs, another at random in each call."""
        arm = self.arm(params)
        call = self._drawn[arm] = self._drawn.get(arm, 0) + 1
        rng = np.random.default_rng((self.seed, arm, call))
        return float(self._values[rng.integers(self._first[arm], self._first[arm + 1])])

    def evaluate_constraints(self, params: dict[str, Any]) -> dict[str, float]:
        """Return how far the limited metric is above its limit, feasible at 0 or less."""
        return {} if self.excess is None else {self.task.limited: float(self.excess[self.arm(params)])}

    def regret(self, params: dict[str, Any]) -> float:
        """Return the mean reward of the best feasible configuration minus that of this one."""
        feasible = self.mean if self.excess is None else self.mean[self.excess <= 0]
        return float(feasible.max() - self.mean[self.arm(params)])


def play(study: optuna.Study, problem: RealTask, rounds: int = 100) -> None:
    """Ask for a trial in each round and tell it once its delay is over; end where the budget is spent."""
    waiting: list[tuple[int, int, optuna.Trial, float]] = []
    left = problem.budget
    for now in range(rounds):
        trial = study.ask()
        value = problem(trial)
        if left is not None and (left := left - trial.user_attrs["spent"]) < 0:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)  # it cannot be paid for
            break
        heapq.heappush(waiting, (now + trial.user_attrs.get("delay", 0), trial.number, trial, value))
        while waiting and waiting[0][0] <= now:
            _, _, ended, value = heapq.heappop(waiting)
            study.tell(ended, value)
    for _, _, ended, value in sorted(waiting):
        study.tell(ended, value)
