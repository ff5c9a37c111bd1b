"""Restarts by name, and restarts of the user's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import numpy as np

from bandit_envs.basics.arguments import require_at_least_one
from bandit_envs.basics.options import count, probability
from bandit_envs.basics.types import Floats
from bandit_envs.problem.setting import Setting

from ..model.model import Model
from ..named import builder_of
from .alarms import CalibratedAlarm, EventTriggered, LikelihoodRatio, RunLengths
from .base import Never, Oracle, Periodic, Restart
from .evidence import GIVEN_NOISE, UNKNOWN_NOISE, Archive, Evidence, require_scales
from .on_alarm import PAPER_XI_SQUARED, Exploring, InOrder

MakeRestart = Callable[[Model, int], Restart]
FALSE_ALARM_RATE = 0.1  # of a whole run
Rate = Annotated[float, probability("it is that of a run without a change")]
SEGMENTS = 3  # default number of segments of a run


def make_restart(restart: Any, setting: Setting, observed: Model, options: Any = None) -> MakeRestart:
    """Return the builder of a restart of a name or of the user's own; None is the setting's default."""
    chosen = ("evidence" if setting.may_change else "never") if restart is None else restart
    return builder_of("restart", chosen, RESTARTS, options, observed)


def _on_alarm(
    observed: Model,
    xi_squared: float = PAPER_XI_SQUARED,
    ridge: float | str | None = None,
    theta: float | Floats | None = None,
    false_alarm_rate: Rate | None = None,
    reading: str = "experiments",
) -> MakeRestart:
    """Return the builder of "cpd", with defaults from the noise and the rate of false alarms."""
    if theta is not None and false_alarm_rate is not None:
        raise ValueError(f"theta must be None where false_alarm_rate is given, got {theta}")
    rate = FALSE_ALARM_RATE if false_alarm_rate is None else false_alarm_rate
    published, noise = observed.setting.noise_std, observed.noise_std
    own = observed.noise_is_known and not (published is not None and np.array_equal(noise, published))
    given = noise if own else None  # by the user, and another than the setting's
    watch = CalibratedAlarm(observed, xi_squared, rate, theta, ridge, True, reading, given)
    return partial(Exploring, watch=watch, xi_squared=xi_squared)


def _evidence(
    archived: bool,
    observed: Model,
    step: Annotated[int, count("it is the number of plays between starts")] = 10,
    false_alarm_rate: Rate = FALSE_ALARM_RATE,
    anytime: bool = False,
    noise_scales: Any = None,
) -> MakeRestart:
    """Return the builder of "evidence" or of its archive, of the same rate and levels of the noise."""
    usual = GIVEN_NOISE if observed.noise_is_known else UNKNOWN_NOISE
    scales = usual if noise_scales is None else require_scales(noise_scales)
    shared: dict[str, Any] = {"false_alarm_rate": false_alarm_rate, "scales": scales}
    horizon = None if anytime else observed.setting.horizon
    watch = partial(Evidence, horizon=horizon, step=step, **shared)
    archive = partial(Archive, make_watch=watch, **shared) if archived else None
    return partial(InOrder, observed=observed, watch=watch, archive=archive)


def _of_rate(kind: type, observed: Model, false_alarm_rate: Rate = FALSE_ALARM_RATE) -> MakeRestart:
    return partial(InOrder, observed=observed, watch=partial(kind, false_alarm_rate=false_alarm_rate))


def _run_lengths(observed: Model, segment: float | None = None) -> MakeRestart:
    """Return the builder of "bocpd"; the default segment is a third of the horizon."""
    length = max(observed.setting.horizon / SEGMENTS, 2.0) if segment is None else segment
    require_at_least_one("segment", length, "it is the expected number of rounds between changes")
    if length == 1 or not math.isfinite(length):
        raise ValueError(f"segment must be a finite number above 1, got {length}")
    return partial(InOrder, observed=observed, watch=partial(RunLengths, segment=length))


# Builders from the model of the observed reward and the restart's own options.
RESTARTS: dict[str, Callable[..., MakeRestart]] = {
    "never": lambda observed: Never,
    "cpd": _on_alarm,
    "evidence": partial(_evidence, False),
    "evidence-archive": partial(_evidence, True),
    "et": partial(_of_rate, EventTriggered),
    "bocpd": _run_lengths,
    "glr": partial(_of_rate, LikelihoodRatio),
    "periodic": lambda observed, every: partial(Periodic, every=every),
    "oracle": lambda observed, xi_squared=PAPER_XI_SQUARED: partial(
        Exploring, watch=Oracle, xi_squared=xi_squared
    ),
}
