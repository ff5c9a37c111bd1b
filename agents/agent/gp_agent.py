"""The one Gaussian-process agent; algorithms differ only in the parts they give it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.feedback import Feedback, feedback_stds, spendings

from ..acquisition.by_name import Starting, unit_of
from ..acquisition.candidates import Rule
from ..acquisition.improvement import Incumbent, NoIncumbent
from ..acquisition.rules import AnyArm
from ..beliefs.base import Belief
from ..beliefs.delivered import Delivered
from ..model.choice import KEY, TieBreaker, arms_of, offered_in
from ..model.model import Model
from ..model.rounds import PENDING, Clock, Delivery, in_time
from ..model.units import weights_of_stds
from ..objectives.base import Objective, Revision, Reward
from ..options import require_trials, seeds_of
from ..protocol import defines
from ..restarts.base import Never, Restart
from ..stopping.by_name import Stopping, make_rules
from ..stopping.stopping_candidates import StoppingCandidates
from ..widths.base import ONE
from .assumptions import Given
from .book import NO_ROUNDS, Book, plays_of
from .box_domain import BoxDomain
from .domain import TIE, Domain, FiniteSet, chances
from .generators import Resumable, Streams, build
from .queries import NEVER, Answers
from .repeating import RepeatedArms


class GPAgent(Answers, Resumable):
    """An agent that scores points with a rule on its belief and plays the best.

    With `num_trials=B` it plays a batch of B trials, with a leading axis in every array, and exactly the
    actions of single trials.

    Args:
        model: kernel, noise and bounds that the agent assumes.
        rule_of: makes from the model the rule that turns a belief into scores.
        num_trials: B, None for one environment without a trial axis.
        belief: builds the belief from the model and the number of trials.
        incumbent: builds what EI and PI improve on from the number of trials and the decision set.
        objective: builds what is maximised from the model and the number of trials.
        restart: builds what says when to start over, from the model and the number of trials.
        assumptions: builds what says when the model changes, from the model and the generators.
        domain: builds from the model what finds the best point; None: among the arms, or on the box.
    """

    takes_stopping = True

    def __init__(
        self,
        model: Model,
        rule_of: Callable[[Model], Rule],
        num_trials: int | None = None,
        *,
        belief: Callable[[Model, int], Belief] = Delivered,
        incumbent: Callable[[int, Decisions], Incumbent] = NoIncumbent,
        objective: Callable[[Model, int], Objective] = Reward,
        restart: Callable[[Model, int], Restart] = Never,
        assumptions: Callable[[Model, Streams], Given] = Given,
        domain: Callable[[Model], Domain] | None = None,
    ):
        require_trials(num_trials)
        self.setting, self.num_trials, self._rule_of = model.setting, num_trials, rule_of
        self._parts = belief, incumbent, objective, restart, assumptions
        self.domain = (domain or (BoxDomain if model.setting.continuous else FiniteSet))(model)
        model = self.domain.prepared(model)
        self._given, self._size = model, num_trials or 1
        self.learns, self.unit_is_known = model.learning is not None, model.unit_is_known
        self._num_arms = 0 if self.setting.continuous else self.setting.decisions.num_arms
        self._only_context = np.zeros(self._size, dtype=np.int64)
        unseeded = Streams([0] * self._size)
        self.privileged = build(restart, model, unseeded, "restart", self._size).privileged
        self.assumptions = Given(model, unseeded)
        self._rules = None if model.stopping is None else make_rules(model.stopping, model)
        self.stopping: Stopping | None = None
        self.clock = Clock(model.setting.query_times)
        self.round = -1  # before the first reset
        self._assume(model)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Replay several rounds within; the model changes once, at the end, if it was due in any."""
        self.assumptions.waits = True
        yield
        self.assumptions.waits = False
        self.remodel(self.assumptions.after(self))

    def reset(self, seed: int | Sequence[int]) -> None:
        """Forget everything; the seed is one integer, or B of them for B trials."""
        self.streams = Streams(seeds_of(seed, self.num_trials))
        self.tie_breaker = TieBreaker(self.streams.of("ties"))
        self.samplers = self.streams.of("samples")
        belief, incumbent, objective, restart, assumptions = self._parts
        self._given = self.domain.prepared(self._given)
        self.domain.begin(self)
        self._assume(self._given)
        self.assumptions = assumptions(self._given, self.streams)
        self.objective = build(objective, self.model, self.streams, "objective", self._size)
        self.belief = build(belief, self.model, self.streams, "belief", self._size)
        self.incumbent = incumbent(self._size, self.setting.decisions)
        self.memory = self.rule.memory(self._size)
        self.restart = build(restart, self.model, self.streams, "restart", self._size)
        if self._rules is not None:
            self.stopping = Stopping(self._rules, self._size, self.domain.patience)
        self.book = self._new_book()
        self.repeated_arms = RepeatedArms(self._size) if self._given.repeat > 1.0 else None
        self.round = 0
        self.t = np.ones(self._size, dtype=np.int64)  # of each trial: rounds started since it began
        self._lost, self._lost_since = None, np.full(self._size, NEVER)
        self.offered = None
        self.scores: Floats | None = None  # of the arms in the last choice, (B, A); None if not of all
        self.take()
        self._revise(self.objective.begin())
        self.remodel(self.assumptions.after(self))

    def act(self, observation: Floats) -> Any:
        """Choose an action for the observed context, (dz,), or B of them, (B, dz).

        It is an arm, or on a box in [-1, 1]^d, (d,).
        """
        single = self.domain.one_context and self.round >= 0
        context = self._only_context if single else self.domain.context(self, observation)
        uniform = self.tie_breaker()  # in every round: a trial's draws do not depend on which others choose
        if self.repeated_arms is None:
            action = self.domain.choose(self, context, uniform)
        else:
            choose = partial(self.domain.begin_repeats, self, context, uniform)
            action = self.repeated_arms.action_in(self.round, choose)
        return action if self.num_trials else self.domain.single(action)

    @property
    def centre(self) -> Ints | None:  # type: ignore[override]  # that of the domain
        """The arms that were chosen, (B,), where others near them are played."""
        return self.domain.centre

    def propensity(self, observation: Floats, action: Any) -> Any:
        """Return the share of further draws that choose the arm, a number or (B,); see `chances`."""
        checks = self._penalises or self._certifies or self.repeated_arms is not None
        if self.setting.continuous or not self.rule.draws or checks:
            return None
        arm = arms_of(action, self._size, self._num_arms)
        chance = chances(self, self._contexts(observation), arm)
        return chance if self.num_trials else float(chance[0])

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        point = self.domain.numbers(self, observation, action)
        feedback = Feedback.arrived(info)
        may_lack = self.setting.volatile or KEY in info
        offered = offered_in(info, self.setting, self.num_trials) if may_lack else None
        spent = spendings(info) if "feedback_spent" in info else None
        delivery, values = self._record(point, feedback, info)
        self.offered = offered
        if spent is not None:
            self.objective.paid(delivery.trial, delivery.point, spent)
        if self.book.since is not None:
            fresh = self.book.counts(delivery.trial, delivery.round)
            delivery, values = delivery.where(fresh), values.where(fresh)
        if self.repeated_arms is not None:
            self.repeated_arms.played(action)
        self._learn(point, delivery, values)
        if self._revises:
            self._follow()
        if self._restarts and len(again := self.restart.end_round(self.round, info)):
            self.forget(again, kept=True)
        if self.assumptions.may_change:
            self.remodel(self.assumptions.after(self))
        if self.stopping is not None:
            self.stopping.look(point, self.stopping_candidates)

    def _record(self, point: Ints, feedback: Feedback, info: dict[str, Any]) -> tuple[Delivery, Delivery]:
        """Record a round in the book; return what it delivered, and that with the objective's values."""
        trial, rounds, reward, cost = feedback
        std = feedback_stds(info) if "feedback_std" in info else None
        values = self.objective.values(trial, reward, cost) if self._revalues else reward
        played = self.book.record_round(point, trial, rounds)  # the last check
        weight = None if std is None or not self.weighs else weights_of_stds(self._given, trial, std)
        clock = self.clock
        delay = self.round - rounds if clock.times is None else clock.delay(rounds, self.round)
        delivery = Delivery(trial, played, rounds, delay, reward, cost, weight)
        return delivery, delivery if values is reward else delivery.with_values(values)

    def _follow(self) -> None:
        self._revise(self.objective.end_round(self.round))

    def stopping_candidates(self, snap: Any = None, look: int = 0) -> list[StoppingCandidates]:
        """Return what the belief says of further plays in each trial, B of them, as stopping rules see it."""
        return self.domain.stopping_candidates(self, snap, look)

    def forget(self, trial: Ints, kept: bool = False) -> None:
        """Begin anew in trials, (n,) ascending, as after a reset; feedback of their earlier plays is stale.

        With `kept` plays that the restart keeps or recalls count again.
        """
        kept_from = self.restart.kept_from if kept and self._learns_again else None
        older = None if kept_from is None else self.restart.recalled
        begun = np.full(len(trial), self.round) if kept_from is None else kept_from[trial]
        recalled = [NO_ROUNDS if older is None else older[i] for i in trial.tolist()]
        for part in (self.belief, self.incumbent, self.restart, self.memory):
            if part is not None:
                part.forget(trial)
        for i, rounds in zip(trial.tolist(), begun.tolist(), strict=True):
            self.objective.forget(np.array([i]), rounds)
        self._revise(self.objective.begin())
        if self.repeated_arms is not None:
            self.repeated_arms.end(trial)
        self.book.begin(trial, begun, recalled)
        self.t[trial] = 1 + self.round - begun + np.array([len(rounds) for rounds in recalled])
        if kept_from is not None:
            self._learn_again(trial)

    def drop(self, rounds: Ints, trial: Ints | None = None) -> None:
        trial, rounds = plays_of(rounds, trial)
        played = self.book.drop(trial, rounds)
        known = self.book.counts(trial, rounds)
        gone = trial[known], played[known], self.round - rounds[known]
        self.belief.drop(*gone)
        self.objective.drop(*gone)

    def remodel(self, model: Model | None) -> None:
        """Go over to another model, for what was learnt too; None leaves it."""
        if model is None:
            return
        self.belief.remodel(model)
        self._assume(model)
        if self.repeated_arms is not None:
            self.repeated_arms.end()

    def _assume(self, model: Model) -> None:
        rule = self._rule_of(model)
        self.rule = Starting(model.initial, AnyArm(), rule) if model.initial else rule
        self.model, self._tie = model, TIE * unit_of(self.rule, model)

    def _revise(self, revision: Revision) -> None:
        """Follow a change of the objective; its noise is that of the width, the posterior's stays."""
        if revision.noise_std is not None:
            self._assume(replace(self.model, noise_std=revision.noise_std))
        if revision.delivered is not None:
            self.belief.revalue(revision.trials, revision.delivered)

    def _learn(self, point: Ints, delivery: Delivery, values: Delivery) -> None:
        """Condition all parts on a round: a point a trial, (B,), and what was delivered of counted plays."""
        if self.memory is not None:
            self.memory.receive(values, *self.belief.predicted(values.trial, values.point))
        if self._notes_plays:
            self.objective.played(point, self.t)
        for play in self._players:
            play(point)
        if self.book.keeps:
            self.book.record_feedback(point, delivery)
        counted = delivery
        if self.belief.window < math.inf:
            counted = delivery.where(in_time(delivery.delay, self.belief.window))
        for receive in self._of_values:
            receive(values)
        for receive in self._of_rewards:
            receive(counted)
        self.round += 1
        self.t = self.t + ONE  # in place it takes twice as long

    def take(
        self,
        *,
        belief: Belief | None = None,
        incumbent: Incumbent | None = None,
        objective: Objective | None = None,
        restart: Restart | None = None,
    ) -> None:
        """Take other parts from now on, and list which of them hear of plays, deliveries, ends of rounds."""
        self.belief = belief or self.belief
        self.incumbent = incumbent or self.incumbent
        self.objective = objective or self.objective
        self.restart = restart or self.restart
        played = (self.belief, Belief), (self.restart, Restart)
        received = (self.objective, Objective), (self.restart, Restart)
        self._players = [part.play for part, kind in played if defines(part, kind, "play")]
        improves = defines(self.incumbent, Incumbent, "receive")
        self._of_values = [self.belief.receive, *([self.incumbent.receive] if improves else [])]
        self._of_rewards = [part.receive for part, kind in received if defines(part, kind, "receive")]
        self._revalues = defines(self.objective, Reward, "values")
        self._notes_plays = defines(self.objective, Objective, "played")
        self._revises = defines(self.objective, Objective, "end_round")
        self._restarts = defines(self.restart, Restart, "end_round")
        self._penalises = defines(self.objective, Objective, "penalised")
        self._certifies = defines(self.objective, Objective, "safety")
        sought = defines(self.belief, Belief, "argmax_ucb") and self.belief.mean_posterior.searches
        self._may_search = sought and not (self._penalises or self._restarts)

    def _new_book(self) -> Book:
        """Return an empty book; it keeps feedback for the assumptions, and for restarts that keep plays."""
        may = not self._given.initial and self.objective.keeps_plays
        self._learns_again = may and self.restart.kept_from is not None
        if not self._learns_again:
            self.restart.keep_nothing()
        reads = self._learns_again or self.assumptions.reads_book or self.stopping is not None
        return Book(self._size, self.setting.horizon, self.setting.num_constraints if reads else None)

    def _learn_again(self, trial: Ints) -> None:
        """Condition all parts on the rows of the book that count in some trials, (n,)."""
        rows = self.book.rows(trial)
        values = rows._replace(reward=self.objective.values(rows.trial, rows.reward, rows.cost))
        self.belief.condition(self.round, values, self.clock)
        self.incumbent.receive(values.delivery(self.clock))
        kept = in_time(self.clock.delay(rows.round, rows.arrived), self.belief.window)
        kept_rows = rows._replace(arrived=np.where(kept, rows.arrived, PENDING))
        self.objective.condition(self.round, kept_rows, self.clock)
        delivery = rows.delivery(self.clock)
        own = self.book.counts(delivery.trial, delivery.round)  # what is recalled it has seen
        self.restart.receive(delivery.where(own))
