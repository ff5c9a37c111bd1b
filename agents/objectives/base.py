"""What an agent maximises, and what that changes of the agent."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..beliefs.safety import Safety
from ..posteriors import SufficientStatistics

NOBODY = np.empty(0, dtype=np.int64)

BoxTerms = Callable[[Floats, Floats, Ints], Floats]  # scores (n,), pairs (n, dz + d) and t (1,) -> (n,)
Came = Callable[[int, Ints], SufficientStatistics]  # trial and points (u,) -> delivered plays, sums of values


class Revision(NamedTuple):
    """What an agent is to change because its objective did; as it is made here, nothing."""

    noise_std: Floats | None = None  # (B,) of the noise on the values, for the width; None leaves it
    trials: Ints = NOBODY  # (n,) whose delivered plays have other values now
    came: Came | None = None  # what has come of their plays, in these values
    fresh_belief: bool = False  # in all trials, in place of other values
    incumbent_first: bool = False  # before a fresh belief is used, play the old one's best mean


NOTHING = Revision()


class Objective(abc.ABC):
    """Turns what a play earned into the value that the belief is about.

    It is built from the model and the number of trials B, and built again at every reset.
    """

    epoch: int = 1  # rounds between two changes of what is maximised
    # (B,) whether nothing that was last scored can keep the costs, as far as told
    infeasible: Bools | None = None
    of_reward = False  # whether the values are the rewards, and so have their noise
    assumes_bound = False  # whether it rests on a bound that was neither given nor published
    keeps_plays = True  # whether plays after a change may be learnt again where a trial starts over

    @abc.abstractmethod
    def begin(self) -> Revision:
        """What the agent is to assume before the first round, and when trials have started over."""

    @abc.abstractmethod
    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        """Values of plays whose feedback has come, (n,) rewards and (n, C) costs -> (n,)."""

    @abc.abstractmethod
    def receive(self, trial: Ints, point: Ints, rounds: Ints, reward: Floats, cost: Floats) -> None:
        """Keep what has come, and that the belief keeps too."""

    def paid(self, trial: Ints, point: Ints, cost: Floats) -> None:  # noqa: B027 (most need not know)
        """What plays cost is seen, (n,) each; trials ascend."""

    def prices(self, context: Ints) -> Floats:
        """What improvements are to be worth at the arms, in units of the values, (B,) -> (B, A) or (B, 1).

        Only rules that weigh improvements against what plays cost ask; elsewhere they cost nothing.
        """
        return np.zeros((len(context), 1))

    def prices_on_box(self, pairs: Floats) -> Floats:
        """The same of points of a box, (n, dz + d) -> (1, n)."""
        return np.zeros((1, len(pairs)))

    def played(self, point: Ints, t: Ints) -> None:  # noqa: B027 (most need not know)
        """Every trial has just played a point in its round t = 1, 2, ..., (B,) each."""

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:  # noqa: B027 (most need not know)
        """Pending plays of `ago` rounds ago will never yield anything, (n,) each."""

    def rejoin(self, now: int, trial: Ints, point: Ints, played: Ints) -> None:  # noqa: B027 (most need not know)
        """After `forget`, before round `now`: plays of earlier rounds count again, (n,) each.

        What came of them is received next; trials ascend.
        """

    def safety(self, context: Ints, t: Ints, offered: Bools | None = None) -> Safety | None:
        """What is known of costs that must be kept in every round; None where none must.

        Args:
            context, t: of each trial, (B,).
            offered: the arms that are there, (B, A); None is all.
        """
        return None

    @abc.abstractmethod
    def penalised(self, scores: Floats, context: Ints, t: Ints) -> Floats:
        """Scores of the arms, (B, A), with what the belief does not know of; t = 1, 2, ... as of widths.

        Those of arms that may not be played in this round are minus infinity, and mean nothing later.
        """

    @property
    @abc.abstractmethod
    def penalised_on_box(self) -> BoxTerms | None:
        """The same for points of a box; None where it changes nothing."""

    @abc.abstractmethod
    def in_reward_units(self, mean: Floats, std: Floats) -> tuple[Floats, Floats]:
        """Mean and deviation of the belief, (B,) each, in the units of the reward."""

    def beliefs(self, mean: Floats, std: Floats, context: Ints) -> list[tuple[Floats, Floats]] | None:
        """Mean and deviation of the reward and of each cost in their units, from the belief's, (B, A) each.

        None where the only model is of something else, such as a penalised sum.
        """
        return [(mean, std)] if self.of_reward else None

    @abc.abstractmethod
    def end_round(self, rounds: int) -> Revision:
        """After round number `rounds` = 1, 2, ...: what the agent is to change."""

    @abc.abstractmethod
    def forget(self, trial: Ints, rounds: int) -> None:
        """Trials start over, (n,), after so many rounds."""
