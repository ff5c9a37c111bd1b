"""Shift drawn cost functions so that some arms are feasible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from bandit_envs.basics.arguments import is_number, require
from bandit_envs.laws.drawn import Drawn


@runtime_checkable
class Feasibility(Protocol):
    """Shift the costs of a segment after they are drawn, without randomness."""

    def shift(self, costs: list[Drawn], num_contexts: int) -> list[Drawn]:
        """Return the shifted costs of one segment, each over Z contexts x A arms."""
        ...


@dataclass(frozen=True)
class AsDrawn:
    """Leave costs as drawn; a trial without a feasible arm raises an error."""

    def shift(self, costs: list[Drawn], num_contexts: int) -> list[Drawn]:
        """Return the costs unchanged."""
        return costs


AS_DRAWN = AsDrawn()


@dataclass(frozen=True)
class FeasibleShare:
    r"""Shift to g_j = h_j - q, one q for all costs of a segment, so that a share of the arms satisfies all.

    q = max_z (the ceil(quantile A)-th smallest over arms of max_j h_j(z, a)): in the tightest context z
    exactly that many arms are feasible jointly, in the others at least as many. One constant for all
    contexts and costs leaves each g_j a draw of its law plus a constant, as smooth as before.

    Args:
        quantile: joint feasible share of the arms, in (0, 1].
    """

    quantile: float = 0.3

    def __post_init__(self) -> None:
        valid = is_number(self.quantile) and 0 < self.quantile <= 1
        require(valid, "quantile", "a number in (0, 1]", self.quantile)

    def shift(self, costs: list[Drawn], num_contexts: int) -> list[Drawn]:
        """Subtract q from every cost."""
        if not costs:
            return costs
        worst = np.max([cost.values for cost in costs], axis=0).reshape(num_contexts, -1)  # (Z, A)
        rank = int(np.ceil(self.quantile * worst.shape[1])) - 1
        q = float(np.sort(worst, axis=1)[:, rank].max())
        return [cost.rescaled(1.0, -q) for cost in costs]
