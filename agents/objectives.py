"""What an agent maximises: the reward, or the reward less a penalty for its costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from bandit_envs.types import Floats, Ints

from .penalties import Penalty
from .validation import Numeric

if TYPE_CHECKING:
    from .gp_agent import GPAgent
    from .model import Model

FEWEST = 2  # plays that tell a scale


class Objective(Protocol):
    """Turns what a play earned into the value that the belief is about."""

    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        """Values of plays whose feedback has come, (n,) rewards and (n, C) costs -> (n,)."""
        ...

    def receive(self, trial: Ints, point: Ints, rounds: Ints, reward: Floats, cost: Floats) -> None:
        """Keep what has come."""
        ...

    def turn(self, agent: GPAgent) -> None:
        """After every round: change, where it is time, what the agent models."""
        ...


class Reward:
    """The reward alone.

    Args:
        model, num_trials: not needed; every objective is built from them.
    """

    def __init__(self, model: Model, num_trials: int):
        pass

    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        """The rewards."""
        return reward

    def receive(self, trial: Ints, point: Ints, rounds: Ints, reward: Floats, cost: Floats) -> None:
        """Nothing to keep."""

    def turn(self, agent: GPAgent) -> None:
        """Nothing to change."""


class Penalised:
    """y = (w0 f - sum_j w_j h_j - m) / s, whose weights move after every epoch of S rounds.

    Because a posterior mean is linear in the values, one sum an arm of f and of each h_j is enough to know
    the values of *all* past plays under new weights. Centre m and scale s are the mean and the deviation of
    the objective over the first plays, which are uniform, under the weights of the epoch: what a learner
    knows, and pessimistic, for most points are worse than the ones it will play.

    Args:
        penalty: how costs enter and multipliers move.
        num_trials, num_points, num_constraints: B, N, C.
        epoch: S.
        first: number of uniform first plays.
        restart: begin every epoch with a fresh posterior (the paper) or reuse all plays under new weights.
        incumbent_first: an epoch that starts afresh first plays the last epoch's best mean.
        standardize: whether to centre and scale at all.
        noise: deviation of the noise on the reward, (B,) or one number, and on the costs.
    """

    def __init__(
        self,
        penalty: Penalty,
        num_trials: int,
        num_points: int,
        num_constraints: int,
        *,
        epoch: int,
        first: int,
        restart: bool,
        incumbent_first: bool,
        standardize: bool,
        noise: tuple[Numeric, float],
    ):
        self.penalty, self.epoch, self.first = penalty, epoch, first
        self.restart, self.incumbent_first, self.standardize = restart, incumbent_first, standardize
        self.noise = noise
        self.multiplier = penalty.start(num_trials, num_constraints)
        self.weights = penalty.weights(self.multiplier)
        self.centre, self.scale = np.zeros(num_trials), np.ones(num_trials)
        self._reward = np.zeros((num_trials, num_points))  # sums over the delivered plays of each point
        self._cost = np.zeros((num_trials, num_constraints, num_points))
        self._first = np.full((num_trials, 1 + num_constraints, first), np.nan)
        self._epoch_sum, self._epoch_count = np.zeros_like(self.multiplier), np.zeros(num_trials)

    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        """Scaled values of plays, (n,)."""
        h = self.penalty.transform(cost)
        value = self.weights.reward[trial] * reward - (self.weights.cost[trial] * h).sum(axis=1)
        return (value - self.centre[trial]) / self.scale[trial]

    def receive(self, trial: Ints, point: Ints, rounds: Ints, reward: Floats, cost: Floats) -> None:
        """Add up rewards, transformed costs, and the epoch's costs."""
        h = self.penalty.transform(cost)
        np.add.at(self._reward, (trial, point), reward)
        np.add.at(self._epoch_sum, trial, cost)
        np.add.at(self._epoch_count, trial, 1.0)
        for j in range(cost.shape[1]):
            np.add.at(self._cost[:, j], (trial, point), h[:, j])
        early = rounds < self.first
        self._first[trial[early], :, rounds[early]] = np.column_stack([reward, h])[early]

    def turn(self, agent: GPAgent) -> None:
        """Find the scale after the first plays; move the multipliers after every epoch."""
        ends = agent.round % self.epoch == 0
        if ends:
            self._move()
        if ends or agent.round == self.first:
            self._rescale()
            agent.assume_noise(self._noise())
            if self.restart and ends:
                agent.start_over(opening=self.incumbent_first)
            else:
                agent.revalue(self._total)

    def _move(self) -> None:
        """An epoch's mean is over the costs that came since the last update; none, no update."""
        mean = self._epoch_sum / np.maximum(self._epoch_count, 1.0)[:, None]
        self.multiplier = np.where(
            self._epoch_count[:, None] > 0, self.penalty.moved(self.multiplier, mean), self.multiplier
        )
        self.weights = self.penalty.weights(self.multiplier)
        self._epoch_sum[:], self._epoch_count[:] = 0.0, 0.0

    def _rescale(self) -> None:
        if not self.standardize:
            return
        weight = np.column_stack([self.weights.reward, -self.weights.cost])[:, :, None]
        value = (weight * self._first).sum(axis=1)  # (B, first), NaN where nothing has come
        known = np.isfinite(value)
        count = np.maximum(known.sum(axis=1), 1)
        mean = np.where(known, value, 0.0).sum(axis=1) / count
        spread = np.sqrt(
            (np.where(known, value - mean[:, None], 0.0) ** 2).sum(axis=1) / np.maximum(count - 1, 1)
        )
        enough = (count >= FEWEST) & (spread > 0)
        self.centre, self.scale = np.where(enough, mean, 0.0), np.where(enough, spread, 1.0)

    def _noise(self) -> Floats:
        """R_l of the scaled objective, (B,)."""
        return self.weights.reward * self.penalty.noise_std(self.multiplier, *self.noise) / self.scale

    def _total(self, trial: int, point: Ints, plays: Floats) -> Floats:
        """Sums of the scaled values of a trial's delivered plays at some points, (u,)."""
        reward, cost = self._reward[trial, point], self._cost[trial][:, point]
        value = self.weights.reward[trial] * reward - self.weights.cost[trial] @ cost
        return (value - self.centre[trial] * plays) / self.scale[trial]
