"""What was asked and what came of it, in order: all that a tuner knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from bandit_envs.basics.arguments import is_integer, require

from ..saving.types import require_types
from .space import Values


class Arrival(NamedTuple):
    """What an earlier round turned out to be worth."""

    round: int
    value: float
    costs: tuple[float, ...]  # (C,)


@dataclass
class Round:
    """One experiment, and the news that came while it was the latest.

    Args:
        parameters, context: of the experiment.
        ticket: None for past data, which nobody asked for.
        arrivals: experiments that were told.
        dropped: rounds whose experiments failed.
    """

    parameters: Values
    context: Values
    ticket: int | None
    arrivals: list[Arrival] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)


SAVED = {  # types of the fields of a round in a file
    "parameters": dict[str, Any],
    "context": dict[str, Any],
    "ticket": int | None,
    "arrivals": list[tuple[int, float, tuple[float, ...]]],
    "dropped": list[int],
}


class Experiment(NamedTuple):
    """One line of a tuner's history."""

    ticket: int | None  # None for past data
    parameters: Values
    context: Values
    state: str  # "pending", "told" or "dropped"
    value: float | None
    costs: dict[str, float]


class History:
    """Rounds, and which of their tickets are pending."""

    def __init__(self) -> None:
        self.rounds: list[Round] = []
        self.pending: dict[int, int] = {}  # ticket -> round
        self.tickets = 0

    def ask(self, parameters: Values, context: Values) -> int:
        """Start an experiment and return its ticket."""
        ticket = self.tickets
        self.pending[ticket] = len(self.rounds)
        self.rounds.append(Round(parameters, context, ticket))
        self.tickets += 1
        return ticket

    def tell(self, ticket: int, value: float, costs: tuple[float, ...]) -> None:
        """An experiment is over."""
        self.rounds[-1].arrivals.append(Arrival(self._close(ticket), value, costs))

    def drop(self, ticket: int) -> None:
        """An experiment has failed."""
        self.rounds[-1].dropped.append(self._close(ticket))

    def add(self, parameters: Values, context: Values, value: float, costs: tuple[float, ...]) -> None:
        """An experiment was done elsewhere."""
        past = Round(parameters, context, None, [Arrival(len(self.rounds), value, costs)])
        self.rounds.append(past)

    @property
    def arrivals(self) -> list[Arrival]:
        """All values, in the order in which they were told."""
        return [arrival for round_ in self.rounds for arrival in round_.arrivals]

    def experiments(self, names: tuple[str, ...]) -> list[Experiment]:
        """One line an experiment, with costs by name."""
        told = {arrival.round: arrival for arrival in self.arrivals}
        pending = set(self.pending.values())
        lines = []
        for t, each in enumerate(self.rounds):
            arrival = told.get(t)
            state = "told" if arrival else "pending" if t in pending else "dropped"
            costs = dict(zip(names, arrival.costs, strict=True)) if arrival else {}
            value = arrival.value if arrival else None
            lines.append(Experiment(each.ticket, each.parameters, each.context, state, value, costs))
        return lines

    def to_data(self) -> list[dict[str, Any]]:
        """The rounds."""
        return [asdict(each) for each in self.rounds]

    @classmethod
    def from_data(cls, rounds: list[Mapping[str, Any]]) -> History:
        """The inverse of `to_data`."""
        history, over = cls(), set()
        for t, given in enumerate(rounds):
            require_types("a round", given, SAVED)
            arrivals = [Arrival(s, value, tuple(costs)) for s, value, costs in given["arrivals"]]
            each = Round(**{**given, "arrivals": arrivals})
            if each.ticket is not None:
                require(each.ticket == history.tickets, "ticket", str(history.tickets), each.ticket)
                history.pending[each.ticket] = t
                history.tickets += 1
            history.rounds.append(each)
            for done in [*(arrival.round for arrival in arrivals), *each.dropped]:
                require(0 <= done <= t and done not in over, "a round that is over", "a pending one", done)
                over.add(done)
        history.pending = {ticket: t for ticket, t in history.pending.items() if t not in over}
        return history

    def _close(self, ticket: int) -> int:
        if not is_integer(ticket) or ticket not in self.pending:
            known = ", ".join(map(str, self.pending)) or "none"
            over = "is over" if is_integer(ticket) and 0 <= ticket < self.tickets else "was never given"
            raise ValueError(f"ticket {ticket!r} {over}; pending tickets: {known}")
        return self.pending.pop(ticket)
