"""The units of a quantity, prior means from first plays, and weights of plays of other noise.

A play of noise variance lambda_i is as informative as w = lambda / lambda_i plays of lambda whose values sum
to w y. So the posterior under diag(lambda_i) in place of lambda I is that of real-valued counts, and with
lambda_i = lambda (R_i / R)^2 every band that holds for (R, lambda) holds: the i-th value divided by R_i / R
has noise R.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting
from bandit_envs.problem.setting_checks import check_stds, checked_per_cost

from ..kernels.amplitude import largest_prior_std
from ..options import require_once
from .defaults import SMALLEST_NOISE, ModelOptions
from .model import Model

PerCost = float | Sequence[float] | Floats  # a number of all costs, or one of each, (C,)


class Units(NamedTuple):
    """Centre and scale: a value y is modelled as (y - centre) / scale."""

    centre: Floats  # (B,), or (B, K) for K quantities
    scale: Floats  # (B,) or (B, K)

    def where(self, trials: Bools, other: Units) -> Units:
        """Return these units in some trials, (B,), and others elsewhere."""
        mask = trials.reshape(-1, *[1] * (self.centre.ndim - 1))
        return Units(*(np.where(mask, x, y) for x, y in zip(self, other, strict=True)))


class PriorUnits(NamedTuple):
    """Units in which each largest prior std is 1, as in papers with k(x, x) <= 1."""

    std: float  # s, the largest prior std of the reward
    mean: float  # of the reward, on average over the points
    costs: Floats  # (C,) s_j of each cost

    @classmethod
    def of_setting(cls, setting: Setting, std: float, costs: PerCost | None = None) -> PriorUnits:
        """Return the units of a setting; costs without a prior std, given or published, have the reward's."""
        known = known_per_cost("constraint_prior_std", setting, costs)
        each = np.full(setting.num_constraints, std if known is None else known)
        return cls(std, float(np.mean(setting.prior_mean)), each)

    @classmethod
    def published(cls, setting: Setting) -> PriorUnits:
        """Return the units of a setting with a kernel."""
        return cls.of_setting(setting, largest_prior_std(setting.kernel, setting.decisions.points))

    def of(self, *values: Any) -> tuple[Any, ...]:
        """Return rewards or their stds in these units; None stays None."""
        return tuple([None if each is None else np.divide(each, self.std) for each in values])

    def of_costs(self, values: Any) -> Any:
        """Return costs or their stds, one number or (..., C), in these units; None stays None."""
        return None if values is None else np.divide(values, self.costs)

    @property
    def each(self) -> Floats:
        """Prior stds of the reward and of the costs, (1 + C,)."""
        return np.append(self.std, self.costs)

    @property
    def beside_reward(self) -> Floats:
        """Factors that turn costs into units in which their prior is the reward's, (C,)."""
        return self.std / self.costs

    @property
    def centres(self) -> Floats:
        """Prior means of the reward and of the costs, in these units, (1 + C,)."""
        return np.append(self.mean / self.std, np.zeros(len(self.costs)))


def known_per_cost(name: str, setting: Setting, given: PerCost | None) -> Floats | None:
    """Return the numbers of the costs, (C,), that are given or else published; None if withheld."""
    known = getattr(setting, name) if given is None else given
    check_stds(**{name: known})
    known = checked_per_cost(name, known, setting.num_constraints)
    return None if known is None else np.full(setting.num_constraints, known, dtype=np.float64)


def mean_and_std(values: Floats, fewest: int) -> tuple[Floats, Floats]:
    """Return mean and std (n - 1) of the finite values of K samples, (n, K) -> (K,) each.

    The mean is 0 without finite values; the std is 0 for fewer than `fewest` finite values, and where all are
    equal, for which rounding would leave 1e-17.
    """
    known = np.isfinite(values)
    count = known.sum(axis=0)
    mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(count, 1)
    gap = np.where(known, values - mean, 0.0)
    _, power = np.frexp(np.abs(gap).max(axis=0, initial=0.0))  # scaled so that no square can overflow,
    square = (np.ldexp(gap, -power) ** 2).sum(axis=0)  # by a power of 2, which rounds nothing
    std = np.ldexp(np.sqrt(square / np.maximum(count - 1, 1)), power)
    low = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
    high = np.where(known, values, -np.inf).max(axis=0, initial=-np.inf)
    return mean, np.where((count >= fewest) & (high > low), std, 0.0)


def sizes_of(costs: Sequence[Floats] | Floats) -> Floats:
    """Return units in which 0 stays 0: the root mean square of each cost, (n, C) -> (C,), 1 where it is 0."""
    told = np.array(costs, dtype=np.float64)
    largest = np.abs(told).max(axis=0, initial=0.0)
    unit = np.where(largest > 0.0, largest, 1.0)  # taken out before a square can overflow
    mean = ((told / unit) ** 2).sum(axis=0) / max(len(told), 1)
    return np.where(largest > 0.0, unit * np.sqrt(mean), 1.0)


def centred_model(setting: Setting, **options: Unpack[ModelOptions]) -> Model:
    """Return the model of an agent whose prior means come from its own plays, so that none is given."""
    given = options.get("prior_mean")
    if given is not None and np.any(np.asarray(given) != 0.0):
        raise ValueError("prior_mean must be left out: this agent centres and scales by its own plays")
    taken: ModelOptions = {**options, "prior_mean": 0.0}
    return Model.of(setting, **taken)


def once_model(setting: Setting, **options: Unpack[ModelOptions]) -> Model:
    """Return the same of an agent that holds no arm."""
    require_once(options, "this agent has no index to hold")
    return centred_model(setting, **options)


def profile_weights(setting: Setting) -> Floats | None:
    """Return w at each point, (N,), where the setting publishes a noise profile; else None."""
    profile = setting.noise_profile
    return None if profile is None else profile**-2.0


def weights_of_stds(model: Model, trial: Ints, std: Floats) -> Floats:
    """Return w = (R / R_i)^2 of plays whose noise stds R_i are published, (n,) each -> (n,).

    In a model without noise R^2 is its lambda. R_i is at least the smallest noise of a model. Where it is
    NaN, not published, w = 1.
    """
    variance = np.square(np.broadcast_to(model.noise_std, trial.max(initial=0) + 1)[trial])
    assumed = np.broadcast_to(model.noise_variance, trial.max(initial=0) + 1)[trial]
    unit = np.where(variance > 0.0, variance, assumed)
    most = assumed / (SMALLEST_NOISE * model.prior_std**2)
    return np.where(np.isnan(std), 1.0, np.minimum(unit / np.square(std), most))
