"""The protocol of objectives, which an agent maximises, and the reward itself."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..beliefs.base import Belief
from ..beliefs.safety import Safety
from ..model.model import Model
from ..model.rounds import Clock, Rows
from ..posteriors import SufficientStatistics

NO_TRIALS = np.empty(0, dtype=np.int64)

# From scores (n,), pairs (n, dz + d) and t (1,) to scores (n,). Terms with slopes have a method `climb`, from
# scores, slopes in the pairs (n, dz + d), pairs and t to scores and slopes.
BoxTerms = Callable[[Floats, Floats, Ints], Floats]
Came = Callable[[int, Ints], SufficientStatistics]  # trial and points (u,) -> delivered plays, sums of values


class Revision(NamedTuple):
    """Changes that an agent makes after its objective changed; the default is no change."""

    noise_std: Floats | None = None  # (B,) std of the noise on the values, for the width; None keeps it
    trials: Ints = NO_TRIALS  # (n,) trials whose delivered plays have new values
    came: Came | None = None  # the delivered plays with their new values
    fresh_belief: bool = False  # True starts all trials with a fresh belief, instead of new values
    incumbent_first: bool = False  # True first plays the old belief's best mean before a fresh belief is used


NOTHING = Revision()


class Objective(abc.ABC):
    """Function from the reward and costs of a play to the value that the belief is about.

    It is built from the model and the number of trials B, and built again at every reset.
    """

    epoch: int = 1  # rounds between two changes of what is maximised
    # (B,) True where the last scores had no arm that may keep the costs
    infeasible: Bools | None = None
    of_reward = False  # True if the values are the rewards, and so have their noise
    linear = True  # False if the reward is no linear function of the quantity that the belief is about
    assumes_bound = False  # True if it uses a bound that was neither given nor published
    keeps_plays = True  # True if plays after a change may be learnt again when a trial restarts
    resumes = False  # True if its state follows from plays and feedback, whatever was asked in between

    @abc.abstractmethod
    def begin(self) -> Revision:
        """Return the agent's assumptions before the first round, and after trials have restarted."""

    @abc.abstractmethod
    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        """Return the values of delivered plays, (n,) rewards and (n, C) costs -> (n,)."""

    @abc.abstractmethod
    def receive(self, trial: Ints, point: Ints, rounds: Ints, reward: Floats, cost: Floats) -> None:
        """Record delivered feedback that the belief keeps too."""

    def paid(self, trial: Ints, point: Ints, cost: Floats) -> None:  # noqa: B027 (usually a no-op)
        """Record delivered costs of plays, (n,) each; trials ascend."""

    def prices(self, context: Ints) -> Floats:
        """Return the price of an improvement at the arms, in units of the values, (B,) -> (B, A) or (B, 1).

        Only rules that weigh improvements against the cost of plays use it; the default is 0.
        """
        return np.zeros((len(context), 1))

    def prices_on_box(self, pairs: Floats) -> Floats:
        """Return the prices at points of a box, (n, dz + d) -> (1, n)."""
        return np.zeros((1, len(pairs)))

    def played(self, point: Ints, t: Ints) -> None:  # noqa: B027 (usually a no-op)
        """Record that every trial has just played a point in its round t = 1, 2, ..., (B,) each."""

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:  # noqa: B027 (usually a no-op)
        """Remove pending plays of `ago` rounds ago that will never yield feedback, (n,) each."""

    def condition(self, now: int, rows: Rows, clock: Clock) -> None:
        """Receive again, after `forget` and before round `now`, what was delivered of earlier plays."""
        trial, point, rounds, _, reward, cost, _ = rows.delivered
        self.receive(trial, point, rounds, reward, cost)

    def safety(self, context: Ints, t: Ints, offered: Bools | None = None) -> Safety | None:
        """Return the belief about costs that must be kept in every round; None where there are none.

        Args:
            context, t: of each trial, (B,).
            offered: the available arms, (B, A); None for all.
        """
        return None

    def penalised(self, scores: Floats, context: Ints, t: Ints) -> Floats:
        """Return the arms' scores, (B, A), with terms that the belief does not include; t as of widths.

        Scores of unavailable arms are minus infinity, and stay irrelevant. By default there are no terms.
        """
        return scores

    @property
    def penalised_on_box(self) -> BoxTerms | None:
        """Function that adds such terms at points of a box; None where there are none."""
        return None

    def worth(self, mean: Floats, context: Ints, t: Ints) -> Floats:
        """Return the worth of arms with these posterior means for a recommendation, (B, A) -> (B, A)."""
        return self.penalised(mean, context, t)

    @property
    def worth_on_box(self) -> BoxTerms | None:
        """Function that turns posterior means at points of a box into worth; None where they are equal."""
        return self.penalised_on_box

    def expected(self, mean: Floats, std: Floats) -> Floats:
        """Return what `worth` takes for a recommendation, from mean and std, (B, A) each: here the mean."""
        return mean

    def expected_slopes(self, mean: Floats, std: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives of `expected` in mean and std, (B, A) each."""
        return np.ones_like(mean), np.zeros_like(mean)

    @abc.abstractmethod
    def in_reward_units(self, mean: Floats, std: Floats) -> tuple[Floats, Floats]:
        """Return mean and std of the belief, (B,) each, in the units of the reward."""

    def beliefs(self, mean: Floats, std: Floats, context: Ints) -> list[tuple[Floats, Floats]] | None:
        """Return mean and std of the reward and of each cost in their units, from the belief's, (B, A) each.

        Return None where the only model is of another quantity, such as a penalised sum.
        """
        return [(mean, std)] if self.of_reward else None

    def beliefs_on_box(self, mean: Floats, std: Floats, pairs: Floats) -> list[tuple[Floats, Floats]] | None:
        """Return the same at points of a box, (n,) each."""
        return [(mean, std)] if self.of_reward else None

    def cost_beliefs(self) -> list[tuple[Belief, Floats, Floats]]:
        """Return the belief about each cost, with the zero and the unit of its values, (B,) each."""
        return []

    def settled(self, rounds: int) -> Bools:
        """Return where no feedback changes the unit of the values after round number `rounds`, (B,) or ()."""
        return np.array(True)

    @abc.abstractmethod
    def end_round(self, rounds: int) -> Revision:
        """Return the changes for the agent after round number `rounds` = 1, 2, ...."""

    @abc.abstractmethod
    def forget(self, trial: Ints, rounds: int) -> None:
        """Restart trials, (n,), after so many rounds."""


class PlayByPlay(Objective):
    """Objective whose `values`, of a subclass, depend on a play's own reward and costs alone."""

    def __init__(self, model: Model, num_trials: int):
        pass

    def begin(self) -> Revision:
        return NOTHING

    def receive(self, trial: Ints, point: Ints, rounds: Ints, reward: Floats, cost: Floats) -> None:
        """Do nothing: no state is kept."""

    def in_reward_units(self, mean: Floats, std: Floats) -> tuple[Floats, Floats]:
        """Return mean and std unchanged; the values are in units of the reward."""
        return mean, std

    def end_round(self, rounds: int) -> Revision:
        return NOTHING

    def forget(self, trial: Ints, rounds: int) -> None:
        """Do nothing: no state is kept."""


class Reward(PlayByPlay):
    """The reward alone."""

    of_reward = resumes = True

    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        return reward
