"""Objectives that are functions of a play's own reward and costs, such as the reward itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bandit_envs.basics.types import Floats, Ints

from .base import NOTHING, BoxTerms, Objective, Revision

if TYPE_CHECKING:
    from ..model.model import Model


class PlayByPlay(Objective):
    """Objective that never changes: the value of a play depends on its own reward and costs alone.

    A subclass defines `values`.

    Args:
        model, num_trials: not used; every objective is built from them.
    """

    def __init__(self, model: Model, num_trials: int):
        pass

    def begin(self) -> Revision:
        """Return no change."""
        return NOTHING

    def receive(self, trial: Ints, point: Ints, rounds: Ints, reward: Floats, cost: Floats) -> None:
        """Do nothing: no state is kept."""

    def penalised(self, scores: Floats, context: Ints, t: Ints) -> Floats:
        """Return the scores."""
        return scores

    @property
    def penalised_on_box(self) -> BoxTerms | None:
        """None: the belief is about the objective itself."""
        return None

    def in_reward_units(self, mean: Floats, std: Floats) -> tuple[Floats, Floats]:
        """Return mean and std unchanged; the values are in units of the reward."""
        return mean, std

    def end_round(self, rounds: int) -> Revision:
        """Return no change."""
        return NOTHING

    def forget(self, trial: Ints, rounds: int) -> None:
        """Do nothing: no state is kept."""


class Reward(PlayByPlay):
    """The reward alone."""

    of_reward = True

    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        """Return the rewards."""
        return reward
