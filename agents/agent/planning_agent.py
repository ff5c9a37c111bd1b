"""Base class of one-trial agents that plan several plays before they observe any of them."""

from __future__ import annotations

import abc
from typing import Any, Unpack

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.feedback import Feedback

from ..beliefs.base import Belief
from ..beliefs.delivered import Delivered
from ..kernels.context_free import without_contexts
from ..model.model import Model
from ..model.options import ModelOptions
from ..model.recommendation import Recommendation
from ..model.tie_breaking import TieBreaker, arms_among, arms_of
from ..options import require_absent
from ..showing import Shown
from ..validation import one_seed, require_reset
from .book import Book

HERE = np.zeros(1, dtype=np.int64)  # index of the only context, and of the only trial


class PlanningAgent(Shown, abc.ABC):
    """Plays plan after plan on arms; a subclass makes each plan and learns its feedback.

    Contexts are ignored. Feedback delivered after the end of its plan enters the recommendation alone.

    Args:
        model: of a finite set; see `plain_model`.
    """

    num_trials = None

    def __init__(self, model: Model):
        self.model, self.setting = model, model.setting
        self.round = -1  # before the first reset

    def reset(self, seed: int) -> None:
        """Forget everything."""
        self.tie_breaker = TieBreaker([np.random.default_rng(np.random.SeedSequence(one_seed(seed)))])
        self.book = Book(1, self.setting.horizon)
        self.belief: Belief = Delivered(self.model, 1)  # of all values, for recommendations
        self.round = self._start = 0
        self._queue: list[int] = []
        self.begin()

    def act(self, observation: Floats) -> int:
        """Return the next arm of the plan; make a new plan where the last is over."""
        require_reset(self.round >= 0)
        uniform = self.tie_breaker()
        if not self._queue:
            self._start, self._queue = self.round, self.plan(uniform)
        return self._queue[0]

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round: its observation, the action played, and the `info` returned."""
        arm = arms_of(action, 1, self.setting.decisions.num_arms)
        trial, rounds, value, _ = Feedback.arrived(info)
        played = self.book.record_round(arm, trial, rounds)  # the last check
        self.belief.receive(trial, played, np.zeros_like(played), value)
        ours = rounds >= self._start
        self.learn(played[ours], value[ours])
        self._queue = self._queue[1:]
        self.round += 1

    def drop(self, rounds: Ints) -> None:
        """Forget pending plays that will never be delivered, (n,); no belief has used them."""
        rounds = np.atleast_1d(np.asarray(rounds, dtype=np.int64))
        self.book.drop(np.zeros_like(rounds), rounds)

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """Recommend the arm of the largest worth.

        Args:
            observation: ignored.
            among: the arms to choose from, (n,); default all.
        """
        require_reset(self.round >= 0)
        arms = arms_among(among, self.setting.decisions.num_arms)
        arm = int(arms[self.worth[arms].argmax()])
        mean, std = self.belief.mean(HERE)[0, arm], self.belief.std(HERE)[0, arm]
        return Recommendation(arm, self.setting.to_point(arm), float(mean), float(std))

    def posterior(self, observation: Floats) -> tuple[Floats, Floats]:
        """Return mean and std of each arm's mean reward, (A,) each; copies. The observation is ignored."""
        require_reset(self.round >= 0)
        return self.belief.mean(HERE)[0].copy(), self.belief.std(HERE)[0].copy()

    def beliefs(self, observation: Floats) -> list[tuple[Floats, Floats]]:
        """Return `posterior` as the only quantity; see `GPAgent.beliefs`."""
        return [self.posterior(observation)]

    @property
    def worth(self) -> Floats:
        """Return the score of recommendations, (A,): the posterior mean given all values."""
        return self.belief.mean(HERE)[0]

    @abc.abstractmethod
    def begin(self) -> None:
        """Start a trial."""

    @abc.abstractmethod
    def plan(self, uniform: Floats) -> list[int]:
        """Return the arms of the next rounds, at least one; `uniform` breaks a tie, (1,)."""

    @abc.abstractmethod
    def learn(self, arm: Ints, value: Floats) -> None:
        """Learn the delivered values of plays of this plan, (n,) each."""


def plain_model(setting: Any, **options: Unpack[ModelOptions]) -> Model:
    """Return the model of an agent that plans: on a set, of one kernel, without plays at random or held."""
    if setting.continuous:
        raise ValueError("setting must have arms for an agent that plans, got a box; take another agent")
    require_absent(options, ("initial", "refit_every"), "this agent plans its plays")
    if (repeat := options.get("repeat", 1.0)) != 1.0:
        raise ValueError(f"repeat must be 1, got {repeat:g}: this agent plans its plays")
    return Model.of(without_contexts(setting), **options)
