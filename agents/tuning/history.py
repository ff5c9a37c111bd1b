"""The experiments asked for and their outcomes, in order; here too: the value of an experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import is_integer, require

from ..saving.data import hints_of, require_types
from .space import Values, without_time

TELL = "of an experiment that failed call fail(ticket), or drop(ticket) where its parameters are not to blame"
ADD = "an experiment without one is left out"


def as_number(value: Any) -> float | None:
    """Return a number of any library as a float, which may be infinite or NaN; None for other objects."""
    if isinstance(value, str | bytes | bool | np.bool_ | complex) or getattr(value, "ndim", 0):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


class Arrival(NamedTuple):
    """Value of an earlier round."""

    round: int
    value: float
    costs: tuple[float, ...]  # (C,)
    std: float | None = None  # of the value's noise, None for that of all others
    spent: float | None = None  # by the experiment, None without a budget of costs


class Failure(NamedTuple):
    """Failure of an earlier round."""

    round: int
    reason: str
    spent: float | None = None  # by the experiment until it failed, None without a budget of costs


@dataclass(frozen=True)
class TunerRound:
    """One experiment, and the news reported while it was the latest."""

    parameters: Values
    context: Values
    ticket: int | None  # None for past data, which were not asked for
    arrivals: tuple[Arrival, ...] = ()
    dropped: tuple[int, ...] = ()  # rounds
    asked: bool = True  # False for one that the user chose and reports with a ticket
    failed: tuple[Failure, ...] = ()
    only: tuple[Values, ...] = ()  # what was available when it was asked for, () for everything
    proposed: Values | None = None  # parameters at first, where others were set
    corrected: tuple[Arrival, ...] = ()  # former values of this experiment
    anew: bool = False  # True: later questions are those of a new agent, which has observed all rounds

    @property
    def question(self) -> Values:
        """Parameters as they were asked for."""
        return self.parameters if self.proposed is None else self.proposed


class Experiment(NamedTuple):
    """One line of a tuner's history."""

    ticket: int | None  # None for past data
    parameters: Values
    context: Values
    state: str  # "pending", "told", "failed" or "dropped"
    value: float | None
    costs: dict[str, float]
    spent: float | None = None
    std: float | None = None  # of the value's noise, where it was given
    reason: str | None = None  # of the failure


