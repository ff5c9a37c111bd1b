"""What pending feedback counts as in the model of a cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bandit_envs.basics.arguments import require_choice

from ..model.model import Model
from .base import Belief
from .censored import Censored
from .delivered import Delivered
from .hallucinated import Hallucinated

COST_BELIEFS = ("delivered", "hallucinated", "censored")


class CensoredCost(Censored):
    """Counts a pending cost as 0, on the border of what is kept, and corrects it within the window.

    Costs are never shifted: the mean of censored values tends to rho_m g, which has the sign of g, and that
    of shifted ones to rho_m (g - least) + least, whose sign changes elsewhere. The band is that of
    Verma et al. (2022), as Guo et al. (2023, Theorem 6) take it for costs too.
    """

    def shifted(self, model: Model) -> Model:
        """The model as it is."""
        return model


def make_cost_belief(name: str, options: Any = None) -> Callable[[Model, int], Belief]:
    """Return what builds the belief about a cost from the model and the number of trials.

    Args:
        name: one of `COST_BELIEFS`.
        options: of "censored", those of the reward's belief.
    """
    require_choice("cost_belief", name, COST_BELIEFS)
    if name == "censored":
        return partial(CensoredCost, **(options or {}))
    return Hallucinated if name == "hallucinated" else Delivered
