"""A tuner's experiments: the best, those that run, tables, the file, and the player that observed them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from bandit_envs.basics.arguments import from_extra, require_switch
from bandit_envs.basics.files import check_path
from bandit_envs.basics.notebook import brief, html_table
from bandit_envs.basics.threads import one_thread

from ..registry import without_options
from ..saving.data import require_types
from ..saving.files import MAX_BYTES, parsing, playing, read, write
from .history import Experiment, TunerHistory
from .parameters import Ranges
from .plan import TunerPlan
from .player import TunerPlayer
from .restoring import NOTES, require_possible, restored
from .running import FORM, SHARE, require_continued
from .scale import sign_of
from .space import Values
from .workers import UnsharedLock, locked

if TYPE_CHECKING:
    from pandas import DataFrame

    from .pictures.figures import Figure

LATEST = 20  # number of experiments shown


class Records:
    """A tuner's plan, its history, and the player that has observed it; public properties are copies."""

    plan: TunerPlan
    _history: TunerHistory

    def _begin(self, plan: TunerPlan) -> None:
        self.plan, self._history, self._lock = plan, TunerHistory(), UnsharedLock()
        self._player: TunerPlayer | None = None  # None: the history is replayed

    @property
    def best(self) -> Experiment | None:
        """The experiment of the best value so far, None before any.

        Under constraints it is the best of those whose observed costs are all at most 0, None if there are
        none. Results from outside the ranges do not count. Of a noisy function it is the luckiest experiment,
        and of a drifting one it may be outdated: see `recommend`.
        """
        sign = sign_of(self.plan.goal)
        feasible = [each for each in self._usable if all(cost <= 0 for cost in each.costs.values())]
        return max(feasible, key=lambda each: sign * each.value, default=None)  # type: ignore[operator]

    @property
    def best_params(self) -> Values | None:
        """The parameters of `best`, None before any."""
        return None if self.best is None else self.best.parameters

    @property
    def best_value(self) -> float | None:
        """The value of `best`, None before any."""
        return None if self.best is None else self.best.value

    @property
    def experiments(self) -> list[Experiment]:
        """All experiments in the order in which they were asked for or added."""
        return self._history.experiments(self.plan.constraints)

    @property
    def _usable(self) -> list[Experiment]:
        """The experiments with a value whose parameters may be asked for."""
        told = (each for each in self.experiments if each.value is not None)
        return [each for each in told if self.plan.may_use(each.parameters)]

    @property
    def left(self) -> float | None:
        """Remaining `cost_budget`, at most 0 once it is spent; None without one."""
        most = self.plan.cost_budget
        paid = [*self._history.arrivals, *self._history.failures]
        return None if most is None else most - sum(each.spent or 0.0 for each in paid)

    @property
    def pending(self) -> dict[int, Values]:
        """Ticket -> parameters of the experiments that are running; after `load`, those to repeat."""
        rounds = self._history.rounds
        return {ticket: dict(rounds[t].parameters) for ticket, t in self._history.pending.items()}

    def to_frame(self) -> DataFrame:
        """Return all experiments as a table of pandas, a row each, in the order of `experiments`.

        Columns: ticket, parameters, contexts and the time, state, value, std of its noise, costs by name,
        spent where there is a `cost_budget`, and the reason of a failure. Of two columns of one name the
        second has a prefix with its kind, such as "cost depth".
        """
        with from_extra("eval", "tables"):
            import pandas as pd

        plan, experiments = self.plan, self.experiments
        columns: dict[str, Any] = {"ticket": [each.ticket for each in experiments]}

        def add(what: str, name: str, values: Any) -> None:
            columns[name if name not in columns else f"{what} {name}"] = values

        for name in plan.parameters.kinds:
            add("parameter", name, [each.parameters[name] for each in experiments])
        for name in plan.contexts.kinds:
            add("context", name, [each.context[name] for each in experiments])
        for name in ("state", "value", "std"):
            add("told", name, [getattr(each, name) for each in experiments])
        for name in plan.constraints:
            add("cost", name, [each.costs.get(name) for each in experiments])
        if plan.cost_budget is not None:
            add("told", "spent", [each.spent for each in experiments])
        reasons = pd.Series([each.reason for each in experiments], dtype=object)  # None stays None
        add("told", "reason", reasons)
        frame = pd.DataFrame(columns)
        numbers = [name for name in ("value", "std", "spent", *plan.constraints) if name in frame]
        known = {name: "float64" for name in numbers if name not in plan.parameters.kinds}
        return frame.astype({"ticket": "Int64", **known})

    def plot(
        self,
        kind: str = "history",
        *,
        parameters: Sequence[str] | None = None,
        context: Values | None = None,
        ax: Any = None,
        size: tuple[float, float] | None = None,
        path: str | os.PathLike[str] | None = None,
    ) -> Figure:
        """Draw the experiments, or a model of their values; notebooks show the figure.

        The model does not depend on the agent: a Gaussian process with a Matern 5/2 kernel and one
        length-scale a feature, fitted by maximum likelihood to the latest 200 values.

            >>> from agents import Linear, Tuner
            >>> tuner = Tuner({"x": Linear(-1, 1), "y": Linear(0, 1)})
            >>> best = tuner.optimise(lambda x, y: -(x**2), 8)
            >>> figure = tuner.plot("slices")

        Args:
            kind: "history", values by experiment and the best so far; "slices", the model along each
                parameter through the best experiment, with its 95 % interval; "contour", its mean over two
                parameters, and where a failure is as likely as a success; "importance", the correlation lost
                from one end of a parameter's range to the other, 0 of an irrelevant one.
            parameters: names of those to draw, for a contour two; default all, for a contour the two most
                important.
            context: of the drawn model, with its "time" where there is a `clock`; default that of the latest
                experiment.
            ax: axes of matplotlib to draw on, for slices one a parameter.
            size: of a new figure, width and height in inches.
            path: file to save it to as well, in the format of its ending.

        Raises:
            ValueError: there are fewer than two values.
        """
        with from_extra("eval", "figures"):
            from .pictures.figures import Drawing, draw

        known = None if context is None else self.plan.context(context)
        told = self.plan, self._history.rounds, self.experiments, self.best
        return draw(Drawing(*told, parameters, known), kind, ax, size, path)

    @locked
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tuner to one file (JSON), from which `Tuner.load` or `agents.load` continue exactly.

        Raises:
            ValueError: the agent or an option of it is not data, the file holds experiments that this tuner
                lacks or is of another kind, or another process or tuner holds the file.
        """
        notes = None if self._player is None else self._player.notes()
        content = {"plan": self.plan.to_data(), "rounds": [asdict(each) for each in self._history.rounds]}
        content["notes"] = notes
        # While this tuner's `optimise` holds the file, which it has compared, nobody else writes it.
        write(path, FORM, content, owner=self, continued=partial(require_continued, self), remedy=SHARE)

    @classmethod
    @one_thread()
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        trust: bool = False,
        max_bytes: int = MAX_BYTES,
        parameters: Ranges | None = None,
        possible: Callable[..., bool] | None = None,
    ) -> Self:
        """Return a saved tuner, whose agent is rebuilt from the history; see `agents.load`.

        Our agents resume from notes of their draws and fits. Agents of other packages, and those that restart
        at changes, answer all questions again, which takes as long as it took then.

        Args:
            parameters: other ranges of the same parameters. Results from outside are learnt from, by a new
                agent, and questions lie inside.
            possible: as for `Tuner`; needed where the saved tuner had one.
        """
        require_switch("trust", trust)
        check_path("path", path)
        content = read(path, FORM, max_bytes=max_bytes)
        tuner = cls.__new__(cls)
        with parsing(path):
            tuner._begin(TunerPlan.from_data(content["plan"], trust, parameters, possible))
            history = TunerHistory.from_data(content["rounds"])
            tuner._history = history if parameters is None else history.anew()
            for each in tuner._history.rounds:
                require_possible(tuner.plan, each)
            notes = content.get("notes")
            require_types("notes of a tuner", {"notes": notes}, {"notes": NOTES})
        with playing(path):
            tuner._player = restored(tuner.plan, tuner._history.rounds, notes, compared=True)
        return tuner

    def __repr__(self) -> str:
        plan, counts = self.plan, Counter(each.state for each in self.experiments)
        shown = ["told", "pending", "dropped", *(["failed"] if counts["failed"] else [])]
        states = ", ".join(f"{counts[state]} {state}" for state in shown)
        agent = brief(without_options(plan.agent))
        return f"Tuner({plan.goal} over {', '.join(plan.parameters.kinds)}, agent={agent}: {states})"

    def _repr_html_(self) -> str:
        """Return a table of the latest experiments, newest first, with the best one."""
        plan, experiments, best = self.plan, self.experiments, self.best
        header = ["ticket", *plan.parameters.kinds, *plan.contexts.kinds, "state", "value", *plan.constraints]
        lines = []
        for each in reversed(experiments[-LATEST:]):
            chosen = [each.ticket, *each.parameters.values(), *each.context.values()]
            found = [each.value, *(each.costs.get(name) for name in plan.constraints)]
            before, after = (["" if x is None else brief(x) for x in part] for part in (chosen, found))
            lines.append([*before, each.state, *after])
        earlier = len(experiments) - len(lines)
        notes = [f"best: {brief(best.value)} at {brief(best.parameters)}"] if best else []
        notes += [f"{earlier} earlier experiments are in tuner.experiments"] if earlier else []
        return html_table(repr(self), header, lines, notes)
