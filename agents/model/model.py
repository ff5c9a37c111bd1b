"""The assumptions of a Gaussian-process agent: the published setting, overridden by the user's options."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import require, require_at_least_one, require_integer, require_not_negative
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import LengthScale
from bandit_envs.kernels.validity import split_white
from bandit_envs.problem.composition import check_kernel
from bandit_envs.problem.setting import Setting
from bandit_envs.problem.setting_checks import check_prior_mean

from ..kernels.amplitude import largest_prior_std
from ..options import PerTrial, require_left_out, typed
from . import defaults
from .defaults import DefaultBound
from .hyperparameters import Hyperparameters, Learning

DEFAULT_BOUND = DefaultBound(1.0)  # where the setting states no RKHS bound; the norm has no unit
SPREAD_ON_BOX = 3**0.5  # of log length-scales: tells a feature that counts from one that was not varied
# Options that say how rewards are distributed.
OF_THE_REWARD = ("kernel", "length_scale", "noise_std", "prior_mean", "refit_every", "fit_mean")


@dataclass(frozen=True, eq=False)
class Model:
    """The assumptions of a Gaussian-process agent."""

    setting: Setting
    kernel: Any  # scikit-learn's, over (context, arm) features
    noise_std: PerTrial  # R, the std of the noise; a number or (B,)
    noise_variance: PerTrial  # lambda, the noise variance of the posterior; a number or (B,)
    rkhs_bound: PerTrial  # B, the bound on the norm of f; a number or (B,)
    prior_mean: Floats | float  # of the reward, a number, (N,) or (B, 1)
    least: Floats | float  # of the reward, likewise: the value of pending feedback where a belief censors it
    form: str | None = None  # of the posterior, None for the automatic choice
    initial: int = 0  # number of first rounds with random plays
    learning: Learning | None = None  # of hyperparameters, None if they are not learnt
    search: Any = None  # on a box, the search for the largest score; see `box.search.make_search`
    covariances: Callable[[Any], Any] | None = None  # kernel -> `Gram`; None: that on all points of the set
    mean_is_known: bool = True  # it is given or published, and neither a default 0 nor learnt
    noise_is_known: bool = True  # it is given or published, and not a default
    repeat: float = 1.0  # C2 of mini-GP-UCB, which says how often a chosen arm is played; 1 is once
    unit_is_known: bool = True  # the kernel is given or published, and its amplitude is not a default
    stopping: Any = None  # rules that say when to stop, see `stopping.by_name.make_rules`; None for none

    @classmethod
    @typed
    def of(
        cls,
        setting: Setting,
        *,
        kernel: Any = None,
        length_scale: LengthScale | None = None,
        noise_std: PerTrial | None = None,
        noise_variance: PerTrial | str | None = None,
        rkhs_bound: PerTrial | None = None,
        prior_mean: Floats | float | None = None,
        form: str | None = None,
        initial: int = 0,
        refit_every: int | None = None,
        fit_on: str = "arrived",
        fit_restarts: int = 1,
        fit_mean: bool = False,
        fit_spread: float | None = None,
        fit_most: int | None = None,
        fit_amplitude_spread: float = math.inf,
        fit_noise_spread: float | None = None,
        search: Any = None,
        repeat: float = 1.0,
        stopping: Any = None,
    ) -> Model:
        """Return the model of the given `ModelOptions`, else of the setting, else of stated defaults."""
        require_at_least_one("repeat", repeat, "it is the factor by which variances may shrink; 1 is off")
        require_integer("initial", initial, 0, "it is the number of first rounds that are played at random")
        box = setting.continuous
        spread = SPREAD_ON_BOX if box else math.inf
        options = {"on": fit_on, "restarts": fit_restarts, "mean": fit_mean, "most": fit_most}
        chosen, white = split_white(defaults.assumed_kernel(setting, kernel, length_scale, bool(refit_every)))
        says_noise = noise_std is not None or noise_variance is not None or setting.noise_std is not None
        known = white > 0 or says_noise
        found = box and bool(refit_every) and fit_noise_spread is None and not known
        if fit_noise_spread is None:
            fit_noise_spread = defaults.FIRST_NOISE_SPREAD if found else math.inf
        options |= {"amplitude_spread": fit_amplitude_spread, "noise_spread": fit_noise_spread}
        learning = Learning.asked(refit_every, fit_spread, spread, **options)
        if learning is not None:
            words = "a number or left out with refit_every, which learns it"
            require(not isinstance(noise_variance, str), "noise_variance", words, noise_variance)
        if box:
            keeps = "None on a box, which keeps the plays alone"
            require(form in (None, "pairs"), "form", keeps, form)
            one = prior_mean is None or np.ndim(prior_mean) != 1
            require(one, "prior_mean", "one number on a box", prior_mean)
        else:
            remedy = "take a setting of low and high alone"
            require_left_out("search", search, None, "on a finite set", remedy)
        mean = np.asarray(0.0 if prior_mean is None else prior_mean)
        for own in mean[:, 0] if mean.ndim == 2 and mean.shape[1] == 1 else [mean]:
            check_prior_mean(own, setting.decisions)
        check_kernel(chosen, setting.decisions)
        prior_std = largest_prior_std(chosen, setting.decisions.points)
        usual = defaults.FIRST_NOISE_STD if found else defaults.DEFAULT_NOISE_STD
        std, variance = defaults.assumed_noise(setting, chosen, white, noise_std, noise_variance, usual)
        published = DEFAULT_BOUND if setting.rkhs_bound is None else setting.rkhs_bound
        bound = published if rkhs_bound is None else rkhs_bound
        require_not_negative("rkhs_bound", bound, "it bounds the norm of the reward function")
        return cls(
            setting,
            chosen,
            std,
            variance,
            bound,
            setting.prior_mean if prior_mean is None else prior_mean,
            defaults.least_reward(setting, prior_std) if prior_mean is None else prior_mean,
            form,
            initial,
            learning,
            search,
            noise_is_known=bool(white) or noise_std is not None or setting.noise_std is not None,
            mean_is_known=not fit_mean and (prior_mean is not None or defaults.tells_mean(setting)),
            repeat=float(repeat),
            stopping=stopping,
            unit_is_known=setting.kernel is not None or defaults.says_unit(kernel),
        )

    @classmethod
    def of_reward(cls, setting: Setting, options: Mapping[str, Any]) -> Model:
        """Return the model of the reward itself, of an agent that models something made of it."""
        return cls.of(setting, **{name: options[name] for name in OF_THE_REWARD if name in options})

    def of_trial(self, trial: int) -> Model:
        """Return the model of one trial of a batch."""
        given = {name: getattr(self, name) for name in ("prior_mean", "least")}
        means = {name: mean[trial] if np.ndim(mean) == 2 else mean for name, mean in given.items()}
        of_trial = ("noise_std", "noise_variance", "rkhs_bound")
        numbers = {name: _pick(getattr(self, name), trial) for name in of_trial}
        return replace(self, setting=self.setting.of_trial(trial), **means, **numbers)

    def learnt(self, found: Hyperparameters) -> Model:
        """Return the model with learnt kernel, R, lambda and prior mean."""
        prior_std = largest_prior_std(found.kernel, self.setting.decisions.points)
        return replace(
            self,
            kernel=found.kernel,
            noise_std=float(np.sqrt(found.noise_variance)),
            noise_variance=max(found.noise_variance, defaults.LEARNT_NOISE_FLOOR * prior_std**2),
            prior_mean=self.prior_mean + found.centre,
        )

    @cached_property
    def gram(self) -> Gram:
        """The prior covariance on the points; on a box, on the played ones."""
        return self.gram_of(self.kernel)

    def gram_of(self, kernel: Any) -> Gram:
        """Return the prior covariance of another kernel on the same points."""
        if self.covariances is not None:  # the part of a Gram that posteriors on a box use, without a table
            return self.covariances(kernel)
        return Gram(kernel, self.setting.decisions.points)

    @cached_property
    def prior_std(self) -> float:
        """The largest prior standard deviation."""
        return largest_prior_std(self.kernel, self.setting.decisions.points)

    @property
    def bound_is_known(self) -> bool:
        """True if B is given or published, and not a default."""
        return not isinstance(self.rkhs_bound, DefaultBound)

    @property
    def relative_noise(self) -> PerTrial:
        """R / s, for papers with k(x, x) <= 1; s is the largest prior std."""
        return self.noise_std / self.prior_std

    @property
    def relative_variance(self) -> PerTrial:
        """lambda / s^2."""
        return self.noise_variance / self.prior_std**2


def _pick(value: float, trial: int) -> float:
    if isinstance(value, float):  # as it is: a `DefaultBound` stays one
        return value
    return float(value[trial]) if isinstance(value, np.ndarray) and value.ndim else float(value)
