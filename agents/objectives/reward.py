"""The objective of agents without constraints: the reward as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bandit_envs.basics.types import Floats, Ints

from .base import NOTHING, BoxTerms, Objective, Revision

if TYPE_CHECKING:
    from ..model.model import Model


class Reward(Objective):
    """The reward alone.

    Args:
        model, num_trials: not needed; every objective is built from them.
    """

    def __init__(self, model: Model, num_trials: int):
        pass

    def begin(self) -> Revision:
        """Nothing to assume."""
        return NOTHING

    def values(self, trial: Ints, reward: Floats, cost: Floats) -> Floats:
        """The rewards."""
        return reward

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
        """What they are."""
        return mean, std

    def end_round(self, rounds: int) -> Revision:
        """Nothing to change."""
        return NOTHING

    def forget(self, trial: Ints, rounds: int) -> None:
        """Nothing to forget."""
