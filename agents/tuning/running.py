"""Runs of a tuner's experiments, which are asked for, run and reported, and whether the tuner may stop."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, is_count, require
from bandit_envs.basics.files import check_path, held
from bandit_envs.basics.threads import check_workers

from ..saving.files import read
from ..stopping.by_name import PATIENCE, make_rules
from ..stopping.stopping_candidates import StoppingRule
from .feasibility import FeasibilityFilter, SuccessProbability
from .history import TunerHistory, TunerRound, as_number
from .plan import TunerPlan, takes
from .player import TunerPlayer
from .reports import Reports, text_of
from .space import Values, without_time
from .workers import Executor, Experimenter, RunReport, unbroken

FORM = "gpbandits tuner"  # of the file
SHARE = (
    "one process at a time runs the experiments of a file: wait for it, give this run a file of its own, or "
    "share an Optuna study on a database with gpbandits.optuna.GPBanditSampler"
)
REPORTED = ("value", "costs", "std", "spent", "parameters")
RETURNED = f"a number, (value, costs) or a dict of {', '.join(REPORTED)}"
UNSETTLED = "scales of value and costs are estimated from first experiments, not all of which are finished"
REMEDY = 'give Tuner(stopping=("knowledge-gradient", {"price": ...})), or a price'


@dataclass
class Run:
    """Run of a tuner's experiments."""

    tuner: Any  # a `Tuner`, whose module imports this one
    f: Experimenter
    executor: Executor
    reports: Reports
    context: Values | None = None  # of the questions
    time: Callable[[], float] | None = None
    file: str | os.PathLike[str] | None = None  # where the tuner is saved, None for nowhere
    price: float | None = None  # of a further experiment; None for the tuner's rule, if any
    running: dict[Future[RunReport], int] = field(default_factory=dict)

    def play(self, n: int, workers: int) -> None:
        """Run n experiments, pending ones first; stop early once a budget of costs is spent."""
        with ExitStack() as stack:
            if self.file is not None:
                stack.enter_context(held(self.file, SHARE, self.tuner))
                require_continued(self.tuner, self.file)
            stack.enter_context(self.reports.shown())
            self._play(n, workers)

    def _play(self, n: int, workers: int) -> None:
        before, left = len(self.tuner._history.failures), n
        again = self._interrupted()[:n]
        try:
            while left > 0 and self._begin(again, min(left, workers) - len(self.running)):
                wait(self.running, return_when=FIRST_COMPLETED)
                over = self._tell_finished()
                left -= len(over)
                for ticket in over:
                    self.reports.ended(ticket)
        except KeyboardInterrupt:
            if self.executor.cannot_stop:
                wait(self.running)
            raise
        finally:
            self._tell_finished()
            self.executor.stop()
        failures = self.tuner._history.failures[before:]
        if len(failures) == n:
            warnings.warn(f"all {n} experiments failed, the last with {failures[-1].reason}", stacklevel=5)

    def _begin(self, again: list[int], number: int) -> bool:
        """Start up to `number` experiments; return True if any is running."""
        if self.reports.enough():
            return bool(self.running)
        tickets, again[:] = again[:number], again[number:]
        fresh = number - len(tickets)
        spent = self.tuner.left is not None and self.tuner.left <= 0
        asks = self.price is not None or self.tuner.plan.stopping is not None
        if fresh > 0 and not spent and not (asks and self.tuner.may_stop(self.price)):
            when = None if self.time is None else self.time()
            tickets += [ticket for ticket, _ in self.tuner.ask(fresh, self.context, time=when)]
            self._save()
        pending = self.tuner.pending
        for ticket in tickets:
            self.executor.start(self.f, pending[ticket], partial(self._note, ticket))
        return bool(self.running)

    def _tell_finished(self) -> list[int]:
        """Report all experiments that have ended; return their tickets. Ctrl-C waits until it is done."""
        with unbroken():
            over = [call for call in self.running if call.done() and not call.cancelled()]
            tickets = sorted(self.running[call] for call in over)
            for call in sorted(over, key=self.running.__getitem__):
                self._tell(self.running.pop(call), call.result())
        return tickets

    def _note(self, ticket: int, call: Future[RunReport]) -> None:
        self.running[call] = ticket

    def _tell(self, ticket: int, finished: RunReport) -> None:
        reported = {} if finished.failure is not None else outcome(finished.result)
        failure = unfit(reported) if finished.failure is None else finished.failure
        if failure is not None:
            self.tuner.fail(ticket, failure, reported.get("spent"))
        else:
            self.tuner.tell(ticket, **reported)
        self._save()

    def _save(self) -> None:
        if self.file is not None:
            self.tuner.save(self.file)

    def _interrupted(self) -> list[int]:
        """Return tickets that are pending in the same context, at any time."""
        history, wanted = self.tuner._history, self.context or {}
        contexts = {ticket: history.rounds[t].context for ticket, t in history.pending.items()}
        return [ticket for ticket, each in contexts.items() if without_time(each) == without_time(wanted)]


def require_continued(tuner: Any, file: str | os.PathLike[str]) -> None:
    """Raise where the file holds experiments that the tuner lacks, which saving would lose."""
    if not os.path.exists(file) or not os.path.getsize(file):
        return
    known = TunerHistory.from_data(read(file, FORM)["rounds"])
    words = f"a file of this tuner; it holds {len(known.rounds)} experiments that saving would lose"
    go_on = "continue with Tuner.load(file), or give another file"
    require(tuner._history.continues(known), "file", f"{words}: {go_on}", file)


