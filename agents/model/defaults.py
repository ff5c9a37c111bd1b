"""The options of a model, and defaults where the setting withholds something; tables mark default bounds."""

import math
from dataclasses import fields, is_dataclass
from typing import Any, TypedDict

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.arguments import require_choice, require_not_negative, require_positive
from bandit_envs.basics.options import SQUARED_STD
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.kernels import LengthScale, make_kernel
from bandit_envs.kernels.validity import require_same_noise
from bandit_envs.laws.functions import SELDOM_BELOW
from bandit_envs.problem.setting import Setting

from ..kernels.amplitude import is_found, largest_prior_std, order_of, unit_kernel
from ..options import PerTrial

NOISE_FLOOR = 1e-6  # smallest default lambda, in prior variances: a jitter, for noiseless problems
LEARNT_NOISE_FLOOR = 1e-8  # smallest learnt lambda: 1e-6 blurs an optimum
SMALLEST_NOISE = 1e-10  # smallest given lambda: every form is exact to 1e-8 of a mean
SMOOTHNESS = "smoothness"  # names the lambda that grows with the horizon
DEFAULT_NOISE_STD = 0.1  # prior stds, where the setting withholds the noise
DEFAULT_LENGTH_SCALE = 0.2  # box widths, where the setting withholds the kernel
# Where they are learnt on a box, the modes of BoTorch's priors: a length-scale in sides times the root of the
# dimension, as two random points are then correlated alike in all dimensions; the noise std in prior stds.
FIRST_LENGTH_SCALE = math.exp(math.sqrt(2.0) - 3.0)
FIRST_NOISE_STD = math.exp(-2.5)
FIRST_NOISE_SPREAD = 3.0  # BoTorch's 1 is for an amplitude that is fixed: `docs/results/noise_priors.csv`


class SharedOptions(TypedDict, total=False):
    """Options of every model, whoever says how the first rounds are played and what lambda is."""

    kernel: Any
    """Prior covariance of the reward: a scikit-learn kernel over (context, arm) features, or a name.

    Default None: the setting's, else an SE kernel of `length_scale`. One that is named has the amplitude of
    the setting's, or where that is withheld 1, which agents replace by that of their first plays. A
    WhiteKernel in its sum is taken out and is the noise; alone it means independent arms.
    """
    length_scale: LengthScale | None
    """Length-scale of `kernel`, in units of the features; without a `kernel` that of an SE kernel, which then
    replaces a published one, whatever its family.

    Default None: the published kernel's own, else 0.2 of the width of the box. Where it is learnt on a box
    there is one a side, 0.2048 of the side times the root of the dimension: the mode of BoTorch's prior.
    """
    noise_std: PerTrial | None
    """R, the standard deviation of the noise, in the unit of the reward; a number or one a trial, (B,).

    Default None: what a WhiteKernel in `kernel` says, else the setting's, else 0.1 prior deviations.
    """
    rkhs_bound: PerTrial | None
    """B, the bound on the norm of f in the kernel's own space, without a unit; a number or (B,).

    Default None: the setting's, else 1. Agents say that they rest on the 1, see `agents.model.defaults`.
    """
    prior_mean: Floats | float | None
    """Prior mean of the reward, in its unit: a number, (N,) or (B, 1).

    Default None: the setting's. A belief that censors pending feedback takes it too, else the least that may
    come (Verma et al. 2022): the published lower bound, or 3 prior deviations below the published mean.
    """
    form: str | None
    """Representation of the posterior: "weight-space", "dense", "factor", "kronecker", "plays" or "pairs".

    Default None: the cheapest for the setting. It changes how long a round takes, and no belief.
    """
    refit_every: int | None
    """Rounds between two fits of kernel and noise by marginal likelihood; default None or 0: none."""
    fit_on: str
    """Values that a fit looks at, "arrived" or "all", see `Learning`; default "arrived"."""
    fit_restarts: int
    """Random starts of a fit, beside the values so far; default 1. Bounds are the kernel's own."""
    fit_mean: bool
    """Learn a constant prior mean too; default False; not where pending feedback is censored."""
    fit_spread: float | None
    """Standard deviation of a prior on log length-scales around the kernel's own.

    Default None: sqrt(3) on a box, where the likelihood alone calls a feature irrelevant that was only not
    varied yet, and infinite, which is no prior, on a finite set.
    """
    fit_most: int | None
    """The number of latest values that a fit looks at, since it takes O(n^3); default None: all."""
    fit_amplitude_spread: float
    """Standard deviation of a prior on the logarithm of the prior variance; default inf: no prior."""
    fit_noise_spread: float | None
    """Standard deviation of a prior on the logarithm of the noise variance around `noise_variance`.

    Default None: infinite, which is no prior; on a box where no noise is given or published 3, and then
    `noise_variance` is exp(-5) of the prior variance unless an agent says another. With 0 the noise is known,
    and not learnt.
    """
    search: Any
    """Search for the largest score on a box: {"candidates": ..., "starts": ..., "steps": ...} of
    `box.QuasiRandom`, or a `box.Search`; default None: its defaults."""
    stopping: Any
    """When the agent would stop: a name and its options, such as ("knowledge-gradient", {"price": 0.01}), or
    label -> rule; default None. The agent plays on, see `agents.stopping` and `stops`."""
    repeat: float
    """C2 >= 1 of mini-GP-UCB and mini-GP-EI, see `agent.repeating`; default 1.0: an arm is played once.

    An arm that was chosen is played until variances may have shrunk by C2, so that choices, not rounds, cost.
    2 is usual.
    """


