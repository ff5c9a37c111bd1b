"""Named algorithms for rewards that change at unknown times (Avanesov 2020).

All are Algorithm 2 of the paper: GP-UCB on the plays since the last restart, some of them uniform.

Readable form: tests/references/change.py.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np

from bandit_envs.basics.arguments import require_probability
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import WithWidth
from ..acquisition.rules import UCB
from ..agent.assembly import Agent, assemble
from ..model.defaults import NOISE_FLOOR, ModelOptions
from ..model.model import Model
from ..named import chosen
from ..options import typed
from ..protocol import handles
from ..restarts.alarms import CalibratedAlarm
from ..restarts.base import Never, Oracle
from ..restarts.detection import READINGS
from ..restarts.on_alarm import PAPER_XI_SQUARED, Exploring
from ..widths.base import Width
from ..widths.by_name import make_width


class WidthOptions(ModelOptions, total=False):
    """Options of Algorithm 2 with some restart: of the width and of the model."""

    width: str | float | Width
    """"change-point" (the paper's, the default), or what `make_width` takes."""
    delta: float
    """Failure probability of the width; default 0.1."""
    beta_scale: float | None
    """A factor of the paper's D = 0.02; default None: 1."""
    gamma: Any
    """Information gain of a width that has one, see `make_gamma`; default None: its own."""


@handles("delay", "context", "change", "box", "noise", "availability", "horizon")
def gp_ucb_cpd(
    setting: Setting,
    *,
    xi_squared: float = PAPER_XI_SQUARED,
    ridge: float | str | None = None,
    theta: float | None = None,
    false_alarm_rate: float | None = None,
    reading: str = "experiments",
    num_trials: int | None = None,
    **options: Unpack[WidthOptions],
) -> Agent:
    """GP-UCB-CPD: GP-UCB that restarts when a change-point detector raises an alarm (Avanesov 2020, Alg. 2).

    The detector sees rewards minus the prior mean. Where no mean is published or given, or `fit_mean` learns
    it, each test subtracts the mean of its samples instead.

    Args:
        xi_squared: a round is uniform iff |uniform|^2 <= xi^2 |plays since the restart|.
        ridge: c of the detector's rho_n; default 5, which reproduces the paper's curves. "cross-validated" is
            the recipe of the paper's Remark 3.1, on the uniform samples since the restart: on the paper's
            problem it selects a thousandth of 5, so that theta has to be calibrated by a false_alarm_rate.
        theta: threshold of the detector's statistic; see `restarts.detection.TestRates`.
        false_alarm_rate: find theta by simulation, such that a run without a change has a false alarm
            with this probability; takes a few seconds.
        reading: "experiments" (lambda = R^2, which reproduces the paper's curves) or "theory" (lambda =
            6 R^2 log T and a ridge of c = 1, taken literally).
    """
    if theta is not None and false_alarm_rate is not None:
        raise ValueError(f"theta must be None where false_alarm_rate is given, got {theta}")
    if false_alarm_rate is not None:
        remedy = "give the probability of a false alarm in a run, such as 0.1"
        require_probability("false_alarm_rate", false_alarm_rate, remedy)
    noise = options.get("noise_std")
    given = xi_squared, false_alarm_rate, theta, ridge
    watch = CalibratedAlarm(Model.of_reward(setting, options), *given, reading=reading, noise_std=noise)
    return _assemble(setting, watch, xi_squared, reading, num_trials, **options)


@handles("delay", "context", "change", "privileged", "box", "noise", "availability", "horizon")
def gp_ucb_oracle(
    setting: Setting,
    *,
    xi_squared: float = PAPER_XI_SQUARED,
    reading: str = "experiments",
    num_trials: int | None = None,
    **options: Unpack[WidthOptions],
) -> Agent:
    """GP-UCB-Oracle: as `gp_ucb_cpd`, but given the true changes; privileged, see `restarts.Oracle`."""
    return _assemble(setting, Oracle, xi_squared, reading, num_trials, **options)


@handles("delay", "context", "box", "noise", "availability", "horizon")
def gp_ucb_no_detector(
    setting: Setting,
    *,
    xi_squared: float = PAPER_XI_SQUARED,
    reading: str = "experiments",
    num_trials: int | None = None,
    **options: Unpack[WidthOptions],
) -> Agent:
    """GP-UCB-NO-Detector: as `gp_ucb_cpd`, but never restarting; `xi_squared=0` is GP-UCB."""
    return _assemble(setting, Never, xi_squared, reading, num_trials, **options)


@typed
def _assemble(
    setting: Setting,
    watch: Any,
    xi_squared: float,
    reading: str,
    num_trials: int | None,
    *,
    width: str | float | Width = "change-point",
    delta: float = 0.1,
    beta_scale: float | None = None,
    gamma: Any = None,
    **options: Unpack[ModelOptions],
) -> Agent:
    chosen("reading", reading, READINGS)
    model = Model.of(setting, **options)
    if reading == "theory" and options.get("noise_variance") is None:
        factor = 6.0 * math.log(max(setting.horizon, 3))  # lambda = 6 R^2 log T, T at least 3
        floor = NOISE_FLOOR * model.prior_std**2
        model = replace(model, noise_variance=np.maximum(factor * np.square(model.noise_std), floor))
    width_of = partial(make_width, width, delta=delta, beta_scale=beta_scale, gamma=gamma)
    restart = partial(Exploring, watch=watch, xi_squared=xi_squared)
    return assemble(model, WithWidth(UCB, width_of), num_trials, restart=restart)
