"""Ask and tell: Bayesian optimisation for people without an environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from bandit_envs.basics.arguments import is_count, is_integer, require, require_switch
from bandit_envs.basics.threads import one_thread

from .availability import checked_entries
from .feasibility import feasibility_of
from .history import ADD, TELL, Experiment
from .parameters import Ranges
from .plan import TunerPlan, listed
from .player import Advice, player_for
from .records import Records
from .reports import Reports, check_reports
from .running import MayStop, Run, check_run, may_stop, require_rule, rule_of
from .space import Space, Values, with_clock
from .workers import executor_of, locked, require_capacity

Question = tuple[int, Values]  # a ticket and parameters
Only = Values | Sequence[Values] | None  # what is available


class Tuner(Records):
    """Proposes the next experiment, given all that were done, are running or have failed.

    An experiment is a round that starts with `ask` and whose reward is delivered by `tell`, in any order and
    at any time: running experiments are delayed feedback. The agent observes standardised values, and costs
    in units of their own size; whenever the number of values has doubled they are standardised again, and a
    fresh agent observes the whole history, and learns a kernel from it once. Kernels use the values that will
    be run. A call that is interrupted, or fails, has either happened or not; returned objects are copies.
    Threads wait for each other; linear algebra runs on one, unless in a block `with gpbandits.threads(n)`.

        >>> from agents import Integer, Log, Tuner
        >>> tuner = Tuner({"rate": Log(1e-5, 1e-1), "depth": Integer(1, 12)}, goal="minimise")
        >>> ticket, parameters = tuner.ask()
        >>> tuner.tell(ticket, 0.25)

    Args:
        parameters: name -> a range (low, high), of whole numbers if both ends are; a list of choices;
            `Linear`, `Log`, `Integer` or `Categorical`; a uniform, loguniform or randint of `scipy.stats`; or
            a distribution of Optuna. Or a `Space` with points of its own, such as the rows of a table.
        agent: a name, a path "package.module:Class" or a callable, or (agent, options), as for `evaluate`.
            Default `gp-agent` with the goal "best", and with contexts, a clock, constraints or a
            `cost_budget` what `agents.real.choice` chooses.
        goal: "maximise" or "minimise", in either spelling.
        contexts: name -> range, as of parameters, of what is given in each experiment and not chosen.
        constraints: names of the costs, each of which should be at most 0.
        seed: of the agent; the same seed and the same reports give the same questions.
        budget: approximate number of experiments; more are allowed.
        max_pending: how many experiments may run at a time, None for any number.
        cost_budget: total cost that all experiments may have, in any unit; each then reports what it `spent`.
            Default agent `ei-per-cost`, which learns the costs of experiments too.
        clock: for functions that drift, the approximate duration of all experiments together, in any unit.
            Each question then has its `time` as a further context: the older a value, the smaller its weight,
            at a rate that agents which learn a kernel learn too.
        num_arms: largest size of a finite set. More points, and a continuum, are a box whose search visits
            possible points only; an agent without boxes is given as many points, which cover the space.
        noise_std: std of the noise of a value, None if unknown: it is then learnt. 0 asks for nothing a
            second time in the same context while anything else is left. Under constraints, where
            value and costs have a noise each, it is the initial value of learning.
        standardise: False gives the agent values and costs unscaled; it then assumes a prior mean of 0 and
            the amplitude of its kernel.
        safe: parameters that are known to keep all costs in every context, such as [{"x": 0.1}], for agents
            that keep them in every experiment, such as "safe-ucb", on a finite set. Costs are assumed to be
            samples of the kernel whose std is the size of those observed so far; `standardise=False` takes
            them as multiples of a std that you know. An agent's `lipschitz` is in the same units, over the
            whole range of a parameter.
        stopping: the rule of `may_stop` in the value's unit, ("gap", {"eps": 0.01}), or label -> rule.
        possible: a function of the parameters by keyword that returns whether they may be asked for, such as
            `lambda a, b: a + b <= 1`. A file does not hold it: give it to `Tuner.load` again.
        repeats: False asks for nothing that was tried in the same context or is running, where a value has no
            noise; once all was tried, `ask` is an error.
        like: results of earlier tasks on the same parameters, each a tuner, or a table (a frame, or a list of
            dicts) of the parameters and the "value": the default agent's prior, see `agents.real.earlier`.
        never: parameters that must never be asked for: a dict of some of them, or of all, such as
            {"oven": "small"}, or a list of such dicts. A file holds them.
    """

    def __init__(
        self,
        parameters: Ranges | Space,
        *,
        agent: Any = None,
        goal: str = "maximise",
        contexts: Ranges | None = None,
        constraints: Sequence[str] = (),
        seed: int = 0,
        budget: int = 100,
        max_pending: int | None = None,
        num_arms: int = 1024,
        noise_std: float | None = None,
        standardise: bool = True,
        cost_budget: float | None = None,
        clock: float | None = None,
        safe: Sequence[Values] = (),
        stopping: Any = None,
        possible: Callable[..., bool] | None = None,
        repeats: bool = True,
        like: Sequence[Any] = (),
        never: Only = None,
    ):
        plan = TunerPlan(
            parameters=parameters if isinstance(parameters, Space) else Space("parameters", parameters),
            contexts=Space("contexts", with_clock({} if contexts is None else contexts, clock)),
            agent=agent,
            goal=goal,
            constraints=listed("constraints", constraints, "names"),
            seed=seed,
            budget=budget,
            max_pending=max_pending,
            num_arms=num_arms,
            noise_std=noise_std,
            standardise=standardise,
            cost_budget=cost_budget,
            safe=listed("safe", safe, "parameters"),
            stopping=stopping,
            possible=possible,
            repeats=repeats,
            like=_experiments_of(like, goal),
            never=never,  # type: ignore[arg-type] (checked and filled in)
        )
        require_rule(plan)
        self._begin(plan)

    @overload
    def ask(
        self,
        n: Values | None = None,
        context: Values | None = None,
        *,
        time: float | None = None,
        only: Only = None,
    ) -> Question: ...

    @overload
    def ask(
        self, n: int, context: Values | None = None, *, time: float | None = None, only: Only = None
    ) -> list[Question]: ...

    @locked
    @one_thread()
    def ask(
        self,
        n: Any = None,
        context: Values | None = None,
        *,
        time: float | None = None,
        only: Only = None,
    ) -> Question | list[Question]:
        """Return a ticket and the parameters of the experiment to do now, or of n experiments.

            >>> from agents import Linear, Tuner
            >>> tuner = Tuner({"x": Linear(0, 1)})
            >>> for ticket, parameters in tuner.ask(3):
            ...     tuner.tell(ticket, parameters["x"])

        Args:
            n: how many, as a list, each chosen given that those before it run. If the chosen parameters run
                already, the default agent asks for nearby ones, and for the same again only where all that
                may be asked for run. None asks for a single one; a context may be given in its place.
            context: name -> value, where there are contexts.
            time: of their start, where there is a `clock`.
            only: what is available now: a dict of some parameters, or of all, such as {"oven": "small"}, or
                a list of such dicts. The question agrees with one of them.

        Raises:
            RuntimeError: `max_pending` experiments are running, or would be, or the `cost_budget` is spent.
            ValueError: nothing of what is available is possible.
        """
        if isinstance(n, Mapping):
            require(context is None, "n", "a number, where a context is given", n)
            n, context = None, dict(n)
        require(n is None or is_count(n), "n", "None or a positive integer", n)
        known = self.plan.context(context, time)
        among = checked_entries("only", self.plan.parameters, only, fewest=1)
        require_capacity(self.plan, self._history, self.left, n or 1)
        history, player, questions = self._history, self._take_player(), []
        for _ in range(n or 1):
            player = self._informed(player, history.rounds, known, among)
            parameters = player.ask(known, feasibility_of(self.plan, history.rounds), among)
            parameters = player.avoid_running(parameters, history.running_in(known))
            questions.append((history.tickets, dict(parameters)))
            history = history.ask(parameters, known, only=among)
        self._history = history
        self._player = player
        return questions if n else questions[0]

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
        self._adopt(told if set_to is None else told.set(self._history.pending[ticket], set_to))

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
        corrected = self._history.correct(place, came)
        self._adopt(corrected if set_to is None else corrected.set(place, set_to))

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

    def optimise(
        self,
        f: Callable[..., Any],
        n: int,
        workers: int = 1,
        *,
        backend: str = "processes",
        context: Values | None = None,
        time: Callable[[], float] | None = None,
        file: str | os.PathLike[str] | None = None,
        price: float | None = None,
        target: float | None = None,
        callback: Callable[[Experiment], Any] | None = None,
        progress: bool | None = None,
    ) -> Experiment | None:
        """Run n experiments, pending ones first, and report their outcomes; return the `best`.

        An exception of f is a failure, which is stored with its text; so is an infinite or NaN value, cost or
        std, and the death of a process. A warning says so where all fail. Ctrl-C, or a kill where there is a
        `file`, loses only what was running: it stays pending, and the next call, or that of the loaded tuner,
        begins with it. Ctrl-C waits for threads, which nothing can stop; a second one does not. With several
        workers the questions depend on the order in which experiments finish, and two runs differ.

            >>> from agents import Linear, Tuner
            >>> tuner = Tuner({"x": Linear(-1, 1)}, goal="minimise")
            >>> best = tuner.optimise(lambda x: x**2, 10)

        Args:
            f: called with the parameters by keyword. It returns the value, (value, costs), or a dict of
                arguments of `tell`.
            n: how many; fewer are run once a `cost_budget` is spent.
            workers: how many run at a time. A single one is the calling thread itself.
            backend: of several workers. "processes" are for experiments that compute: f may be a lambda or
                from a notebook. "threads" are for those that wait for a device or a cluster.
            context: of all of them, where there are contexts.
            time: function that returns the time, where there is a `clock`.
            file: where the tuner is saved whenever an experiment starts or ends, by one process at a time,
                whose tuner continues the file's history.
            price: of an experiment, see `may_stop`; no further one is asked for once none is worth it.
            target: value that is good enough: no further experiment starts once `best` has reached it.
            callback: called with each experiment that has ended, after it was saved; the run ends when it
                returns True.
            progress: None shows a bar if the standard error stream is a terminal, unless the logger
                "gpbandits.tuner" is shown, which logs each experiment at the level INFO; True shows a bar on
                a terminal and a line an experiment elsewhere; False shows nothing, as suits a debugger in f.

        Raises:
            ValueError: f returns something else, another process runs the file, or the file holds experiments
                that the tuner lacks.
        """
        check_run(self, f, n, workers, context, time, file)
        check_reports(target, callback, progress)
        reports = Reports(self, n, target, callback, progress)
        Run(self, f, executor_of(workers, backend), reports, context, time, file, price).play(n, workers)
        return self.best

    optimize = optimise

    @locked
    @one_thread()
    def may_stop(self, price: float | None = None) -> MayStop:
        """Return whether to stop, with the reason in words and numbers; asking goes on as before.

            >>> from agents import Linear, Tuner
            >>> tuner = Tuner({"x": Linear(0, 1)})
            >>> for x in (0.0, 0.5, 1.0):
            ...     tuner.add({"x": x}, -(x**2))
            >>> bool(tuner.may_stop(price=10.0))
            True

        Args:
            price: of an experiment, or of a unit of what it `spent`, in the value's unit, for the rule
                "knowledge-gradient"; default the tuner's `stopping`.
        """
        rule, rounds = rule_of(self.plan, price), self._history.rounds
        of_values = self.plan.of_values
        if of_values is self.plan:
            player = self._up_to_date(rounds, {})
        else:
            player = player_for(of_values, None, rounds, {})
            player.catch_up(rounds)
        return may_stop(player, rounds, rule, feasibility_of(self.plan, rounds))

    @locked
    @one_thread()
    def recommend(
        self, context: Values | None = None, anywhere: bool = False, *, time: float | None = None
    ) -> Advice:
        """Return the best of the parameters with a value, by the model, and feasible under constraints.

        Of exact values (`noise_std=0` or `repeats=False`, without contexts) these are the parameters of
        `best`. Else it is the experiment of the best posterior mean, in the given context, wherever it was
        tried; if none is believed to be feasible, the one most likely to be. It lies in the ranges and is
        possible. It changes no state.

        Args:
            anywhere: True chooses from all possible parameters, tried or not. Then try them before use: the
                model may be wrong far from observations.
            context, time: of their use, see `ask`.

        Raises:
            ValueError: no value was reported yet, or the agent recommends nothing.
        """
        require_switch("anywhere", anywhere)
        known, rounds = self.plan.context(context, time), self._history.rounds
        told = [each.parameters for each in self.experiments if each.state == "told"]
        told = [parameters for parameters in told if self.plan.may_use(parameters)]
        if not told and not anywhere:
            raise ValueError(
                "recommend needs an experiment with a value in the ranges, got none; tell one, or pass "
                "anywhere=True"
            )
        player = self._up_to_date(rounds, known)
        if not anywhere:
            best = self.best if self.plan.exact and not self.plan.contexts.kinds else None
            return player.choose(known, told if best is None else [best.parameters])
        return player.recommend(known, feasibility_of(self.plan, rounds))


def _experiments_of(like: Any, goal: str) -> Any:
    """Return earlier tasks, and of tuners the parameters and values of their experiments."""
    if not isinstance(like, Sequence) or isinstance(like, str):
        return like
    return tuple(
        _with_values(f"like[{j}]", each, goal) if isinstance(each, Records) else each
        for j, each in enumerate(like)
    )


def _with_values(name: str, tuner: Records, goal: str) -> tuple[list[Values], list[float]]:
    require(tuner.plan.goal == goal, name, f"a tuner with the goal {goal!r}", tuner.plan.goal)
    told = [each for each in tuner.experiments if each.state == "told" and each.value is not None]
    return [each.parameters for each in told], [float(each.value) for each in told if each.value is not None]
