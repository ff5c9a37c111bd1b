"""Beliefs by name, and beliefs of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bandit_envs.problem.setting import Setting

from ..model.model import Model
from ..named import made, own_builder
from ..validation import PerTrial
from .base import Belief
from .censored import Censored
from .delivered import Delivered
from .hallucinated import Hallucinated
from .ridges import RATIOS, Ridges, require_ratios

MakeBelief = Callable[[Model, int], Belief]


def make_belief(belief: Any, setting: Setting, options: Any = None) -> MakeBelief:
    """Return the builder of the belief from the model and the number of trials.

    Args:
        belief: a name in `BELIEFS`, a builder of the user's own, or None for the setting's default.
        setting: decides the default by its delay.
        options: of a named belief.
    """
    chosen = ("hallucinated" if setting.max_delay else "delivered") if belief is None else belief
    if isinstance(chosen, str):
        return made("belief", chosen, BELIEFS, options, setting)
    return own_builder("belief", chosen, BELIEFS, options)


def _censored(
    setting: Setting,
    window: float | None = None,
    reward_bound: PerTrial | None = None,
    noisy: bool = False,
) -> MakeBelief:
    return partial(Censored, window=window, reward_bound=reward_bound, noisy=noisy)


def _ridges(setting: Setting, ratios: Any = RATIOS) -> MakeBelief:
    require_ratios(ratios)
    return partial(Ridges, ratios=ratios)


# Builders from the setting and the belief's own options.
BELIEFS: dict[str, Callable[..., MakeBelief]] = {
    "delivered": lambda setting: Delivered,
    "hallucinated": lambda setting: Hallucinated,
    "censored": _censored,
    "ridges": _ridges,
}
