"""Agents that choose among the arms on offer, and those of one trial: with own beliefs, or with plans."""

from __future__ import annotations

import abc
from typing import Any, Unpack

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.feedback import Feedback

from ..beliefs.delivered import Delivered
from ..kernels.amplitude import without_contexts
from ..model.choice import Recommendation, TieBreaker, arms_among, arms_of, offered_in, require_offered
from ..model.defaults import ModelOptions
from ..model.model import Model
from ..model.rounds import Delivery
from ..options import one_seed, require_absent, require_arms, require_context, require_once, require_reset
from ..protocol import BaseAgent
from .book import Book, plays_of
from .generators import Streams

HERE = np.zeros(1, dtype=np.int64)  # index of the only context, and of the only trial


class ChoosingAgent(BaseAgent):
    """Agent that chooses among the arms in `offered` alone, of one trial or of B.

    "action_mask" in `info` sets them for every round of volatile arms, `offer` for the next choice, such as
    one of a tuner's `ask(only=...)` or of a row of a log. A subclass reads `offered_in` in `update`.
    """

    offered: Bools | None = None  # arms that may be played next, (B, A); None is all

    def start(self, info: dict[str, Any]) -> None:
        require_reset(self.round >= 0)
        self.offered = offered_in(info, self.setting, self.num_trials)

    def offer(self, arms: Bools) -> bool:
        require_reset(self.round >= 0)
        if self.setting.continuous or self.setting.duel:
            return False
        self.offered = np.atleast_2d(arms)
        return True


class ArmAgent(ChoosingAgent):
    """Keep the book and the queries; a subclass acts, learns and supplies mean and std."""

    belief: Any  # a `Belief`, or another with its `mean` and `std`

    def __init__(self, model: Model):
        self.model, self.setting = model, model.setting
        self.unit_is_known, self.learns = model.unit_is_known, model.learning is not None
        self.round = -1  # before the first reset

    def reset(self, seed: int) -> None:
        self.streams = Streams([one_seed(seed)])
        self.tie_breaker = TieBreaker(self.streams.of("ties"))
        self.book = Book(1, self.setting.horizon)
        self.offered = None
        self.begin()
        self.round = 0

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        arm, context = arms_of(action, 1, self.setting.decisions.num_arms), self.context(observation)
        point, news = self.setting.decisions.point_index(context, arm), Feedback.arrived(info)
        offered = offered_in(info, self.setting, None)
        told = slice(0 if self.setting.aggregated else None)  # a sum tells of no play
        played = self.book.record_round(point, news.trial[told], news.round[told])  # validates last
        self.offered = offered
        self.noted(point, played, news)
        self.round += 1

    def drop(self, rounds: Ints) -> None:
        trial, rounds = plays_of(rounds)
        self.dropped(rounds, self.book.drop(trial, rounds))

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """Recommend the arm of the largest worth among some, by default all; see `Answers.recommend`."""
        require_reset(self.round >= 0)
        require_context(observation, self.setting.has_contexts)
        context = self.context(np.zeros(1) if observation is None else observation)
        mean, std = self.known_at(context)
        arm = self.best(context, mean, arms_among(among, len(mean)))
        return Recommendation(arm, self.setting.to_point(arm), float(mean[arm]), float(std[arm]))

    def posterior(self, observation: Floats) -> tuple[Floats, Floats]:
        """Return mean and std of each arm's mean reward in a context, (A,) each; see `Answers.posterior`."""
        mean, std = self.known_at(self.context(observation))
        return mean.copy(), std.copy()

    def believed(self, observation: Floats, action: Any) -> tuple[Floats, Floats]:
        """Return mean and std of the mean reward of an arm, (1,) each; see `Answers.believed`."""
        arm = arms_of(action, 1, self.setting.decisions.num_arms)
        mean, std = self.posterior(observation)
        return mean[arm], std[arm]

    def beliefs(self, observation: Floats) -> list[tuple[Floats, Floats]]:
        """Return `posterior` as the only quantity; see `GPAgent.beliefs`."""
        return [self.posterior(observation)]

    def context(self, observation: Floats) -> Ints:
        """Return the index of the observed context, (1,)."""
        require_reset(self.round >= 0)
        return self.setting.context_index(np.asarray(observation)[None])

    def available(self) -> Bools:
        """Return which arms may be played in this round, (1, A)."""
        require_offered(self.offered, self.setting)
        everything = np.ones((1, self.setting.decisions.num_arms), dtype=bool)
        return everything if self.offered is None else self.offered

    @abc.abstractmethod
    def begin(self) -> None:
        """Start a trial."""

    def noted(self, point: Ints, played: Ints, news: Feedback) -> None:
        """Learn from a round's play, (1,), and from feedback of plays of some points, (n,)."""

    def dropped(self, rounds: Ints, point: Ints) -> None:
        """Forget plays of some rounds that will never be delivered, (n,) each; by default none was used."""

    def known_at(self, context: Ints) -> tuple[Floats, Floats]:
        """Return mean and std of each arm in a context, (1,) -> (A,) each, by default those of `belief`.

        They are in the reward's unit and follow from the delivered feedback alone.
        """
        return self.belief.mean(context)[0], self.belief.std(context)[0]

    def best(self, context: Ints, mean: Floats, arms: Ints) -> int:
        """Return which of some arms, (n,), to recommend in a context, from the means of all, (A,)."""
        return int(arms[self.worth(mean)[arms].argmax()])

    def worth(self, mean: Floats) -> Floats:
        """Return the scores of recommendations, (A,), by default the posterior mean, (A,)."""
        return mean


class PlanningAgent(ArmAgent):
    """Plays plan after plan on arms; a subclass makes each plan and learns its feedback.

    Contexts are ignored. Feedback delivered after the end of its plan enters the recommendation alone.
    """

    def reset(self, seed: int) -> None:
        self.belief = Delivered(self.model, 1)  # of all values, for recommendations
        self._start = 0
        self._queue: list[int] = []
        super().reset(seed)
        self.tie_breaker = TieBreaker([np.random.default_rng(np.random.SeedSequence(seed))])

    def offer(self, arms: Any) -> bool:
        """Return False: a plan is of arms that are always there."""
        return False

    def act(self, observation: Floats) -> int:
        """Return the next arm of the plan; make a new plan where the last is over."""
        require_reset(self.round >= 0)
        uniform = self.tie_breaker()
        if not self._queue:
            self._start, self._queue = self.round, self.plan(uniform)
        return self._queue[0]

    def noted(self, point: Ints, played: Ints, news: Feedback) -> None:
        self.belief.receive(Delivery.of_values(news.trial, played, news.reward))
        ours = news.round >= self._start
        self.learn(played[ours], news.reward[ours])
        self._queue = self._queue[1:]

    def context(self, observation: Floats) -> Ints:
        """Return the only context, (1,); the observation is ignored."""
        require_reset(self.round >= 0)
        return HERE

    @abc.abstractmethod
    def plan(self, uniform: Floats) -> list[int]:
        """Return the arms of the next rounds, at least one; `uniform` breaks a tie, (1,)."""

    @abc.abstractmethod
    def learn(self, arm: Ints, value: Floats) -> None:
        """Learn the delivered values of plays of this plan, (n,) each."""


def plain_model(setting: Any, **options: Unpack[ModelOptions]) -> Model:
    """Return the model of an agent that plans: on a set, of one kernel, without plays at random or held."""
    require_arms(setting, "take another agent than one that plans")
    require_absent(options, ("initial", "refit_every"), "this agent plans its plays")
    require_once(options, "this agent plans its plays")
    return Model.of(without_contexts(setting), **options)
