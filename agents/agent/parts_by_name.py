"""The parts of an agent by name, for those who compose one from a file or a command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.problem.setting import Setting

from ..acquisition.rules import (
    UCB,
    ExpectedImprovement,
    PosteriorMean,
    PosteriorVariance,
    ProbabilityOfImprovement,
    Rule,
    Thompson,
)
from ..beliefs.base import Belief, Delivered
from ..beliefs.censored import Censored
from ..beliefs.hallucinated import Hallucinated
from ..model.model import Model
from ..objectives.penalised_parts import PenalisedParts, penalised_parts
from ..objectives.penalties import PSI, LinearDual, Multiplicative
from ..objectives.reward import Reward
from ..restarts.base import Never, Oracle, Periodic, Restart
from ..restarts.calibrated_alarm import CalibratedAlarm
from ..restarts.forced_exploration import PAPER_XI_SQUARED
from ..restarts.on_alarm import Exploring
from ..validation import PerTrial
from ..widths.by_name import improved_width, make_width
from .rule_makers import Always, WithWidth

MakeBelief = Callable[[Model, int], Belief]
MakeRestart = Callable[[Model, int], Restart]
MakeRule = Callable[[Model], Rule]
Part = TypeVar("Part")
STEP = 5.0  # of the dual descent, as `gp_ucb_noisy_constraints` has it
FALSE_ALARM_RATE = 0.1  # of a whole run


def chosen(argument: str, name: str, parts: dict[str, Part]) -> Part:
    """Return the part of a name, or say which there are."""
    if name not in parts:
        raise ValueError(f"{argument} must be one of {', '.join(parts)}, got {name!r}")
    return parts[name]


def made(argument: str, name: str, parts: dict[str, Callable[..., Part]], options: Any, *given: Any) -> Part:
    """Make the part of a name from what all of its kind are given and its own options."""
    make = chosen(argument, name, parts)
    own = {} if options is None else options
    takes = list(inspect.signature(make).parameters)[len(given) :]
    try:
        inspect.signature(make).bind(*given, **own)
    except TypeError as error:
        allowed = f"options of {name!r} ({', '.join(takes) or 'it takes none'})"
        raise ValueError(f"{argument}_options must be {allowed}, got {options!r}: {error}") from None
    return make(*given, **own)


def _with_width(rule: Any, union: int, width: Any, delta: float) -> MakeRule:
    if isinstance(width, str) and width == "improved":
        return WithWidth(rule, partial(improved_width, delta=delta, union=union))
    return WithWidth(rule, partial(make_width, width, delta=delta))


# Each from the width, the failure probability and the rule's own options.
RULES: dict[str, Callable[..., MakeRule]] = {
    "ucb": partial(_with_width, UCB, 1),
    "thompson": partial(_with_width, Thompson, 2),
    "ei": lambda width, delta, xi=0.0: Always(ExpectedImprovement(xi)),
    "pi": lambda width, delta, xi=0.01: Always(ProbabilityOfImprovement(xi)),
    "mean": lambda width, delta: Always(PosteriorMean()),
    "variance": lambda width, delta: Always(PosteriorVariance()),
}


def _censored(setting: Setting, window: float | None = None, reward_bound: PerTrial = 1.0) -> MakeBelief:
    longest = setting.max_delay if window is None else window
    return partial(Censored, window=longest, reward_bound=reward_bound)


# Each from the setting and the belief's own options.
BELIEFS: dict[str, Callable[..., MakeBelief]] = {
    "delivered": lambda setting: Delivered,
    "hallucinated": lambda setting: Hallucinated,
    "censored": _censored,
}


def _unconstrained(setting: Setting, delta: float, options: dict[str, Any]) -> PenalisedParts:
    return PenalisedParts(Model.of(setting, **options), Reward, delta)


def _dual(
    setting: Setting, delta: float, options: dict[str, Any], step: float = STEP, **own: Any
) -> PenalisedParts:
    return penalised_parts(setting, LinearDual(step), delta=delta, **own, **options)


def _multiplicative(
    setting: Setting,
    delta: float,
    options: dict[str, Any],
    psi: str = "exponential",
    psi_options: dict[str, float] | None = None,
    **own: Any,
) -> PenalisedParts:
    penalty = Multiplicative(chosen("psi", psi, PSI)(**(psi_options or {})))
    return penalised_parts(setting, penalty, delta=delta, **own, **options)


# Each from the setting, the failure probability, the options of the model and the constraint's own.
CONSTRAINTS: dict[str, Callable[..., PenalisedParts]] = {
    "none": _unconstrained,
    "dual": _dual,
    "multiplicative": _multiplicative,
}


def _on_alarm(
    observed: Model,
    xi_squared: float = PAPER_XI_SQUARED,
    ridge: float | None = None,
    theta: float | Floats | None = None,
    false_alarm_rate: float | None = None,
    reading: str = "experiments",
) -> MakeRestart:
    """Ridge and threshold by default as the noise has it, and as a rate of false alarms asks for."""
    if theta is not None and false_alarm_rate is not None:
        raise ValueError(f"theta must be None where false_alarm_rate is given, got {theta}")
    rate = FALSE_ALARM_RATE if false_alarm_rate is None else false_alarm_rate
    watch = CalibratedAlarm(observed, xi_squared, rate, theta, ridge, True, reading, _given_noise(observed))
    return partial(Exploring, watch=watch, xi_squared=xi_squared)


def _given_noise(observed: Model) -> PerTrial | None:
    """The noise of the user where it is not the setting's."""
    own = observed.setting.noise_std
    same = own is not None and np.array_equal(observed.noise_std, own)
    return None if same else observed.noise_std


# Each from the model of the observed reward and the restart's own options.
RESTARTS: dict[str, Callable[..., MakeRestart]] = {
    "never": lambda observed: Never,
    "cpd": _on_alarm,
    "periodic": lambda observed, every: partial(Periodic, every=every),
    "oracle": lambda observed, xi_squared=PAPER_XI_SQUARED: partial(
        Exploring, watch=Oracle, xi_squared=xi_squared
    ),
}
