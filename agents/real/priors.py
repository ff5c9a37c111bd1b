"""The parameters of a problem, their columns of features, and the prior over a model's hyperparameters."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, Matern, Product

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.kernels.kernels import OnColumns
from bandit_envs.problem.setting import Setting


@dataclass(eq=False)
class Parameters:
    """P parameters of D columns in [0, 1]: a number is a column, a choice has one column a value.

    D_p(x, x') is the squared difference of a number, and [c != c'] of a choice (Hutter et al. 2011). Points
    of a box are replaced, and become more, as they are played.
    """

    columns: Floats  # (N, D) of all points; columns of a choice are divided by sqrt(2)
    owner: Ints  # (D,) the parameter of each column
    data_set: Ints  # (N,) the context of a point where contexts are data sets without features, else 0
    num_data_sets: int
    of_choices: Bools  # (D,) the columns of choices

    @classmethod
    def of(cls, setting: Setting, by_column: bool = False) -> Parameters:
        """Return the parameters of arms and of contexts that have features; each column one, if asked for."""
        decisions = setting.decisions
        arms, contexts = _unit(decisions.arms), _unit(np.asarray(decisions.contexts, dtype=np.float64))
        found = _choices(arms)
        choices = [] if by_column else found
        one_hot = (
            len(contexts) > 1 and np.isin(contexts, (0.0, 1.0)).all() and (contexts.sum(axis=1) == 1.0).all()
        )
        labels = bool(contexts.shape[1] and one_hot and not by_column)
        shown = np.empty((len(contexts), 0)) if labels or len(contexts) == 1 else contexts
        both = [np.repeat(shown, len(arms), axis=0), np.tile(arms, (len(contexts), 1))]
        first = np.arange(arms.shape[1])  # column of each column's parameter
        for group in choices:
            first[group] = group[0]
        own = np.unique(first, return_inverse=True)[1].ravel()
        owner = [np.arange(shown.shape[1]), own + shown.shape[1]]
        scale = np.ones(arms.shape[1])
        scale[[column for choice in choices for column in choice]] = np.sqrt(0.5)
        both[1] = both[1] * scale
        index = np.repeat(np.arange(len(contexts)), len(arms)) if labels else np.zeros(len(both[1]), int)
        of_choices = np.zeros(shown.shape[1] + arms.shape[1], dtype=bool)
        of_choices[[shown.shape[1] + column for choice in found for column in choice]] = True
        return cls(np.hstack(both), np.concatenate(owner), index, len(contexts) if labels else 1, of_choices)

    @classmethod
    def of_numbers(cls, columns: Floats) -> Parameters:
        """Return parameters that are a number each, of points (N, D)."""
        size, none = columns.shape[1], np.zeros(len(columns), dtype=np.int64)
        return cls(columns, np.arange(size), none, 1, np.zeros(size, dtype=bool))

    @cached_property
    def number(self) -> int:
        """Return P."""
        return int(self.owner.max(initial=-1)) + 1

    def sums(self, each: Floats) -> Floats:
        """Return the sums over the columns of each parameter, (D,) -> (P,)."""
        return np.bincount(self.owner, each, self.number).astype(np.float64)


def _unit(features: Floats) -> Floats:
    """Return features with every column scaled to [0, 1], (n, d)."""
    low, span = features.min(axis=0), np.ptp(features, axis=0)
    return (features - low) / np.where(span > 0.0, span, 1.0)


def _choices(arms: Floats) -> list[list[int]]:
    """Return the groups of neighbouring columns of 0 and 1 that sum to 1 in every row."""
    binary = np.all(np.isin(arms, (0.0, 1.0)), axis=0)
    found: list[list[int]] = []
    start = 0
    while start < len(binary):
        group = _group(arms, binary, start)
        if group:
            found.append(group)
        start = group[-1] + 1 if group else start + 1
    return found


def _group(arms: Floats, binary: Bools, start: int) -> list[int]:
    """Return the shortest such group that begins at a column; none where there is none of two."""
    total, column = np.zeros(len(arms)), start
    while column < len(binary) and binary[column]:
        total = total + arms[:, column]
        if total.max() > 1.0:
            return []
        if column > start and total.min() == 1.0:
            return list(range(start, column + 1))
        column += 1
    return []


SMOOTHNESS = {1.5: "matern32", 2.5: "matern52", math.inf: "rbf"}
OTHER = -1.0  # smoothness of kernels of another kind
LONGEST = 1e3  # sides; of features that do not matter
NOISE_SPREAD = 2.0  # of the logarithm of a noise variance that is not known
KNOWN = 0.1  # spread of the logarithm of a noise variance that is known
STATED = 0.5  # of one that is known up to a factor of all stds
SMALLEST = 1e-8  # noise variance, in the values' unit
SHORTER = 0.4  # factor of usual lengths where values have noise and the best is searched for
SURE = 0.5  # spread of the logarithm of costs' amplitude beside a published model
LEAST_NOISE = 1e-4  # of a published model, in prior variances: what is called noiseless may not be


@dataclass(frozen=True, eq=False)
class HyperPrior:
    """theta ~ N(centre, spread^2), independently, and the mean's precision pi.

    theta = log l (P), log a, log noise, then, if there are data sets, log v and logit rho, and then, if there
    is a linear part, log b.
    """

    centre: Floats
    spread: Floats
    mean_precision: float = 0.25
    shape: str = "matern52"
    linear: bool = False


def usual_prior(parameters: Parameters) -> HyperPrior:
    """Return the prior where no model is published."""
    count = parameters.number
    lengths = np.full(count, math.log(0.5 * math.sqrt(max(count, 1))))
    return _prior(lengths, np.ones(count), math.log(0.03), NOISE_SPREAD, parameters)


def exact_prior(parameters: Parameters) -> HyperPrior:
    """Return the prior of exact values: what the kernel cannot follow counts as noise, usually little."""
    return noise_around(usual_prior(parameters), parameters, 1e-4, NOISE_SPREAD)


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


def cost_prior(parameters: Parameters, published: HyperPrior | None = None) -> HyperPrior:
    """Return the prior of costs and prices, whose noise is small.

    Limits beside a published model of the reward have that model's length-scales, and an amplitude that few
    values move little: costs that were all alike so far do not mean that no other arm keeps the limits.
    """
    found = noise_around(with_line(usual_prior(parameters)), parameters, 1e-3, NOISE_SPREAD)
    if published is None:
        return found
    centre, spread, number = found.centre.copy(), found.spread.copy(), parameters.number
    centre[:number], spread[:number] = published.centre[:number], published.spread[:number]
    spread[number] = SURE
    return replace(found, centre=centre, spread=spread)


def with_line(prior: HyperPrior) -> HyperPrior:
    """Return the prior with a linear part beside the smooth one."""
    centre, spread = np.append(prior.centre, math.log(0.1)), np.append(prior.spread, 1.5)
    return replace(prior, centre=centre, spread=spread, linear=True)


def published_prior(length_scales: Floats, shape: str, noise: float, parameters: Parameters) -> HyperPrior:
    """Return the prior around a published model.

    Args:
        length_scales: of each parameter, in sides of the box, (P,).
        noise: its variance, in prior variances.
    """
    spread = np.full(parameters.number, 0.5)
    found = _prior(np.log(length_scales), spread, math.log(max(noise, LEAST_NOISE)), 1.0, parameters)
    return replace(found, mean_precision=2.0, shape=shape)


def _prior(
    lengths: Floats, spread: Floats, noise: float, noise_spread: float, parameters: Parameters
) -> HyperPrior:
    centre, spreads = [*lengths, 0.0, noise], [*spread, 1.0, noise_spread]
    if parameters.num_data_sets > 1:
        centre, spreads = [*centre, math.log(0.3), 1.0], [*spreads, 1.0, 1.0]
    return HyperPrior(np.array(centre), np.array(spreads))


def understood(kernel: Kernel, setting: Setting) -> tuple[Floats, str] | None:
    """Return length-scales, (D,), in sides of the box, and the shape of a kernel; None of another kind.

    A kernel may be a product, with constants or of a kernel of contexts and one of arms. Exponents of SE
    kernels add; a product that is not of SE kernels alone counts as the roughest of its shapes.
    """
    points = setting.decisions.points
    factors = _factors(kernel, np.arange(points.shape[1]))
    shape = SMOOTHNESS.get(min((_smoothness(each) for each, _ in factors), default=OTHER))
    if shape is None:
        return None
    precision, span = np.zeros(points.shape[1]), np.ptp(points, axis=0)
    for each, columns in factors:
        precision[columns] += np.broadcast_to(np.asarray(each.length_scale) ** -2.0, columns.shape)
    precision = precision * np.where(span > 0.0, span, 1.0) ** 2
    return np.minimum(1.0 / np.sqrt(np.maximum(precision, LONGEST**-2)), LONGEST), shape


def _smoothness(kernel: Any) -> float:
    """Return nu, infinite for an SE kernel, and less than all of them for a kernel of another kind."""
    return math.inf if type(kernel) is RBF else kernel.nu if type(kernel) is Matern else OTHER


def _factors(kernel: Any, columns: Ints) -> list[tuple[Any, Ints]]:
    """Return the kernels but constants whose product is this one, each with its columns."""
    if isinstance(kernel, OnColumns):
        return _factors(kernel.kernel, columns[np.asarray(kernel.columns)])
    if isinstance(kernel, Product):
        return [*_factors(kernel.k1, columns), *_factors(kernel.k2, columns)]
    return [] if isinstance(kernel, ConstantKernel) else [(kernel, columns)]