class ModelOptions(SharedOptions, total=False):
    """Options of the model, what an agent assumes of the reward; `Model.of` fills in what is left out."""

    noise_variance: PerTrial | str | None
    """Lambda, the noise variance of the posterior, in the squared unit of the reward; a number or (B,).

    Default None: `noise_std` squared, but at least 1e-6 of the prior variance, a jitter where there is no
    noise; one that is given may be as small as 1e-10 of it. "smoothness" is R^2 T^(d / (2 nu + 2 d)) on
    Matern kernels, see `growth_by_smoothness`; not where it is learnt.
    """
    initial: int
    """The number of first rounds that are played at random; default 0."""


class DefaultBound(float):
    """A bound that was neither given nor published."""


def multiple(bound: PerTrial, factor: float) -> PerTrial:
    """Return a bound times a factor; a default bound stays one."""
    product = np.multiply(factor, bound)
    return DefaultBound(product) if isinstance(bound, DefaultBound) else product


def rests_on_default(part: Any) -> bool:
    """Return True if a part such as a rule or a width, or a part of it, uses a default bound."""
    if isinstance(part, DefaultBound):
        return True
    if not is_dataclass(part) or isinstance(part, type):
        return False
    return any(rests_on_default(getattr(part, field.name)) for field in fields(part))


def assumed_noise(
    setting: Setting,
    kernel: Kernel,
    white: float,
    std: PerTrial | None,
    variance: PerTrial | str | None,
    usual: float,
) -> tuple[PerTrial, PerTrial]:
    """Return R and lambda of the given noise, else of a WhiteKernel, else the published, else a default one.

    Lambda is by default R squared, but at least 1e-6 of the prior variance; "smoothness" is that times
    `growth_by_smoothness`. `white` is the variance of the user's WhiteKernel, 0 for none, and `usual` the
    default R in units of the largest prior std.
    """
    prior_std = largest_prior_std(kernel, setting.decisions.points)
    tied = False
    if isinstance(variance, str):
        require_choice("noise_variance", variance, (SMOOTHNESS,))
        tied, variance = True, None
    if white:
        require_same_noise("noise_std", std, float(np.sqrt(white)))
        require_same_noise("noise_variance", variance, white)
        std, variance = float(np.sqrt(white)), None if tied else white
    if std is None:
        std = usual * prior_std if setting.noise_std is None else setting.noise_std
    require_not_negative("noise_std", std, "it is the standard deviation of the noise")
    SQUARED_STD.require("noise_std", std)
    if variance is None:
        factor = growth_by_smoothness(kernel, setting.pairs_width, setting.horizon) if tied else 1.0
        return std, factor * np.maximum(np.square(std), NOISE_FLOOR * prior_std**2)
    require_noise_variance(variance, prior_std)
    return std, variance


