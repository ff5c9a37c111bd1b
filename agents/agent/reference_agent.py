"""References, which leaderboards show beside Gaussian processes: their record and what they prefer."""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.feedback import Feedback, spendings
from bandit_envs.problem.setting import Setting

from ..model.choice import Recommendation, arms_among, arms_of, offered_in, require_offered
from ..options import one_seed, require_arms, require_context, require_costs, require_reset
from .book import Book, plays_of
from .single_trial import ChoosingAgent

TINY = np.finfo(np.float64).tiny
TIE = 1e-9  # relative to the spread of the scores


class OutcomeTable(NamedTuple):
    """Delivered or estimated outcomes of n plays."""

    reward: Floats  # (n,)
    cost: Floats  # (n, C)
    price: Floats  # (n,) what a play spends of the budget; 1 without one

    def where(self, kept: Bools | Ints) -> OutcomeTable:
        """Return some of the rows."""
        return OutcomeTable(self.reward[kept], self.cost[kept], self.price[kept])

    @property
    def rate(self) -> Floats:
        """Return the reward per unit of price, (n,); of a negative reward, which is no gain, itself."""
        return np.where(self.reward > 0.0, self.reward / self.price, self.reward)

    def excess(self, unit: Floats) -> Floats:
        """Return the sum of the positive parts of the costs in these units, (n, C) and (C,) -> (n,)."""
        return (np.maximum(self.cost, 0.0) / unit).sum(axis=1)


def preference(outcomes: OutcomeTable, unit: Floats) -> Floats:
    """Return scores of plays, (n,): the rate of feasible ones; if there are none, minus the excess of all."""
    excess = outcomes.excess(unit)
    feasible = excess <= 0.0
    return np.where(feasible, outcomes.rate, -np.inf) if feasible.any() else -excess


def largest(scores: Floats, rng: np.random.Generator) -> int:
    """Return the index of the largest score, drawn uniformly among ties, (n,)."""
    return int(rng.choice(tied_with_largest(scores)))


def tied_with_largest(scores: Floats) -> Ints:
    """Return the indices of the scores that tie with the largest, (n,) -> (k,)."""
    finite = scores[np.isfinite(scores)]
    slack = TIE * float(np.ptp(finite)) if len(finite) else 0.0
    return (scores >= scores.max() - slack).nonzero()[0]


