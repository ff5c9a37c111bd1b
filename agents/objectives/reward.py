"""Objectives that are functions of a play's own reward and costs; the reward as it is, above all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bandit_envs.basics.types import Floats, Ints

from .base import NOTHING, BoxTerms, Objective, Revision

if TYPE_CHECKING:
    from ..model.model import Model


class PlayByPlay(Objective):
    """An objective that never changes: what a play is worth depends on its own reward and costs alone.

    Only `values` is left to say.

    Args:
        model, num_trials: not needed; every objective is built from them.
    """

    def __init__(self, model: Model, num_trials: int):
        pass

    def begin(self) -> Revision:
        """Nothing to assume."""
        return NOTHING

    def receive(self, trial: Ints, point: Ints, rounds: Ints, reward: Floats, cost: Floats) -> None:
        """Nothing to keep."""

    def penalised(self, scores: Floats, context: Ints, t: Ints) -> Floats:
        """The scores."""
        return scores

    @property
    def penalised_on_box(self) -> BoxTerms | None:
        """The belief knows of all."""
        return None

    def in_reward_units(self, mean: Floats, std: Floats) -> tuple[Floats, Floats]:
        """What they are; the values are in these units."""
        return mean, std

    def end_round(self, rounds: int) -> Revision:
        """Nothing to change."""
        return NOTHING

    def forget(self, trial: Ints, rounds: int) -> None:
        """Nothing to forget."""


class Reward(PlayByPlay):
    """The reward alone."""

    of_reward = True

    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        """The rewards."""
        return reward
