"""The protocol of objectives, which an agent maximises, and the reward itself."""

from __future__ import annotations

import abc
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..beliefs.base import Belief
from ..beliefs.points import Pairs, Points
from ..beliefs.safety import CostBelief, Safety
from ..model.model import Model
from ..model.rounds import Clock, Delivery, Rows
from ..posteriors import SufficientStatistics

NO_TRIALS = np.empty(0, dtype=np.int64)

Band = tuple[Floats, Floats]  # mean and std, (B, n) each
Climb = Callable[[Floats, Floats, Pairs, Ints], tuple[Floats, Floats]]
# From a trial and points (u,) to their delivered plays and sums of values.
DeliveredPlays = Callable[[int, Ints], SufficientStatistics]


class Revision(NamedTuple):
    """Changes that an agent makes after its objective changed; the default is no change."""

    noise_std: Floats | None = None  # (B,) std of the noise on the values, for the width; None keeps it
    trials: Ints = NO_TRIALS  # (n,) trials whose delivered plays have new values
    delivered: DeliveredPlays | None = None  # the delivered plays with their new values


NOTHING = Revision()


class Objective(abc.ABC):
    """Function from the reward and costs of a play to the value that the belief is about.

    It is built from the model and the number of trials B, and built again at every reset.
    """

    epoch: int = 1  # rounds between two changes of what is maximised
    infeasible: Bools | None = None  # (B,) True where the last scores had no arm that may keep the costs
    of_reward = False  # True if the values are the rewards, and so have their noise
    linear = True  # False if the reward is no linear function of the quantity that the belief is about
    assumes_bound = False  # True if it uses a bound that was neither given nor published
    keeps_plays = True  # True if plays after a change may be learnt again when a trial restarts
    resumes = False  # True if its state follows from plays and feedback, whatever was asked in between

    def __init__(self, model: Model, num_trials: int):  # noqa: B027 (most keep no state)
        pass

    def begin(self) -> Revision:
        """Return the agent's assumptions before the first round, and after trials have restarted."""
        return NOTHING

    @abc.abstractmethod
    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        """Return the values of delivered plays, (n,) rewards and (n, C) costs -> (n,)."""

    def receive(self, delivery: Delivery) -> None:  # noqa: B027 (usually a no-op)
        """Record delivered feedback that the belief keeps too."""

    def paid(self, trial: Ints, point: Ints, cost: Floats) -> None:  # noqa: B027 (usually a no-op)
        """Record delivered costs of plays, (n,) each; trials ascend."""

    def prices(self, points: Points) -> Floats:
        """Return the price of an improvement at points, in units of the values, (B, n) or (B, 1).

        Only rules that weigh improvements against the cost of plays use it; the default is 0.
        """
        return np.zeros((points.shape[0], 1))

    def played(self, point: Ints, t: Ints) -> None:  # noqa: B027 (usually a no-op)
        """Record that every trial has just played a point in its round t = 1, 2, ..., (B,) each."""

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:  # noqa: B027 (usually a no-op)
        """Remove pending plays of `ago` rounds ago that will never yield feedback, (n,) each."""

    def condition(self, now: int, rows: Rows, clock: Clock) -> None:
        """Receive again, after `forget` and before round `now`, what was delivered of earlier plays."""
        self.receive(rows.delivery(clock))

    def safety(self, context: Ints, t: Ints, offered: Bools | None = None) -> Safety | None:
        """Return the belief about costs that must be kept in every round; None where there are none.

        Args:
            context, t: of each trial, (B,).
            offered: the available arms, (B, A); None for all.
        """
        return None

    def penalised(self, scores: Floats, points: Points, t: Ints) -> Floats:
        """Return the points' scores, (B, n), with terms that the belief does not include; t as of widths.

        Scores of unavailable arms are minus infinity, and stay irrelevant. By default there are no terms.
        """
        return scores

    def climb(self, scores: Floats, slopes: Floats, points: Pairs, t: Ints) -> tuple[Floats, Floats]:
        """Return `penalised` scores of points of a box and their slopes in the features, (n,) and (n, D).

        An objective that adds terms and does not define it is maximised without slopes.
        """
        return scores, slopes

    def worth(self, mean: Floats, points: Points, t: Ints) -> Floats:
        """Return the worth of points with these posterior means for a recommendation, (B, n) -> (B, n)."""
        return self.penalised(mean, points, t)

    def unpenalised(self, mean: Floats, points: Points, t: Ints) -> Floats:
        """Return the means: the `worth` of objectives whose terms are of no account once a play was made."""
        return mean

    def expected(self, mean: Floats, std: Floats) -> Floats:
        """Return what `worth` takes for a recommendation, from mean and std, (B, A) each: here the mean."""
        return mean

    def expected_slopes(self, mean: Floats, std: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives of `expected` in mean and std, (B, A) each."""
        return np.ones_like(mean), np.zeros_like(mean)

    def in_reward_units(self, mean: Floats, std: Floats) -> tuple[Floats, Floats]:
        """Return mean and std of the belief, (B,) each, in the units of the reward, here those of values."""
        return mean, std

    def beliefs(self, mean: Floats, std: Floats, points: Points) -> list[Band] | None:
        """Return mean and std of the reward and of each cost in their units, from the belief's, (B, n) each.

        Return None where the only model is of another quantity, such as a penalised sum.
        """
        return [(mean, std)] if self.of_reward else None

    def cost_beliefs(self) -> list[tuple[Belief, Floats, Floats]]:
        """Return the belief about each cost, with the zero and the unit of its values, (B,) each."""
        return []

    def play_costs(self) -> CostBelief | None:
        """Return the belief about what plays cost; None where it is not learnt."""
        return None

    def settled(self, rounds: int) -> Bools:
        """Return where no feedback changes the unit of the values after round number `rounds`, (B,) or ()."""
        return np.array(True)

    def end_round(self, rounds: int) -> Revision:
        """Return the changes for the agent after round number `rounds` = 1, 2, ...."""
        return NOTHING

    def forget(self, trial: Ints, rounds: int) -> None:  # noqa: B027 (usually a no-op)
        """Restart trials, (n,), after so many rounds."""


class Terms(NamedTuple):
    """How an objective changes scores, see `penalised`, and slopes; None where it has no slopes."""

    add: Callable[[Floats, Points, Ints], Floats]
    climb: Climb | None


def terms_of(objective: Objective, worth: bool = False) -> Terms:
    """Return the terms of an objective, or those of its worth."""
    kind = type(objective)
    climbs = kind.climb is not Objective.climb or kind.penalised is Objective.penalised
    if worth and kind.worth is Objective.unpenalised:
        return Terms(objective.worth, partial(Objective.climb, objective))
    if worth:
        climbs = climbs and kind.worth is Objective.worth
    return Terms(objective.worth if worth else objective.penalised, objective.climb if climbs else None)


class Reward(Objective):
    """The reward alone."""

    of_reward = resumes = True

    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        return reward
