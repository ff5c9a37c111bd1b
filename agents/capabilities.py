"""Declarations of the problem features that a named agent handles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

Factory = TypeVar("Factory", bound=Callable[..., Any])


class Features(NamedTuple):
    """Problem features that an agent takes into account, action sets that it plays, and its requirements.

    `noise`: plays with a published noise are weighted by it, from `Setting.noise_profile` and "feedback_std";
    other agents assume the largest std for all of them, which is valid and wasteful. `privileged` agents
    observe the truth; `on_policy` ones learn from plays of their own choice only; the posterior of
    `approximate` ones is not exact. `availability`: it plays where arms may be missing; an agent that
    declares its features without it is refused there. `aggregated` ones do not need to know which rounds
    delivered feedback is of, and are the only ones for settings that do not publish this. Those with `seed`
    need a safe seed where there are costs. Plays of those with `horizon` depend by default on the setting's
    number of rounds: their first T rounds of a longer run differ from a run of T.
    """

    delay: bool = False
    context: bool = False
    constraint: bool = False
    change: bool = False
    finite: bool = True
    box: bool = False
    privileged: bool = False
    on_policy: bool = False
    noise: bool = False
    approximate: bool = False
    availability: bool = False
    aggregated: bool = False
    seed: bool = False
    horizon: bool = False


def demanded(setting: Any) -> set[str]:
    """Name the `Features` that an agent must have to play a setting as it is meant."""
    demands = {
        "delay": setting.max_delay > 0,
        "context": setting.has_contexts,
        "constraint": setting.num_constraints > 0,
        "change": setting.may_change,
    }
    return {feature for feature, is_there in demands.items() if is_there}


def handles(*names: str) -> Callable[[Factory], Factory]:
    """Declare the features of a factory of agents: @handles("delay", "context")."""
    declared = Features(**dict.fromkeys(names, True))

    def declare(factory: Factory) -> Factory:
        factory.features = declared  # type: ignore[attr-defined]
        return factory

    return declare


def requires(*modules: str) -> Callable[[Factory], Factory]:
    """Declare the modules of other distributions that a factory's agents import: @requires("botorch")."""

    def declare(factory: Factory) -> Factory:
        factory.requires = modules  # type: ignore[attr-defined]
        return factory

    return declare
