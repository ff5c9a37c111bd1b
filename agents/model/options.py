"""The options of a model, which every agent that has one takes by `**options`."""

from __future__ import annotations

from typing import Any, TypedDict

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.kernels import LengthScale

from ..validation import PerTrial


class SharedOptions(TypedDict, total=False):
    """Options of every model, whoever says how the first rounds are played and what lambda is."""

    kernel: Any
    """Prior covariance of the reward: a scikit-learn kernel over (context, arm) features, or a name.

    Default None: the setting's, else an SE kernel of `length_scale`. One that is named has the amplitude of
    the setting's, or where that is withheld 1, which agents replace by that of their first plays. A
    WhiteKernel in its sum is taken out and is the noise; alone it stands for independent arms.
    """
    length_scale: LengthScale | None
    """Length-scale of the kernel, in units of the features; it replaces that of a published kernel.

    Default None: the published kernel's own, else 0.2 of the width of the box.
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
    fit_noise_spread: float
    """Standard deviation of a prior on the logarithm of the noise variance around `noise_variance`.

    Default inf: no prior. With 0 the noise is known, and not learnt.
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