@dataclass(frozen=True)
class TunerHistory:
    """Rounds with their pending tickets.

    It is immutable: each change makes a new history, so that replacing one by the other leaves one of the two
    states after any interruption. O(n) a change, which is microseconds.
    """

    rounds: tuple[TunerRound, ...] = ()  # in order
    pending: dict[int, int] = field(default_factory=dict)  # ticket -> round
    tickets: int = 0  # given so far

    def ask(
        self, parameters: Values, context: Values, asked: bool = True, only: tuple[Values, ...] = ()
    ) -> TunerHistory:
        """Return the history with a new experiment; its ticket is `self.tickets`."""
        started = TunerRound(parameters, context, self.tickets, asked=asked, only=only)
        pending = {**self.pending, self.tickets: len(self.rounds)}
        return TunerHistory((*self.rounds, started), pending, self.tickets + 1)

    def tell(self, ticket: int, report: Arrival) -> TunerHistory:
        """Return the history with what was reported of an experiment, whose round is filled in."""
        arrival = report._replace(round=self._round(ticket))
        return self._closed(ticket, arrivals=(*self.rounds[-1].arrivals, arrival))

    def correct(self, row: int, report: Arrival) -> TunerHistory:
        """Return the history with another report of an experiment with a value, and a new agent."""
        t, i = self._place_of_value(row)
        arrivals = list(self.rounds[t].arrivals)
        former, arrivals[i] = arrivals[i], report._replace(round=row)
        changed = self._with(t, arrivals=tuple(arrivals))
        return changed._with(row, corrected=(*changed.rounds[row].corrected, former)).anew()

    def set(self, row: int, parameters: Values | None) -> TunerHistory:
        """Return the history with the parameters that an experiment really had, None for the known ones.

        A new agent observes it, unless it is the latest experiment, which no agent has observed yet.
        """
        known = self.rounds[row]
        if parameters in (None, known.parameters):
            return self
        changed = self._with(row, parameters=parameters, proposed=known.question)
        return changed if row == len(self.rounds) - 1 else changed.anew()

    def anew(self) -> TunerHistory:
        """Return the history after which a new agent asks, which has observed it."""
        return self._with(len(self.rounds) - 1, anew=True) if self.rounds else self

    def drop(self, ticket: int) -> TunerHistory:
        """Return the history with an experiment dropped."""
        lost = self._round(ticket)  # raises before a round is looked up, of which there may be none
        return self._closed(ticket, dropped=(*self.rounds[-1].dropped, lost))

    def fail(self, ticket: int, reason: str, spent: float | None = None) -> TunerHistory:
        """Return the history with a failed experiment."""
        failure = Failure(self._round(ticket), reason, spent)
        return self._closed(ticket, failed=(*self.rounds[-1].failed, failure))

    def add(self, parameters: Values, context: Values, report: Arrival) -> TunerHistory:
        """Return the history with an experiment that was done elsewhere."""
        past = TunerRound(parameters, context, None, (report._replace(round=len(self.rounds)),))
        return replace(self, rounds=(*self.rounds, past))

    def continues(self, earlier: TunerHistory) -> bool:
        """Return True if all experiments of another history are here, with their outcomes, or corrected."""
        shared = self.rounds[: len(earlier.rounds)]
        asked, ours = ([(r.ticket, r.question, r.context) for r in of] for of in (earlier.rounds, shared))
        if asked != ours:
            return False
        dropped = {t for each in self.rounds for t in each.dropped}
        known = {news.round: [news] for news in [*self.arrivals, *self.failures]}
        for t, (mine, its) in enumerate(zip(shared, earlier.rounds, strict=True)):
            if mine.corrected[: len(its.corrected)] != its.corrected:
                return False
            known[t] = [*known.get(t, []), *mine.corrected[len(its.corrected) :]]
        theirs = [*earlier.arrivals, *earlier.failures]
        gone = (t for each in earlier.rounds for t in each.dropped)
        return all(news in known[news.round] for news in theirs) and all(t in dropped for t in gone)

    @property
    def arrivals(self) -> list[Arrival]:
        """All values, in the order of their reports."""
        return [arrival for round_ in self.rounds for arrival in round_.arrivals]

    @property
    def failures(self) -> list[Failure]:
        """All failures, in the order of their reports."""
        return [failure for round_ in self.rounds for failure in round_.failed]

    def experiments(self, names: tuple[str, ...]) -> list[Experiment]:
        """Return one line an experiment, with costs by name; copies."""
        reports = {news.round: news for news in [*self.arrivals, *self.failures]}
        pending = set(self.pending.values())
        lines = []
        for t, each in enumerate(self.rounds):
            known = each.ticket, dict(each.parameters), dict(each.context)
            match reports.get(t):
                case Arrival(_, value, costs, std, spent):
                    named = dict(zip(names, costs, strict=True))
                    lines.append(Experiment(*known, "told", value, named, spent, std))
                case Failure(_, reason, spent):
                    lines.append(Experiment(*known, "failed", None, {}, spent, None, reason))
                case _:
                    lines.append(Experiment(*known, "pending" if t in pending else "dropped", None, {}))
        return lines

    @classmethod
    def from_data(cls, rounds: list[Mapping[str, Any]]) -> TunerHistory:
        """Return the history of rounds as plain data."""
        read: list[TunerRound] = []
        pending: dict[int, int] = {}
        over: set[int] = set()
        for t, given in enumerate(rounds):
            require_types("a round", given, hints_of(TunerRound))
            arrivals, corrected = _arrivals(given["arrivals"]), _arrivals(given["corrected"])
            failed = tuple(Failure(*failure) for failure in given["failed"])
            news = {"arrivals": arrivals, "dropped": tuple(given["dropped"]), "failed": failed}
            news |= {"corrected": corrected, "only": tuple(given["only"])}
            each = TunerRound(**{**given, **news})
            if each.ticket is not None:
                require(each.ticket == len(pending), "ticket", str(len(pending)), each.ticket)
                pending[each.ticket] = t
            read.append(each)
            for done in [*(each.round for each in (*arrivals, *failed)), *each.dropped]:
                require(0 <= done <= t and done not in over, "a round that is over", "a pending one", done)
                over.add(done)
        left = {ticket: t for ticket, t in pending.items() if t not in over}
        return cls(tuple(read), left, len(pending))

    def _with(self, row: int, **changes: Any) -> TunerHistory:
        rounds = list(self.rounds)
        rounds[row] = replace(rounds[row], **changes)
        return replace(self, rounds=tuple(rounds))

    def row_of(self, ticket: Any) -> int:
        """Return the row of an experiment by its ticket, or raise."""
        tickets = [each.ticket for each in self.rounds]
        known = is_integer(ticket) and ticket in tickets
        require(known, "ticket", "that of an experiment with a value", ticket)
        return tickets.index(ticket)

    def _place_of_value(self, row: Any) -> tuple[int, int]:
        """Return the round in which an experiment's value was reported, and its place there, or raise."""
        for t, each in enumerate(self.rounds):
            for i, arrival in enumerate(each.arrivals):
                if arrival.round == row:
                    return t, i
        raise ValueError(f"an experiment to correct must have a value, got row {row!r}; see `tell`")

    def _closed(self, ticket: int, **news: Any) -> TunerHistory:
        pending = {other: t for other, t in self.pending.items() if other != ticket}
        return replace(self, rounds=(*self.rounds[:-1], replace(self.rounds[-1], **news)), pending=pending)

    def _round(self, ticket: Any) -> int:
        if is_integer(ticket) and ticket in self.pending:
            return self.pending[ticket]
        given = is_integer(ticket) and 0 <= ticket < self.tickets
        words = "has a result, failed or was dropped" if given else "was never given"
        known = ", ".join(map(str, self.pending)) or "none"
        raise ValueError(f"ticket {ticket!r} {words}; pending tickets: {known}")


def running_in(rounds: Sequence[TunerRound], context: Values) -> dict[int, Values]:
    """Return ticket -> parameters of the experiments that run after some rounds, in a context at any time."""
    over = {news.round for each in rounds for news in (*each.arrivals, *each.failed)}
    over |= {t for each in rounds for t in each.dropped}
    here = without_time(context)
    return {
        each.ticket: each.parameters
        for t, each in enumerate(rounds)
        if each.ticket is not None and t not in over and without_time(each.context) == here
    }


def _arrivals(given: Any) -> tuple[Arrival, ...]:
    return tuple(Arrival(t, value, tuple(costs), std, spent) for t, value, costs, std, spent in given)
