"""Beliefs by name and of the user's own, and what pending feedback counts as in the model of a cost."""

from collections.abc import Callable
from functools import partial
from typing import Any

from bandit_envs.basics.arguments import require_choice
from bandit_envs.problem.setting import Setting

from ..model.model import Model
from ..named import builder_of
from .base import Belief
from .censored import Censored
from .delivered import Delivered
from .imputed import Fantasised, Hallucinated
from .ridges import RATIOS, Ridges, require_ratios

COST_BELIEFS = ("delivered", "hallucinated", "censored")
MakeBelief = Callable[[Model, int], Belief]


class CensoredCost(Censored):
    """Counts a pending cost as 0, on the border of what is kept, and corrects it within the window.

    Costs are never shifted: the mean of censored values tends to rho_m g, which has the sign of g, and that
    of shifted ones to rho_m (g - least) + least, whose sign changes elsewhere. The band is that of
    Verma et al. (2022), as Guo et al. (2023, Theorem 6) take it for costs too.
    """

    def shifted(self, model: Model) -> Model:
        return model


def make_cost_belief(name: str, options: Any = None) -> Callable[[Model, int], Belief]:
    """Return the builder of the belief about a cost; "censored" has the options of the reward's belief."""
    require_choice("cost_belief", name, COST_BELIEFS)
    if name == "censored":
        return partial(CensoredCost, **(options or {}))
    return Hallucinated if name == "hallucinated" else Delivered


def make_belief(belief: Any, setting: Setting, options: Any = None) -> MakeBelief:
    """Return the builder of a belief of a name or of the user's own; None is the setting's default."""
    chosen = ("hallucinated" if setting.max_delay else "delivered") if belief is None else belief
    return builder_of("belief", chosen, BELIEFS, options, setting)


def _censored(
    setting: Setting, window: float | None = None, reward_bound: float | None = None, noisy: bool = False
) -> MakeBelief:
    return partial(Censored, window=window, reward_bound=reward_bound, noisy=noisy)


def _ridges(setting: Setting, ratios: Any = RATIOS) -> MakeBelief:
    require_ratios(ratios)
    return partial(Ridges, ratios=ratios)


def _fantasised(setting: Setting, noisy: bool = True) -> MakeBelief:
    return partial(Fantasised, noisy=noisy)


# Builders from the setting and the belief's own options.
BELIEFS: dict[str, Callable[..., MakeBelief]] = {
    "delivered": lambda setting: Delivered,
    "hallucinated": lambda setting: Hallucinated,
    "censored": _censored,
    "fantasised": _fantasised,
    "ridges": _ridges,
}