class ReferenceAgent(ChoosingAgent):
    """Agent of one trial on arms that learns from delivered values alone; a subclass chooses the arm.

    Pending plays count as played, and for nothing else. Under a budget, rewards are divided by what the plays
    spent; with constraints, plays whose costs are at most 0 come first.

    Args:
        setting: with arms.
        initial: plays at random, without repetition, before the first choice.
    """

    num_trials = None

    def __init__(self, setting: Setting, initial: int):
        require_arms(setting, "references play arms; `random` plays boxes")
        self.setting, self.initial, self._costs = setting, initial, setting.num_constraints
        self.round = -1  # before the first reset

    def reset(self, seed: int) -> None:
        size, width = self.setting.decisions.num_arms * self.setting.decisions.num_contexts, 2 + self._costs
        self.rng = np.random.default_rng(np.random.SeedSequence(one_seed(seed)))
        self.book = Book(1, self.setting.horizon)
        self.plays = np.zeros(size, dtype=np.int64)  # of each point, pending ones included
        self.number = np.zeros(size, dtype=np.int64)  # of delivered values of each point
        self._sums = np.zeros((size, width))
        self.point = np.empty(0, dtype=np.int64)  # of each delivered play
        self._value = np.empty((0, width))  # their reward, price and costs
        self.offered = None
        self._arm: int | None = None
        self.round = 0

    def offer(self, arms: Bools) -> bool:
        self._arm = None
        return super().offer(arms)

    def act(self, observation: Floats) -> int:
        """Return the arm for the observed context, which stays until it is played."""
        require_reset(self.round >= 0)
        require_offered(self.offered, self.setting)
        if self._arm is None:
            num_arms = self.setting.decisions.num_arms
            arms = np.arange(num_arms) if self.offered is None else self.offered[0].nonzero()[0]
            self._arm = int(self.choose(self._first_point(observation), arms))
        return self._arm

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        require_reset(self.round >= 0)
        arm = arms_of(action, 1, self.setting.decisions.num_arms)
        trial, rounds, value, cost = Feedback.arrived(info)
        require_costs(cost, self._costs)
        spent = spendings(info)
        price = np.ones(len(value)) if spent is None else spent
        offered = offered_in(info, self.setting, None)
        point = self._first_point(observation) + arm
        points = self.book.record_round(point, trial, rounds)  # the last check
        self.plays[point] += 1
        self._learn(points, np.column_stack([value, price, cost]))
        self.offered, self._arm = offered, None
        self.round += 1

    def drop(self, rounds: Ints) -> None:
        self.book.drop(*plays_of(rounds))

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """Return the arm that is preferred among those with delivered values, else any; it has no model."""
        require_reset(self.round >= 0)
        require_context(observation, self.setting.has_contexts)
        first = self._first_point(np.zeros(1) if observation is None else observation)
        arms = arms_among(among, self.setting.decisions.num_arms)
        known = arms[self.number[first + arms] > 0]
        arm = int(known[self.preferences(first + known).argmax()] if len(known) else arms[0])
        return Recommendation(arm, self.setting.to_point(arm), None, None)

    @abc.abstractmethod
    def choose(self, first: int, arms: Ints) -> int:
        """Return one of the available arms, (n,), in the context whose points begin at `first`."""

    def unplayed(self, first: int, arms: Ints) -> int:
        """Return one of the arms that were not played in the context, at random; of all if none is left."""
        fresh = arms[self.plays[first + arms] == 0]
        return int(self.rng.choice(fresh if len(fresh) else arms))

    def preferences(self, points: Ints) -> Floats:
        """Return `preference` by the mean outcomes of points with delivered values, (n,) -> (n,)."""
        return preference(self.outcomes(self._sums[points] / self.number[points, None]), self.unit)

    @property
    def unit(self) -> Floats:
        """Return the root mean square of each delivered cost, (C,); 1 where all are 0."""
        size = np.sqrt(np.mean(np.square(self._value[:, 2:]), axis=0)) if len(self._value) else 1.0
        return np.where(size > 0.0, size, 1.0) * np.ones(self._costs)

    def outcomes(self, values: Floats) -> OutcomeTable:
        """Return rows of reward, price and costs, (n, 2 + C), as outcomes; a price must divide."""
        return OutcomeTable(values[:, 0], values[:, 2:], np.maximum(values[:, 1], TINY))

    def standardised(self) -> tuple[Ints, Floats, Floats, Floats]:
        """Return points, (n,), their outcomes in stds with logarithms of prices, and these mean and std."""
        values = self._value.copy()
        values[:, 1] = np.log(np.maximum(values[:, 1], TINY))
        mean, std = values.mean(axis=0), values.std(axis=0)
        std = np.where(std > 0.0, std, 1.0)
        return self.point, (values - mean) / std, mean, std

    def modelled(self, values: Floats) -> OutcomeTable:
        """Return rows of reward, log price and costs, (n, 2 + C), as outcomes."""
        return self.outcomes(np.column_stack([values[:, 0], np.exp(values[:, 1]), values[:, 2:]]))

    @property
    def unit_points(self) -> Floats:
        """Return the features of all points with every column scaled to [0, 1], (N, D)."""
        points = self.setting.decisions.points
        low, span = points.min(axis=0), np.ptp(points, axis=0)
        return (points - low) / np.where(span > 0, span, 1.0)

    def _learn(self, points: Ints, values: Floats) -> None:
        np.add.at(self.number, points, 1)
        np.add.at(self._sums, points, values)
        self.point = np.append(self.point, points)
        self._value = np.concatenate([self._value, values])

    def _first_point(self, observation: Floats) -> int:
        context = self.setting.context_index(np.asarray(observation)[None])
        return int(context[0]) * self.setting.decisions.num_arms
