"""What the trials of a study tell a tuner, in the order in which it happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from math import isfinite
from typing import NamedTuple

from optuna.trial import FrozenTrial, TrialState

from agents.tuning import Tuner
from gpbandits.optuna.dimensions import Dimensions, Values

ASKED = "gpbandits:asked"  # attribute of a trial that runs: what it was asked for, also before it suggests it
ENQUEUED = "fixed_params"  # Optuna's attribute of a trial that was enqueued
FAILURES = ("worst", "forget")


class Outcome(NamedTuple):
    """What a trial came to."""

    value: float
    costs: dict[str, float]


class Event(NamedTuple):
    """A trial that is over."""

    time: datetime
    ticket: int
    outcome: Outcome | None  # None where it failed


def constraint_names(trials: Iterable[FrozenTrial]) -> list[str]:
    """The names of all constraints that some trial was given a value of."""
    return sorted({name for trial in trials for name in trial.constraints})


def inform(
    tuner: Tuner, dimensions: Dimensions, trials: Sequence[FrozenTrial], failures: str, goal: str
) -> None:
    """Tell a tuner of a study's trials, those that run included.

    A trial's news come after those trials that had started before it was over: to agents that think of
    delays, trials that run side by side are late feedback.

    Args:
        tuner: which was told nothing yet.
        dimensions: what it tunes.
        trials: in the order of their numbers, without those that are waiting.
        failures: "worst" or "forget", see `GPBanditSampler`.
        goal: "maximise" or "minimise".
    """
    names = constraint_names(trials)
    bad = _worst([outcome(trial, names) for trial in trials], goal) if failures == "worst" else None
    news: list[Event] = []
    for trial in trials:
        begun = trial.datetime_start or trial.datetime_complete
        news = _tell(tuner, news, begun, bad)
        parameters = dimensions.told(_parameters(trial))
        if parameters is None:
            continue
        ticket = tuner.start(parameters)
        if trial.state.is_finished():
            news.append(Event(trial.datetime_complete or datetime.max, ticket, outcome(trial, names)))
    _tell(tuner, news, None, bad)


def about_to_begin(trials: Iterable[FrozenTrial], number: int) -> int:
    """How many trials before this number were given no parameters yet: other processes think of them."""
    return sum(
        trial.state == TrialState.RUNNING and trial.number < number and not _parameters(trial)
        for trial in trials
    )


def outcome(trial: FrozenTrial, names: Sequence[str]) -> Outcome | None:
    """What a trial came to; None if it failed, or is not over.

    A pruned one came to the value it was pruned at. A value that is infinite, and constraints of which one is
    missing, are failures: no model can be told of them.
    """
    value, costs = trial.values, trial.constraints
    if trial.state not in (TrialState.COMPLETE, TrialState.PRUNED) or not value:
        return None
    numbers = [*value, *(costs.get(name, float("nan")) for name in names)]
    return Outcome(value[0], {name: costs[name] for name in names}) if all(map(isfinite, numbers)) else None


def _tell(tuner: Tuner, news: list[Event], until: datetime | None, bad: Outcome | None) -> list[Event]:
    """Tell of the trials that were over before some time, in that order; return the others."""
    due = [each for each in news if until is None or each.time <= until]
    for _, ticket, known in sorted(due, key=lambda event: (event.time, event.ticket)):
        told = known or bad
        if told is None:
            tuner.drop(ticket)
        else:
            tuner.tell(ticket, *told) if told.costs else tuner.tell(ticket, told.value)
    return [each for each in news if each not in due]


def _worst(outcomes: Iterable[Outcome | None], goal: str) -> Outcome | None:
    """The worst value and the largest of each cost; None where nothing is known."""
    known = [each for each in outcomes if each is not None]
    if not known:
        return None
    values = [each.value for each in known]
    value = min(values) if goal == "maximise" else max(values)
    return Outcome(value, {name: max(each.costs[name] for each in known) for name in known[0].costs})


def _parameters(trial: FrozenTrial) -> Values:
    """Values by name; of a trial that runs, also those that it has not suggested yet."""
    if trial.state.is_finished():
        return trial.params
    return {**trial.system_attrs.get(ASKED, {}), **trial.system_attrs.get(ENQUEUED, {}), **trial.params}