def growth_by_smoothness(kernel: Kernel, dim: int, horizon: int) -> float:
    """T^(d / (2 nu + 2 d)), 1 for infinitely smooth functions: lambda / R^2 (Whitehouse et al. 2023).

    With the self-normalised or the AMM width R_T = O~(T^((nu + 2 d) / (2 nu + 2 d))) on Matern kernels, which
    is sublinear for all nu > 1/2. The rate is a survey's; the exponent is from memory, as is that of Flynn &
    Reeb (2024), whose c is R^2 / lambda.
    """
    return float(horizon) ** (dim / (2.0 * order_of(kernel) + 2.0 * dim))


def require_noise_variance(variance: PerTrial, prior_std: float) -> None:
    """Raise unless lambda is large enough for exact posteriors."""
    require_positive("noise_variance", variance, "it is the lambda of the posterior")
    least = SMALLEST_NOISE * prior_std**2
    if np.any(np.asarray(variance) < least):
        raise ValueError(
            f"noise_variance must be at least {SMALLEST_NOISE:g} of the prior variance, here {least:.3g}, "
            f"got {variance}; leave it out for a problem without noise, which takes {NOISE_FLOOR:g} of it"
        )


def assumed_kernel(
    setting: Setting, kernel: Any, length_scale: LengthScale | None, learnt: bool = False
) -> Any:
    """Return the given kernel, else the setting's, else SE; named ones get the setting's amplitude.

    Without a length-scale it is 0.2 of the width; on a box where it is learnt there is one a side, 0.2048 of
    the side times the root of the dimension.
    """
    if kernel is None and length_scale is None and setting.kernel is not None:
        return setting.kernel
    usual = _usual_length_scale(setting, learnt) if length_scale is None else length_scale
    made = make_kernel("rbf" if kernel is None else kernel, usual)
    if setting.kernel is None or says_unit(kernel):
        return made
    prior_std = largest_prior_std(setting.kernel, setting.decisions.points)
    return unit_kernel(made, 1.0 / prior_std)


def _usual_length_scale(setting: Setting, learnt: bool) -> LengthScale:
    assert setting.low is not None
    assert setting.high is not None
    sides = setting.high - setting.low
    width = float(np.max(sides)) or 1.0
    if not (learnt and setting.continuous):
        return DEFAULT_LENGTH_SCALE * width
    share = FIRST_LENGTH_SCALE * math.sqrt(setting.pairs_width)
    if setting.has_contexts or setting.dim == 1:
        return share * width
    return (share * np.where(sides > 0, sides, width)).tolist()


def says_unit(kernel: Any) -> bool:
    """Return True if a given kernel has an amplitude; a name has none."""
    return kernel is not None and not isinstance(kernel, str)


def tells_mean(setting: Setting) -> bool:
    """Return True if the prior mean is published; not if it is 0 with a withheld or estimated kernel."""
    if is_found(setting.kernel):
        return False
    return setting.kernel is not None or bool(np.any(setting.prior_mean))


def least_reward(setting: Setting, prior_std: float) -> Floats | float:
    """Return the lower bound of the reward, or the prior mean where feedback is never delayed."""
    bound = setting.reward_lower_bound
    if setting.max_delay == 0:
        return setting.prior_mean
    if bound is None:
        return float(np.min(setting.prior_mean)) - SELDOM_BELOW * prior_std
    return bound[:, None] if isinstance(bound, np.ndarray) else bound
