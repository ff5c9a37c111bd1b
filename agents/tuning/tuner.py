"""Ask and tell: Bayesian optimisation for people without an environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from bandit_envs.basics.arguments import is_count, require, require_switch
from bandit_envs.basics.threads import one_thread

from . import running
from .availability import checked_entries
from .may_stop import MayStop, answer_of, require_rule, rule_of
from .outcomes import OutcomeRecords
from .parameters import Ranges
from .plan import TunerPlan, listed
from .player import Advice, TunerPlayer
from .records import Records
from .restoring import player_for, restored
from .space import Space, Values, with_clock
from .workers import locked, require_capacity

Question = tuple[int, Values]  # a ticket and parameters
Only = Values | Sequence[Values] | None  # what is available


class Tuner(OutcomeRecords):
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
            player = player_for(self.plan, player, history.rounds, known, among)
            parameters = player.catch_up(history.rounds).ask(known, among)
            questions.append((history.tickets, dict(parameters)))
            history = history.ask(parameters, known, only=among)
        self._history = history
        self._player = player
        return questions if n else questions[0]

    optimise = optimize = running.optimise

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
        rule, of_values, rounds = rule_of(self.plan, price), self.plan.of_values, self._history.rounds
        if of_values is self.plan:
            return answer_of(rule, self._up_to_date({}))
        return answer_of(rule, player_for(of_values, None, rounds, {}).catch_up(rounds))

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
        known = self.plan.context(context, time)
        told = [each.parameters for each in self._usable]
        if not told and not anywhere:
            raise ValueError(
                "recommend needs an experiment with a value in the ranges, got none; tell one, or pass "
                "anywhere=True"
            )
        player = self._up_to_date(known)
        if not anywhere:
            best = self.best if self.plan.exact and not self.plan.contexts.kinds else None
            return player.choose(known, told if best is None else [best.parameters])
        return player.recommend(known)

    def _up_to_date(self, context: Values) -> TunerPlayer:
        """Return a player that has observed all rounds; its state is not kept."""
        rounds, player = self._history.rounds, self._take_player()
        self._player = player
        if player is not None and not player.outgrown(rounds, context):
            player = player.twin()  # reports since the last question close that round only in the twin
        return player_for(self.plan, player, rounds, context).catch_up(rounds)

    def _take_player(self) -> TunerPlayer | None:
        """Take the player out until its user puts it back: an interrupted player is never used again.

        None before the first question; after an interruption, a player rebuilt from the history.
        """
        player, self._player = self._player, None
        return restored(self.plan, self._history.rounds) if player is None else player


def _experiments_of(like: Any, goal: str) -> Any:
    """Return earlier tasks, and of tuners the parameters and values of their experiments."""
    if not isinstance(like, Sequence) or isinstance(like, str):
        return like
    tasks: list[Any] = list(like)
    for j, each in enumerate(like):
        if isinstance(each, Records):
            require(each.plan.goal == goal, f"like[{j}]", f"a tuner with the goal {goal!r}", each.plan.goal)
            told = [line for line in each.experiments if line.value is not None]
            tasks[j] = [line.parameters for line in told], [line.value for line in told]
    return tuple(tasks)
