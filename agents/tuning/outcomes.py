"""Reports of a tuner's experiments: starts, values and costs, corrections, losses and failures."""

from __future__ import annotations

from collections.abc import Mapping

from bandit_envs.basics.arguments import is_integer, require

from .history import ADD, TELL, TunerHistory
from .records import Records
from .space import Values
from .workers import locked


class OutcomeRecords(Records):
    """Records to which the outcomes of experiments are reported, in any order and at any time."""

    @locked
    def start(self, parameters: Values, context: Values | None = None, *, time: float | None = None) -> int:
        """Report an experiment that runs without having been asked for; return its ticket; see `ask`."""
        known, within = self.plan.parameters.check(parameters), self.plan.context(context, time)
        self._history = self._history.ask(known, within, asked=False)
        return self._history.tickets - 1

    @locked
    def tell(
        self,
        ticket: int,
        value: float,
        costs: Mapping[str, float] | None = None,
        std: float | None = None,
        spent: float | None = None,
        *,
        parameters: Values | None = None,
    ) -> None:
        """Report the value of an experiment, a finite number; tickets of `ask` may be reported in any order.

        Args:
            costs: name -> value, where there are constraints; feasible is at most 0.
            std: of the noise in this value, such as a mean's standard error; None for that of all others. The
                learnt noise is a factor of all stds. Not under constraints.
            spent: cost of the experiment, where there is a `cost_budget`.
            parameters: those that were really set, where they differ from the proposed ones; they may lie
                between steps and outside the ranges.
        """
        came = self.plan.arrival(value, costs, std, spent, TELL)
        set_to = None if parameters is None else self.plan.parameters.check_done(parameters)
        told = self._history.tell(ticket, came)
        self._adopt(told.set(self._history.pending[ticket], set_to))

    @locked
    def correct(
        self,
        ticket: int | None,
        value: float,
        costs: Mapping[str, float] | None = None,
        std: float | None = None,
        spent: float | None = None,
        *,
        row: int | None = None,
        parameters: Values | None = None,
    ) -> None:
        """Replace what was reported of an experiment, for instance after a typing error.

        A new agent then observes all experiments. `save` writes over a file that holds the former values.

            >>> from agents import Linear, Tuner
            >>> tuner = Tuner({"x": Linear(0, 1)})
            >>> ticket, parameters = tuner.ask()
            >>> tuner.tell(ticket, 12.0)
            >>> tuner.correct(ticket, 1.2)

        Args:
            ticket: of an experiment with a value; None for one of the past, which has a row.
            value, costs, std, spent: as for `tell`; all of them replace the former ones.
            row: place of the experiment in `experiments`, counted from 0, where `ticket` is None.
            parameters: those that were really set; None for the known ones.
        """
        came = self.plan.arrival(value, costs, std, spent, TELL)
        set_to = None if parameters is None else self.plan.parameters.check_done(parameters)
        require((ticket is None) != (row is None), "row", "given where ticket is None, and there alone", row)
        require(row is None or is_integer(row), "row", "None or an integer", row)
        place = self._history.row_of(ticket) if row is None else int(row)
        self._adopt(self._history.correct(place, came).set(place, set_to))

    @locked
    def drop(self, ticket: int) -> None:
        """Report that an experiment was lost, for instance because a machine died; it is no longer pending.

        If its parameters are the cause, `fail` lets the tuner learn from it.
        """
        self._history = self._history.drop(ticket)

    @locked
    def fail(self, ticket: int, reason: str = "", spent: float | None = None) -> None:
        """Report that an experiment failed because of its parameters.

        From then on a classifier learns from all experiments where others would fail too, and the agent
        chooses among points where a success is likely enough: 30 to 90 %, by the question, and at most 90 %
        of the largest probability. Successes near a failure reopen its neighbourhood. For agents that cannot
        be restricted to some points the answer is replaced by the nearest open one.

            >>> from agents import Linear, Tuner
            >>> tuner = Tuner({"x": Linear(0, 1)})
            >>> ticket, parameters = tuner.ask()
            >>> tuner.fail(ticket, "the melt froze")

        Args:
            reason: any text, which is stored.
            spent: its cost until then, where there is a `cost_budget`; None for nothing.
        """
        require(isinstance(reason, str), "reason", "text", reason)
        paid = None if spent is None else self.plan.spent(spent)
        self._history = self._history.fail(ticket, reason, paid)

    @locked
    def add(
        self,
        parameters: Values,
        value: float,
        costs: Mapping[str, float] | None = None,
        context: Values | None = None,
        std: float | None = None,
        spent: float | None = None,
        *,
        time: float | None = None,
    ) -> None:
        """Report an experiment that was not asked for, such as one from the past; see `tell`.

        Its parameters may lie outside the ranges: the tuner learns from it, and asks inside.
        """
        known = self.plan.parameters.check_done(parameters)
        came = self.plan.arrival(value, costs, std, spent, ADD)
        self._history = self._history.add(known, self.plan.context(context, time), came)

    def _adopt(self, history: TunerHistory) -> None:
        """Take a history, which a new player observes where earlier rounds have changed."""
        if history.rounds[-1].anew:
            self._player = None
        self._history = history
