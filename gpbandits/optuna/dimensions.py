"""A study of Optuna as a tuner sees it: its distributions as parameters, its trials in their order."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from math import isfinite
from typing import Any, NamedTuple

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState

from agents.tuning import Tuner
from agents.tuning.feasibility import runs
from agents.tuning.parameters import Parameter, as_parameter
from agents.tuning.space import Space
from bandit_envs.basics.arguments import is_number, require

SPENT = "spent"  # user attribute of a trial: its cost, where the sampler has a `cost_budget`
ASKED = "gpbandits:asked"  # attribute of a running trial: its proposal, before the trial suggests each value
ENQUEUED = "fixed_params"  # Optuna's attribute of a trial that was enqueued
FAILURES = ("worst", "forget")
Values = dict[str, Any]


def kind_of(distribution: BaseDistribution) -> Parameter:
    """Return the tuner's parameter of a distribution, which counts choices from 0: they may be anything.

    A range beyond the precision of floats is a ValueError.
    """
    chosen = isinstance(distribution, CategoricalDistribution)
    return as_parameter("x", list(range(len(distribution.choices))) if chosen else distribution)


def tunable(trials: Iterable[FrozenTrial]) -> dict[str, BaseDistribution]:
    """Return the parameters of all completed trials, with the ranges of the latest one, by name.

    Single values, ranges beyond floats, and parameters that have changed their kind are left out.
    """
    found = {}
    for name, each in sorted(_distributions(trials).items()):
        if all(is_equal(each[-1], other) for other in each) and not each[-1].single():
            with suppress(ValueError):
                kind_of(each[-1])
                found[name] = each[-1]
    return found


def ranges_that_changed(trials: Iterable[FrozenTrial]) -> list[str]:
    """Return the names of parameters whose ranges differ between completed trials."""
    each = _distributions(trials)
    return sorted(name for name, found in each.items() if any(other != found[-1] for other in found))


def is_equal(one: BaseDistribution, other: BaseDistribution) -> bool:
    """Return True if two distributions are equal but for their ends; choices have none."""
    if type(one) is not type(other) or not isinstance(one, FloatDistribution | IntDistribution):
        return one == other
    return (one.log, one.step) == (other.log, other.step)  # type: ignore[attr-defined]


def _distributions(trials: Iterable[FrozenTrial]) -> dict[str, list[BaseDistribution]]:
    """Return the distributions in all completed trials of each parameter that all of them have."""
    completed = [trial.distributions for trial in trials if trial.state == TrialState.COMPLETE]
    names = set.intersection(*map(set, completed)) if completed else set()
    return {name: [each[name] for each in completed] for name in names}


class Dimensions:
    """The dimensions are the parameters of a study that a tuner chooses, by name and distribution."""

    def __init__(self, space: Mapping[str, BaseDistribution]):
        self._space, self.kinds = space, {name: kind_of(each) for name, each in space.items()}

    def to_tuner(self, values: Values) -> Values | None:
        """Convert a trial's values to the tuner's; None if one is missing or out of range."""
        try:
            given = {name: each.to_internal_repr(values[name]) for name, each in self._space.items()}
            return {name: kind.check("a parameter", given[name]) for name, kind in self.kinds.items()}
        except (KeyError, ValueError):
            return None

    def among(self, values: Values, running: Iterable[Values]) -> bool:
        """Return True if a trial's values are, to rounding, those of one that runs."""
        space = Space("parameters", self.kinds)
        point, *taken = map(self.to_tuner, (values, *running))
        assert point is not None  # it was proposed
        return runs(space.features(point), [space.features(each) for each in taken if each is not None])

    def to_optuna(self, values: Values) -> Values:
        """Convert the tuner's values to Optuna's."""
        return {name: each.to_external_repr(values[name]) for name, each in self._space.items()}


class TrialOutcome(NamedTuple):
    """An outcome is the value and the costs of a finished trial, and what it spent of a budget."""

    value: float
    costs: dict[str, float]
    spent: float | None = None  # None without a budget


Ending = tuple[datetime, int, TrialOutcome | None]  # of a ticket; None for one that is dropped


def constraint_names(trials: Iterable[FrozenTrial]) -> list[str]:
    """Return the names of all constraints that have a value in some trial."""
    return sorted({name for trial in trials for name in trial.constraints})


