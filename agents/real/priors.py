"""The prior over hyperparameters: what is usual of features in [0, 1], or around a published model."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, Matern, Product

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.kernels import OnColumns
from bandit_envs.problem.setting import Setting

from .parameters import Parameters
from .surrogate import HyperPrior

SMOOTHNESS = {1.5: "matern32", 2.5: "matern52", math.inf: "rbf"}
LONGEST = 1e3  # sides; of features that do not matter
KNOWN = 0.1  # spread of the logarithm of a noise variance that is known
STATED = 0.5  # of one that is known up to a factor of all stds
SMALLEST = 1e-8  # noise variance, in the values' unit
SHORTER = 0.4  # factor of usual lengths where values have noise and the best is searched for
LEAST_NOISE = 1e-4  # of a published model, in prior variances: what is called noiseless may not be


def usual_prior(parameters: Parameters) -> HyperPrior:
    """Return the prior where no model is published."""
    count = parameters.number
    lengths = np.full(count, math.log(0.5 * math.sqrt(max(count, 1))))
    return _prior(lengths, np.ones(count), math.log(0.03), 2.0, parameters)


def exact_prior(parameters: Parameters) -> HyperPrior:
    """Return the prior of exact values: what the kernel cannot follow counts as noise, usually little."""
    return noise_around(usual_prior(parameters), parameters, 1e-4, 2.0)


def noisy_prior(parameters: Parameters) -> HyperPrior:
    """Return the prior of values with noise: shorter lengths, as what looks smooth may be noise averaged."""
    prior = usual_prior(parameters)
    centre = prior.centre.copy()
    centre[: parameters.number] += math.log(SHORTER)
    return replace(prior, centre=centre)


def noise_around(
    prior: HyperPrior, parameters: Parameters, variance: float, spread: float = KNOWN
) -> HyperPrior:
    """Return the prior with another noise variance, in the unit of the values."""
    centre, spreads = prior.centre.copy(), prior.spread.copy()
    place = parameters.number + 1
    centre[place], spreads[place] = math.log(max(variance, SMALLEST)), spread
    return replace(prior, centre=centre, spread=spreads)


def cost_prior(parameters: Parameters) -> HyperPrior:
    """Return the prior of costs and prices, whose noise is small."""
    found = with_line(usual_prior(parameters))
    centre = found.centre.copy()
    centre[parameters.number + 1] = math.log(1e-3)
    return replace(found, centre=centre)


def with_line(prior: HyperPrior) -> HyperPrior:
    """Return the prior with a linear part beside the smooth one."""
    centre, spread = np.append(prior.centre, math.log(0.1)), np.append(prior.spread, 1.5)
    return replace(prior, centre=centre, spread=spread, linear=True)


def published_prior(length_scales: Floats, noise: float, shape: str, parameters: Parameters) -> HyperPrior:
    """Return the prior around a published model.

    Args:
        length_scales: of each parameter, in sides of the box, (P,).
        noise: its variance, in prior variances.
        shape: of `surrogate.SHAPES`.
        parameters: with a parameter a column.
    """
    spread = np.full(parameters.number, 0.5)
    found = _prior(np.log(length_scales), spread, math.log(max(noise, LEAST_NOISE)), 1.0, parameters)
    return HyperPrior(found.centre, found.spread, mean_precision=2.0, shape=shape)


def _prior(
    lengths: Floats, spread: Floats, noise: float, noise_spread: float, parameters: Parameters
) -> HyperPrior:
    centre, spreads = [*lengths, 0.0, noise], [*spread, 1.0, noise_spread]
    if parameters.num_data_sets > 1:
        centre, spreads = [*centre, math.log(0.3), 1.0], [*spreads, 1.0, 1.0]
    return HyperPrior(np.array(centre), np.array(spreads))


def understood(kernel: Kernel, setting: Setting) -> tuple[Floats, str] | None:
    """Return length-scales, (D,), in sides of the box, and the shape of a kernel; None of another kind."""
    points = setting.decisions.points
    found = _stationary(kernel, np.arange(points.shape[1]), points.shape[1])
    if found is None:
        return None
    precision, shape = found
    span = np.ptp(points, axis=0)
    precision = precision * np.where(span > 0.0, span, 1.0) ** 2
    return np.minimum(1.0 / np.sqrt(np.maximum(precision, LONGEST**-2)), LONGEST), shape


def _stationary(kernel: Any, columns: Ints, width: int) -> tuple[Floats, str] | None:
    """Return 1 / l^2 of all features, (D,), and the shape of a kernel on some columns."""
    if isinstance(kernel, OnColumns):
        return _stationary(kernel.kernel, columns[np.asarray(kernel.columns)], width)
    if isinstance(kernel, Product):
        return _product(kernel, columns, width)
    smoothness = math.inf if type(kernel) is RBF else kernel.nu if type(kernel) is Matern else None
    if smoothness not in SMOOTHNESS:
        return None
    precision = np.zeros(width)
    own = np.asarray(kernel.length_scale, dtype=np.float64) ** -2.0
    precision[columns] = np.broadcast_to(own, columns.shape)
    return precision, SMOOTHNESS[smoothness]


def _product(kernel: Product, columns: Ints, width: int) -> tuple[Floats, str] | None:
    """Return the same of a product with a constant, or of two SE kernels, whose exponents add."""
    factors = [each for each in (kernel.k1, kernel.k2) if not isinstance(each, ConstantKernel)]
    found = [_stationary(each, columns, width) for each in factors]
    if len(found) == 1:
        return found[0]
    if not found or any(each is None or each[1] != "rbf" for each in found):
        return None
    return found[0][0] + found[1][0], "rbf"  # type: ignore[index]
