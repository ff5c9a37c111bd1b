"""A record holds the actions and outcomes of one agent in some trials of one environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from gpbandits.evaluation.measures import Measure, Rounds, followed
from gpbandits.evaluation.spending import Spending, join
from gpbandits.evaluation.thinning import sums_between


class Record(NamedTuple):
    """A record holds B trials of one agent at T recorded rounds, which are all rounds unless thinned.

    Regret, cost and violation are sums since the previous recorded round, hence values of single rounds if
    all are recorded. If rounds are thinned, `totals` are running totals of all rounds. Change-points and
    alarms are complete; their rounds count from 0.
    """

    regret: Floats  # (B, T) regret of the noiseless mean, charged when played
    simple_regret: Floats  # (B, T) of the plays that count, see `Curves.simple_regret`
    cost: Floats  # (B, T, C) noiseless constraint values of the plays
    violation: Floats  # (B, T) norm of their positive part, which does not cancel over rounds
    observed_cost: Floats  # (B, T, C) sums of the noisy constraint values delivered in the round
    action: Any  # (B, T) arms or (B, T, d) points
    seconds: Floats  # (B,) spent in act and update
    changes: Any  # (B,) tuples of ascending rounds: those that began another segment
    alarms: Any  # (B,) tuples of ascending rounds: those after which the agent alarmed; None without detector
    infeasible: (
        Any  # (B,) rounds in which it first found the costs impossible to keep; -1 never, None cannot tell
    )
    spending: Spending | None = None  # where plays cost
    # (B,) share of the arms that can be reached safely which were certified or played; where there is a seed
    covered: Floats | None = None
    # Measure -> (B, T, ...) running totals where rounds are thinned; None where those follow from the fields.
    totals: Mapping[str, Any] | None = None

    @property
    def of_rounds(self) -> Rounds:
        """Return the values from which measures are computed."""
        paid = (None, None) if self.spending is None else self.spending[:2]
        return Rounds(self.regret, self.cost, self.violation, self.observed_cost, *paid)

    def running(self, measure: Measure) -> Any:
        """Return the measure up to each recorded round, (B, T, ...)."""
        if self.totals is not None and measure.name in self.totals:
            return self.totals[measure.name]
        if measure.of is None:
            return getattr(self, measure.name)
        return measure.accumulate(measure.of(self.of_rounds))

    def at(self, rounds: Ints) -> Record:
        """Thin to these rounds, which count from 1, increase, and end with the last, (R,)."""
        index = rounds - 1
        measures = followed(self.spending is not None)
        return self._replace(
            regret=sums_between(self.regret, rounds),
            simple_regret=self.simple_regret[:, index],
            cost=sums_between(self.cost, rounds),
            violation=sums_between(self.violation, rounds),
            observed_cost=sums_between(self.observed_cost, rounds),
            action=self.action[:, index],
            spending=None if self.spending is None else self.spending.at(rounds),
            totals={measure.name: self.running(measure)[:, index] for measure in measures},
        )


def join_trials(blocks: Sequence[Record]) -> Record:
    """Join the records of blocks of trials of the same agent, in their order."""
    *arrays, spendings, covered, totals = zip(*blocks, strict=True)
    joined: list[Any] = [np.concatenate(parts) for parts in arrays]
    known = None if covered[0] is None else np.concatenate(covered)
    running = (
        None if totals[0] is None else {name: np.concatenate([t[name] for t in totals]) for name in totals[0]}
    )
    return Record(*joined)._replace(spending=join(spendings), covered=known, totals=running)


def ragged(rounds: Sequence[Any]) -> Any:
    """Return B lists of rounds of different lengths as an array (B,) of tuples; None stays."""
    array = np.empty(len(rounds), dtype=object)
    for i, row in enumerate(rounds):
        array[i] = None if row is None else tuple(map(int, row))
    return array


def one_each(values: Sequence[Any]) -> Any:
    """Return B integers or None as an array (B,) of objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = [None if value is None else int(value) for value in values]
    return array


def check_shapes(label: str, record: Record, expected: tuple[int, int, int]) -> None:
    """Raise unless the record has B trials, T recorded rounds and C constraints."""
    plays, trials = expected[:2], expected[:1]
    given = (*map(np.shape, record[:5]), np.shape(record.action)[:2], *map(np.shape, record[6:10]))
    wanted = (plays, plays, expected, plays, expected, plays, trials, trials, trials, trials)
    names = Record._fields[:10]
    if record.spending is not None:
        names += Spending._fields
        given, wanted = (*given, *map(np.shape, record.spending)), (*wanted, plays, plays, trials)
    if record.covered is not None:
        names, given, wanted = (*names, "covered"), (*given, np.shape(record.covered)), (*wanted, trials)
    for name, shape, right in zip(names, given, wanted, strict=True):
        if shape != right:
            raise ValueError(
                f"{name} of agent {label!r} must have shape {right} "
                f"(trials, recorded rounds, constraints: {expected}), got {shape}"
            )