def inform(tuner: Tuner, dimensions: Dimensions, trials: Sequence[FrozenTrial], failures: str) -> None:
    """Pass the trials of a study, in the order of their numbers and without waiting ones, to a new tuner.

    The outcome of a trial follows all trials that started before it ended, so that agents see parallel trials
    as delayed feedback.
    """
    names, paid = constraint_names(trials), tuner.plan.cost_budget is not None
    known = [outcome(trial, names, paid) for trial in trials]
    bad = _worst(known, tuner.plan.goal) if failures == "worst" else None
    ended: list[Ending] = []
    for trial, came in zip(trials, known, strict=True):
        ended = _tell(tuner, ended, trial.datetime_start or trial.datetime_complete)
        parameters = dimensions.to_tuner(_parameters(trial))
        if parameters is None:
            continue
        ticket = tuner.start(parameters)
        if trial.state.is_finished():
            spent = spent_by(trial) if paid else None
            failed = None if bad is None else bad._replace(spent=spent or bad.spent)
            ended.append((trial.datetime_complete or datetime.max, ticket, came or failed))
    _tell(tuner, ended, None)


def about_to_begin(trials: Iterable[FrozenTrial], number: int) -> int:
    """Count the running trials before this number without parameters, which other processes are computing."""
    return sum(
        trial.state == TrialState.RUNNING and trial.number < number and not _parameters(trial)
        for trial in trials
    )


def asked_since(before: Iterable[FrozenTrial], now: Iterable[FrozenTrial]) -> list[Values]:
    """Return the parameters of running trials that had none before."""
    known = {trial.number for trial in before if _parameters(trial)}
    new = [trial for trial in now if trial.state == TrialState.RUNNING and trial.number not in known]
    return [parameters for parameters in map(_parameters, new) if parameters]


def spent_by(trial: FrozenTrial) -> float | None:
    """Return what a trial has spent of a budget, None if it does not say; a ValueError unless positive."""
    spent = trial.user_attrs.get(SPENT)
    usable = spent is None or (is_number(spent) and spent > 0)
    require(usable, f"user attribute {SPENT!r} of trial {trial.number}", "a positive number", spent)
    return None if spent is None else float(spent)


def outcome(trial: FrozenTrial, names: Sequence[str], paid: bool = False) -> TrialOutcome | None:
    """Return the outcome of a trial; None if it failed or still runs.

    A pruned trial has the value at which it was pruned. An infinite value and a missing constraint are
    failures, since no model can use them. Where there is a budget, a trial with a value says what it spent.
    """
    value, costs = trial.values, trial.constraints
    if trial.state not in (TrialState.COMPLETE, TrialState.PRUNED) or not value:
        return None
    numbers = [*value, *(costs.get(name, float("nan")) for name in names)]
    if not all(map(isfinite, numbers)):
        return None
    spent = spent_by(trial) if paid else None
    remedy = f'set by trial.set_user_attr("{SPENT}", cost) under a cost_budget'
    require(not paid or spent is not None, f"user attribute {SPENT!r} of trial {trial.number}", remedy, spent)
    return TrialOutcome(value[0], {name: costs[name] for name in names}, spent)


def _tell(tuner: Tuner, ended: list[Ending], until: datetime | None) -> list[Ending]:
    """Pass the trials that ended up to some time to the tuner, in that order; return the others."""
    due = [each for each in ended if until is None or each[0] <= until]
    for _, ticket, known in sorted(due, key=lambda each: each[:2]):
        if known is None:
            tuner.drop(ticket)
        else:
            tuner.tell(ticket, known.value, known.costs or None, spent=known.spent)
    return [each for each in ended if each not in due]


def _worst(outcomes: Iterable[TrialOutcome | None], goal: str) -> TrialOutcome | None:
    """Return the worst value, the largest of each cost and the most spent; None without outcomes."""
    known = [each for each in outcomes if each is not None]
    if not known:
        return None
    worst = min if goal == "maximise" else max
    costs = {name: max(each.costs[name] for each in known) for name in known[0].costs}
    spent = max((each.spent for each in known if each.spent is not None), default=None)
    return TrialOutcome(worst(each.value for each in known), costs, spent)


def _parameters(trial: FrozenTrial) -> Values:
    """Return a trial's values by name; for a running trial also proposed and enqueued ones."""
    if trial.state.is_finished():
        return trial.params
    return {**trial.system_attrs.get(ASKED, {}), **trial.system_attrs.get(ENQUEUED, {}), **trial.params}
