"""Named algorithms for rewards that change: windows, discounts, drifts and restarts.

The default memory follows from `variation`, B_T: the sum of the distances between the reward functions of
successive rounds, in prior stds. It is rarely known; the default 1 is a guess. Those with a detector are
Algorithm 2 of Avanesov (2020): GP-UCB on the plays since the last restart, some of them uniform.

Readable forms: tests/references/forgetting.py, change.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np

from bandit_envs.basics.arguments import require_positive
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import WithWidth
from ..acquisition.rules import UCB
from ..agent.assembly import Agent, assemble
from ..beliefs.delivered import discounted, sliding_window, time_varying, wandering
from ..model.defaults import NOISE_FLOOR, ModelOptions
from ..model.model import Model
from ..named import chosen, is_name
from ..options import require_arms, typed
from ..protocol import handles
from ..restarts.alarms import CalibratedAlarm
from ..restarts.base import Never, Oracle, Periodic
from ..restarts.by_name import Rate
from ..restarts.on_alarm import PAPER_XI_SQUARED, Exploring
from ..restarts.tails import READINGS
from ..widths.base import LogarithmicWidth, Width
from ..widths.by_name import make_width
from ..widths.information_gain import spectral_bound
from .classic import WidthOptions, upper_bound

MOST_POINTS = 256  # of the spectrum: the fourth root of gamma_T needs no more precision


def memory_length(model: Model, variation: float) -> Floats:
    """Return the length gamma_T^(1/4) sqrt(T / B_T), 2 to T rounds, () or (B,) (Zhou & Shroff 2021).

    gamma_T is the spectral bound on at most 256 points, and B_T the `variation`.
    """
    require_positive("variation", variation, "it is how much the function changes in all, in prior stds")
    horizon, points = model.setting.horizon, model.setting.decisions.points
    if model.setting.continuous:  # points that cover the box
        low, high = points.min(axis=0), points.max(axis=0)
        sample = low + (high - low) * unit_grid(MOST_POINTS, len(low))
    else:
        sample = points[:: -(-len(points) // MOST_POINTS)]
    rounds = np.full(np.shape(model.noise_variance), horizon)
    bound = spectral_bound(Gram(model.kernel, sample), model.noise_variance, horizon)
    gamma = bound(rounds, np.zeros_like(rounds, dtype=np.float64))
    length = gamma**0.25 * np.sqrt(horizon / np.asarray(variation))
    return np.clip(length, 2.0, max(horizon, 2))


def window_of(model: Model, variation: float) -> Ints:
    """Return W = H = ceil(gamma_T^(1/4) sqrt(T / B_T)), () or (B,), a window or time between restarts."""
    return np.ceil(memory_length(model, variation)).astype(np.int64)


def discount_of(model: Model, variation: float) -> Floats:
    """Return rho = 1 - gamma_T^(-1/4) sqrt(B_T / T), () or (B,) (Deng et al. 2022)."""
    return 1.0 - 1.0 / memory_length(model, variation)


def drift_of(model: Model, variation: float) -> Floats:
    """Return eps = 2 / W, () or (B,), with which the covariance falls to 1/e over W rounds (our reading)."""
    return 2.0 / window_of(model, variation)


class MemoryOptions(WidthOptions, total=False):
    """Options of agents that forget: of the default memory, of the width and of the model."""

    variation: float
    """B_T of the default memory, in prior stds; default 1.0."""


@handles("delay", "context", "change", "box", "availability", "horizon")
def sw_gp_ucb(
    setting: Setting,
    *,
    window: float | None = None,
    width: str | float | Width | None = None,
    num_trials: int | None = None,
    **options: Unpack[MemoryOptions],
) -> Agent:
    """SW-GP-UCB: GP-UCB on the last W plays (Zhou & Shroff 2021).

    Args:
        window: W; default ceil(gamma_T^(1/4) sqrt(T / B_T)). Older plays are forgotten, and their values too
            where they are delivered later.
        width: as for `gp_ucb`; the paper's own is for functions of bounded norm, "self-normalised". "amm" has
            no theorem here: its proof wants all plays of one function.
    """
    memory = partial(_with_memory, sliding_window, "window", window, window_of)
    return _remembering(setting, "belief", memory, num_trials, width=width, **options)


@handles("delay", "context", "change", "box", "noise", "availability", "horizon")
def r_gp_ucb(
    setting: Setting,
    *,
    every: float | None = None,
    width: str | float | Width | None = None,
    num_trials: int | None = None,
    **options: Unpack[MemoryOptions],
) -> Agent:
    """R-GP-UCB: GP-UCB that restarts every H rounds, the width's t included (Zhou & Shroff 2021).

    Args:
        every: H; default ceil(gamma_T^(1/4) sqrt(T / B_T)).
        width: as for `sw_gp_ucb`; "amm" has a theorem only where the function stays the same between two
            starts.
    """
    memory = partial(_with_memory, Periodic, "every", every, window_of)
    return _remembering(setting, "restart", memory, num_trials, width=width, **options)


@handles("delay", "context", "change", "box", "availability", "horizon")
def tv_gp_ucb(
    setting: Setting,
    *,
    eps: float | None = None,
    width: str | float | Width = "theory",
    num_trials: int | None = None,
    **options: Unpack[MemoryOptions],
) -> Agent:
    """TV-GP-UCB: GP-UCB under the kernel (1 - eps)^(|t - t'| / 2) k(x, x') (Bogunovic et al. 2016).

    Args:
        eps: drift of the function per round, in [0, 1]; default 2 / W with the default window of `sw_gp_ucb`.
        width: "theory", sqrt(2 log(N pi^2 t^2 / (6 delta))), on a box "self-normalised"; "experiments",
            sqrt(0.8 log(4 t)); or a width of `make_width`, of which "amm" has no theorem here.
    """
    memory = partial(_with_memory, time_varying, "eps", eps, drift_of)
    own: dict[Any, Width | None] = {"theory": None, "experiments": LogarithmicWidth()}
    known = own[width] if is_name(width, *own) else width
    return _remembering(setting, "belief", memory, num_trials, width=known, **options)


@handles("delay", "context", "change", "availability", "horizon")
def ui_tvbo(
    setting: Setting,
    *,
    rate: float | None = None,
    width: str | float | Width = 2.0,
    num_trials: int | None = None,
    **options: Unpack[MemoryOptions],
) -> Agent:
    """UI-TVBO: GP-UCB under the kernel (1 + s^2 min(t, t')) k(x, x') (Brunzema et al. 2022).

    The variance of points that are not played grows without limit; new plays outweigh old ones gradually.

    Args:
        rate: s^2, the variance of a round's step in prior variances; default 2 / W with the default window of
            `sw_gp_ucb`, which makes a step as large as that of `tv_gp_ucb` by default (our reading).
        width: a number, in the paper's code 2; or a width of `make_width`.
    """
    require_arms(setting, "their prior may grow; take tv-gp-ucb")
    memory = partial(_with_memory, wandering, "rate", rate, drift_of)
    return _remembering(setting, "belief", memory, num_trials, width=width, **options)


@handles("delay", "context", "change", "box", "availability", "horizon")
def w_gp_ucb(
    setting: Setting,
    *,
    discount: float | None = None,
    width: str | float | Width = "self-normalised",
    num_trials: int | None = None,
    **options: Unpack[MemoryOptions],
) -> Agent:
    """WGP-UCB: GP-UCB with discounted plays (Deng et al. 2022).

    Args:
        discount: rho, in (0, 1]; default 1 - gamma_T^(-1/4) sqrt(B_T / T).
        width: the paper's B + R / sqrt(lambda) sqrt(2 (gamma + log(1 / delta))), "self-normalised", gamma the
            realised gain of squared weights (see `Discounted.gain`); or a width of `make_width`, of which
            "amm" has no theorem here: its proof requires equally weighted plays.
    """
    memory = partial(_with_memory, discounted, "discount", discount, discount_of)
    return _remembering(setting, "belief", memory, num_trials, width=width, **options)


@typed
def _remembering(
    setting: Setting,
    part: str,
    memory: Callable[..., Any],
    num_trials: int | None,
    *,
    variation: float = 1.0,
    **options: Any,
) -> Agent:
    return upper_bound(setting, num_trials, {part: partial(memory, variation=variation)}, **options)


def _with_memory(
    make: Callable[..., Any],
    name: str,
    given: float | None,
    default_of: Callable[[Model, float], Any],
    model: Model,
    num_trials: int,
    *,
    variation: float,
) -> Any:
    return make(model, num_trials, **{name: default_of(model, variation) if given is None else given})


class ChangePointOptions(WidthOptions, total=False):
    """Options of Algorithm 2 with some restart: of uniform plays, of the width and of the model."""

    xi_squared: float
    """A round is uniform iff |uniform|^2 <= xi^2 |plays since the restart|; default 3."""
    reading: str
    """"experiments" (default; lambda = R^2, which reproduces the paper's curves) or "theory" (lambda =
    6 R^2 log T and a ridge of c = 1, taken literally)."""
    width: str | float | Width
    """"change-point" (the default), of which `beta_scale` is a factor of D = 0.02, or see `make_width`."""


@handles("delay", "context", "change", "box", "noise", "availability", "horizon")
def gp_ucb_cpd(
    setting: Setting,
    *,
    ridge: float | str | None = None,
    theta: float | None = None,
    false_alarm_rate: Rate | None = None,
    num_trials: int | None = None,
    **options: Unpack[ChangePointOptions],
) -> Agent:
    """GP-UCB-CPD: GP-UCB that restarts when a change-point detector raises an alarm (Avanesov 2020, Alg. 2).

    The detector sees rewards minus the prior mean. Where no mean is published or given, or `fit_mean` learns
    it, each test subtracts the mean of its samples instead.

    Args:
        ridge: c of the detector's rho_n; default 5, which reproduces the paper's curves. "cross-validated" is
            the recipe of the paper's Remark 3.1, on the uniform samples since the restart: on the paper's
            problem it selects a thousandth of 5, so that theta has to be calibrated by a false_alarm_rate.
        theta: threshold of the detector's statistic; see `restarts.tails.TestRates`.
        false_alarm_rate: find theta by simulation, such that a run without a change has a false alarm
            with this probability; takes a few seconds.
    """
    if theta is not None and false_alarm_rate is not None:
        raise ValueError(f"theta must be None where false_alarm_rate is given, got {theta}")
    given = options.get("xi_squared", PAPER_XI_SQUARED), false_alarm_rate, theta, ridge
    known = {"reading": options.get("reading", "experiments"), "noise_std": options.get("noise_std")}
    watch = CalibratedAlarm(Model.of_reward(setting, options), *given, **known)
    return _watching(setting, watch, num_trials, **options)


@handles("delay", "context", "change", "privileged", "box", "noise", "availability", "horizon")
def gp_ucb_oracle(
    setting: Setting, *, num_trials: int | None = None, **options: Unpack[ChangePointOptions]
) -> Agent:
    """GP-UCB-Oracle: as `gp_ucb_cpd`, but given the true changes; privileged, see `restarts.Oracle`."""
    return _watching(setting, Oracle, num_trials, **options)


@handles("delay", "context", "box", "noise", "availability", "horizon")
def gp_ucb_no_detector(
    setting: Setting, *, num_trials: int | None = None, **options: Unpack[ChangePointOptions]
) -> Agent:
    """GP-UCB-NO-Detector: as `gp_ucb_cpd`, but never restarting; `xi_squared=0` is GP-UCB."""
    return _watching(setting, Never, num_trials, **options)


@typed
def _watching(
    setting: Setting,
    watch: Any,
    num_trials: int | None,
    *,
    xi_squared: float = PAPER_XI_SQUARED,
    reading: str = "experiments",
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