def check_run(tuner: Any, f: Any, n: Any, workers: int, context: Any, time: Any, file: Any) -> None:
    """Raise where a run cannot start."""
    if file is not None:
        check_path("file", file)
    require(is_count(n), "n", "a positive integer", n)
    check_workers(workers)
    limit = tuner.plan.max_pending
    fits = limit is None or workers <= limit
    require(fits, "workers", f"at most max_pending, which is {limit}", workers)
    known = context is None or isinstance(context, Mapping)
    require(known, "context", "None or a dict of name -> value", context)
    needed = "a function without arguments that returns the time, where the tuner has a clock"
    require(callable(time) if tuner.plan.clocked else time is None, "time", needed, time)
    names = tuner.plan.parameters.kinds
    require(callable(f), "f", "a function of the parameters", f)
    require(takes(f, names), "f", f"a function that takes {', '.join(names)} by keyword", f)


def outcome(result: Any) -> dict[str, Any]:
    """Return the result of f as arguments of `Tuner.tell`; its value may be infinite or NaN."""
    pair = isinstance(result, tuple) and len(result) == 2
    reported: dict[str, Any] = {"value": result[0], "costs": result[1]} if pair else {"value": result}
    if isinstance(result, Mapping):
        reported = dict(result)
    named = "value" in reported and set(reported) <= set(REPORTED)
    reported["value"] = as_number(reported["value"]) if named else None
    require(reported["value"] is not None, "what f returns", RETURNED, result)
    return reported


def unfit(reported: Mapping[str, Any]) -> str | None:
    """Return the reason why an outcome is a failure: its first number that is infinite or NaN."""
    costs = reported.get("costs")
    named = costs if isinstance(costs, Mapping) else {}
    numbers = {"value": reported["value"], **named, "std": reported.get("std")}
    for name, number in numbers.items():
        if isinstance(number, float) and not math.isfinite(number):
            return f"its {name} was {number}"
    return None


@dataclass(frozen=True)
class MayStop:
    """The answer of `Tuner.may_stop`, which is true where no further experiment is needed."""

    stop: bool
    reason: str
    parameters: Values | None  # the recommended ones, which were tried

    def __bool__(self) -> bool:
        return self.stop


def rule_of(plan: TunerPlan, price: Any) -> Any:
    """Return the rule of a price, or that of the tuner; raise where there is none, or none has a meaning."""
    if plan.contexts.kinds:
        without = "must be left out with contexts, each of which has a best experiment, and with a clock"
        raise ArgumentError("stopping", without)
    if price is not None:
        return "knowledge-gradient", {"price": price}
    if plan.stopping is None:
        raise ArgumentError("stopping", f"must be given to ask whether to stop; {REMEDY}")
    return plan.stopping


def require_rule(plan: TunerPlan) -> None:
    """Raise now, not at the first `may_stop`, where the tuner's rule does not exist or cannot answer."""
    if plan.stopping is not None:
        player = TunerPlayer(plan.of_values, [], {})
        make_rules(rule_of(plan, None), _agent_with_model(player).model)


def _agent_with_model(player: TunerPlayer) -> Any:
    remedy = "left out with an agent that has no model of its own"
    require(player.agent.takes_stopping, "stopping", remedy, player.plan.agent)
    return player.agent


def may_stop(
    player: TunerPlayer,
    rounds: Sequence[TunerRound],
    rule: Any,
    believed: SuccessProbability | None,
) -> MayStop:
    """Ask a rule about the belief after all results, in the unit of the values.

    No rule is asked before the values that estimate scales: the first 2 d + 1, and those of the agent's first
    plays. On a box the answer is yes only if it is so on several clouds of candidates, since the best
    candidate may be missed. Where experiments fail, a gain counts with its probability of success, and what
    would rather fail again is not recommended.
    """
    plan, agent = player.plan, _agent_with_model(player)
    rules = make_rules(rule, agent.model)()
    delivered, fewest = sum(len(each.arrivals) for each in rounds), 2 * plan.parameters.dim + 1
    if delivered < fewest:
        words = f"{delivered} of the first {fewest} values were delivered"
        return MayStop(False, f"{words}, from which scales are estimated", None)
    answer = MayStop(False, "no rule was asked", None)
    for look in range(PATIENCE if agent.setting.continuous else 1):
        answer = _answer(player, list(rules.values()), rounds, believed, look)
        if not answer:
            break
    return answer


def _answer(
    player: TunerPlayer,
    rules: list[StoppingRule],
    rounds: Sequence[TunerRound],
    believed: SuccessProbability | None,
    look: int,
) -> MayStop:
    """Return the answer of the first rule that says stop, or of the first rule."""
    space, scale = player.plan.parameters, player.scale
    (candidates,) = player.agent.stopping_candidates(space.snap, look)
    if not candidates.settled:
        return MayStop(False, UNSETTLED, None)
    arrivals = [arrival for each in rounds for arrival in each.arrivals]
    usable = FeasibilityFilter(space, player.plan.rule)
    usable.set(believed, np.zeros(0), 0.0)
    candidates = replace(
        candidates.scaled(scale.std, scale.centre),
        success=usable.chance(candidates.arms).clip(0.0),  # 0 where a point may not be asked for
        values=scale.sign * np.array([each.value for each in arrivals]),
        kept=np.array([max(each.costs, default=0.0) <= 0.0 for each in arrivals]),
        name_of=lambda i: text_of(space.values(candidates.arms[i])),
    )
    verdicts = [rule(candidates) for rule in rules]
    verdict = next((each for each in verdicts if each.stop), verdicts[0])
    running = f"; {candidates.pending} experiments still run and may change this"
    best = None if verdict.best is None else space.values(candidates.arms[verdict.best])
    return MayStop(verdict.stop, verdict.reason + (running if candidates.pending else ""), best)
