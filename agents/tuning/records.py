"""What a tuner knows: its experiments, the best of them, those that run, and what is left to spend."""

from __future__ import annotations

from .history import Experiment, History
from .plan import Plan
from .scale import sign_of
from .showing import as_html, heading
from .space import Values


class Records:
    """What can be read of a tuner; all that is handed out are copies."""

    plan: Plan
    _history: History

    @property
    def best(self) -> Experiment | None:
        """The experiment of the best value so far, None before any.

        Under constraints it is the best of those whose observed costs are all at most 0, None if there are
        none. Of a noisy function it is the luckiest experiment, and of one that drifts it may be an old one:
        see `recommend`.
        """
        sign = sign_of(self.plan.goal)
        told = [each for each in self.experiments if each.state == "told"]
        feasible = [each for each in told if all(cost <= 0 for cost in each.costs.values())]
        return max(feasible, key=lambda each: sign * each.value, default=None)  # type: ignore[operator]

    @property
    def experiments(self) -> list[Experiment]:
        """All experiments in the order in which they were asked for or added."""
        return self._history.experiments(self.plan.constraints)

    @property
    def left(self) -> float | None:
        """What is left of the `cost_budget`, at most 0 once it is spent; None without one."""
        most = self.plan.cost_budget
        paid = [*self._history.arrivals, *self._history.failures]
        return None if most is None else most - sum(each.spent or 0.0 for each in paid)

    @property
    def pending(self) -> dict[int, Values]:
        """Ticket -> parameters of the experiments that are running; after `load`, those to do again."""
        rounds = self._history.rounds
        return {ticket: dict(rounds[t].parameters) for ticket, t in self._history.pending.items()}

    def __repr__(self) -> str:
        return heading(self.plan, self.experiments)

    def _repr_html_(self) -> str:
        return as_html(self.plan, self.experiments, self.best)
