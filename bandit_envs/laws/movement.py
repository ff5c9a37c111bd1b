"""The costs of moving from one play to the next: c(x_{t-1}, x_t), and nothing for the first play.

They are deterministic, published, and in units of the reward, so that the total loss of a run is its regret
plus the costs of its moves. A budget, which has a unit of its own, does not pay for moves.
"""

import abc
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from bandit_envs.basics.options import Checked, positive
from bandit_envs.basics.types import Floats


@dataclass(frozen=True)
class Movement(Checked, abc.ABC):
    """Charge `price` times the distance of two successive plays.

    Args:
        price: cost of a distance of 1, in units of the reward.
    """

    price: Annotated[float, positive()] = 0.1

    is_free: ClassVar[bool] = False  # whether no move costs anything

    @abc.abstractmethod
    def distance(self, before: Floats, after: Floats) -> Floats:
        """Return distances of points in the unit box, (..., d) each -> (...)."""

    def cost(self, before: Floats, after: Floats) -> Floats:
        """Return the costs of moves between points in the unit box, (..., d) each -> (...)."""
        return self.price * self.distance(before, after)


@dataclass(frozen=True)
class FreeMoves(Movement):
    """Charge nothing."""

    is_free: ClassVar[bool] = True

    def distance(self, before: Floats, after: Floats) -> Floats:
        return np.zeros(np.broadcast_shapes(before.shape, after.shape)[:-1])


@dataclass(frozen=True)
class Switching(Movement):
    """Charge `price` for each play of another point than the last one."""

    def distance(self, before: Floats, after: Floats) -> Floats:
        return (before != after).any(axis=-1).astype(np.float64)


@dataclass(frozen=True)
class Travel(Movement):
    """Charge `price` times the Euclidean distance, where each side of the box has length 1.

    Distances are shares of the sides, not units of the kernel: other units of the features change nothing.
    """

    def distance(self, before: Floats, after: Floats) -> Floats:
        return np.sqrt(((before - after) ** 2).sum(axis=-1))


FREE_MOVES = FreeMoves()

LAWS: dict[str, type[Movement]] = {"none": FreeMoves, "switching": Switching, "travel": Travel}
