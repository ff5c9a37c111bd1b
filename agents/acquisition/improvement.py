"""Expected improvement, accurate however unlikely, and what it improves on: the best mean, value or none."""

import abc
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.setting import Setting

from ..beliefs.base import Belief
from ..beliefs.points import Pairs, Points, with_context
from ..beliefs.safety import INFEASIBLE, mills_ratio
from ..beliefs.surface import NUM_WORLDS, Surface, Worlds, fantasies, normal_points
from ..model.rounds import Delivery
from ..named import is_name
from .candidates import Candidates, Rule

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
ERFCX_LIMIT = 50.0  # beyond it erfcx loses 1e-12 to cancellation, and the series is exact to 1e-13
SURE = 8.0  # beyond it z + Z is positive up to 1e-15, and h(z) = z to the last digit
MOST_STEPS = 60  # six suffice for usual prices
EPSILON = 1e-14  # relative tolerance of u


def log_expected_improvement(gap: Floats, std: Floats) -> Floats:
    """Return log E[max(gap + std Z, 0)] = log(std) + log h(gap / std), Z ~ N(0, 1), of shapes that broadcast.

    With std = 0 it is log(max(gap, 0)); -inf means that no improvement is possible.
    """
    known = std <= 0.0
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # log 0 is intended; far below h is 0
        if not known.any():
            return np.log(std) + _mean_positive_part(gap / std)[0]
        uncertain = np.log(std) + _mean_positive_part(gap / np.where(known, 1.0, std))[0]
        return np.where(known, np.log(np.maximum(gap, 0.0)), uncertain)


def change_of_lead(variance: Floats, shared: Floats, noise: Floats) -> Floats:
    """Return |S_xx - S_jx| / sqrt(S_xx + lambda), the std of a play's change of mu(x) - mu(j)."""
    return np.abs(variance - shared) / np.sqrt(np.maximum(variance + noise, 1e-300))


def standardised_improvement(gap: Floats, std: Floats) -> Floats:
    """Return gap / std; with std = 0 it is inf where gap > 0, else -inf: an improvement of 0 is none."""
    known = std <= 0.0
    certain = np.where(gap > 0.0, np.inf, -np.inf)
    return np.where(known, certain, gap / np.where(known, 1.0, std))


def standardised_slopes(gap: Floats, std: Floats) -> tuple[Floats, Floats]:
    """Return the derivatives of gap / std in gap and std, 1 / std and -gap / std^2; 0 where std = 0."""
    known = std <= 0.0
    inverse = np.where(known, 0.0, 1.0 / np.where(known, 1.0, std))
    return inverse, -gap * inverse**2


def improvement_climbed(gap: Floats, std: Floats) -> tuple[Floats, Floats, Floats]:
    """Return `log_expected_improvement` and its derivatives in gap and std, with z = gap / std.

    They are (Phi(z), phi(z)) / (h(z) std). Both ratios stay finite where all three underflow, and exact where
    the logarithms of all three are huge. With std = 0 it is (1 / gap, 0) where gap > 0, and 0 where no
    improvement is possible. All three need the same Mills ratio.
    """
    known = std <= 0.0
    scale = np.where(known, 1.0, std)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # below z = -1e154 h is 0
        z = gap / scale
        log_h, mills, rest = _mean_positive_part(z)
        cumulative, density = mills / rest, 1.0 / rest  # Phi(z) / h(z) and phi(z) / h(z)
        sure = z > SURE
        if sure.any():
            cumulative[sure] = 1.0 / z[sure]
            density[sure] = np.exp(-0.5 * z[sure] ** 2 - LOG_SQRT_2PI) / z[sure]
        uncertain, in_gap, in_std = np.log(scale) + log_h, cumulative / scale, density / scale
        if not known.any():
            return uncertain, in_gap, in_std
        log_gap = np.log(np.maximum(gap, 0.0))
    certain = np.where(gap > 0.0, 1.0 / np.where(gap > 0.0, gap, 1.0), 0.0)
    return np.where(known, log_gap, uncertain), np.where(known, certain, in_gap), np.where(known, 0.0, in_std)


def log_augmentation(variance: Floats, noise: float) -> tuple[Floats, Floats]:
    """Return log(1 - (n / (v + n))^1/2) and its derivative in v, (...,) of the same shape.

    What EI is multiplied by where values have noise of variance n (Huang et al. 2006, augmented EI): the mean
    there of a point that is known to v << n rises little by one more value, however large its EI is.
    """
    total = variance + noise
    share = np.sqrt(noise / total)
    return np.log1p(-share), share / (2.0 * total * (1.0 - share))


def _mean_positive_part(z: Floats) -> tuple[Floats, Floats, Floats]:
    """Return log h(z), h(z) = E[max(z + Z, 0)] = phi(z) + z Phi(z), m(x) and 1 - x m(x), of the same shape.

    In h(z) = phi(z) (1 - x m(x)), x = -z, with the Mills ratio m of Phi(-x) = m(x) phi(x), by erfcx, nothing
    cancels; for large x, 1 - x m(x) is its asymptotic series x^-2 (1 - 3 x^-2 + 15 x^-4 - 105 x^-6 + 945 x^-8
    - ...) (the idea of Ament et al. 2023, LogEI), and for large z, h(z) = z.
    """
    x = -np.minimum(z, SURE)
    mills = mills_ratio(x)
    product = x * mills
    log_h, rest = np.log1p(-product) - 0.5 * x**2 - LOG_SQRT_2PI, 1.0 - product
    far, sure = z < -ERFCX_LIMIT, z > SURE
    if far.any():
        x = x[far]
        u = x**-2.0
        series = u * (-3.0 + u * (15.0 + u * (-105.0 + u * 945.0)))
        log_h[far] = np.log1p(series) - 2.0 * np.log(x) - 0.5 * x**2 - LOG_SQRT_2PI
        rest[far] = u * (1.0 + series)
    if sure.any():
        log_h[sure] = np.log(z[sure])
    return log_h, mills, rest


@dataclass(frozen=True)
class GittinsIndex(Rule):
    """The root v of EI(x; v) = price: the value at which evaluating x is no longer worth its price.

    EI(x; v) = sd h(u) with u = (mu - v) / sd and h(u) = u Phi(u) + phi(u). With independent arms, playing the
    largest index until a value is larger than all of them is optimal (Weitzman 1979); for a Gaussian process
    it is a heuristic (Xie et al. 2024).
    """

    def __call__(self, candidates: Candidates) -> Floats:
        mean, std = candidates.mean, candidates.std
        return gittins_index(mean, std, np.broadcast_to(candidates.price, mean.shape))


def gittins_index(mean: Floats, std: Floats, price: Floats) -> Floats:
    """Return v with E[max(f - v, 0)] = price of f ~ N(mean, std^2), (B, A) each; mean - price where std is 0.

    Newton's method for log h(u) = log(price / std), which is concave and increasing, so that every step ends
    below the root and the next ones climb to it. As h(u) >= u, u = price / std is above the root, and as
    log h(u) <= -u^2 / 2 for u <= 0, u = -sqrt(-2 log(price / std)) is below it.
    """
    known = std <= 0.0
    ratio = price / np.where(known, 1.0, std)
    target, one = np.log(ratio), np.ones_like(ratio)
    u = np.where(target > 0.0, ratio, -np.sqrt(2.0 * np.maximum(-target, 0.0)))
    for _ in range(MOST_STEPS):
        log_h, slope, _ = improvement_climbed(u, one)
        step = (target - log_h) / slope
        u += step
        if (np.abs(step) <= EPSILON * (1.0 + np.abs(u))).all():
            break
    return np.where(known, mean - price, mean - std * u)


def change_of(belief: Belief, context: Ints, means: Floats) -> Floats:
    """Return the std by which a play of x changes mu(x) - mu(j), j the arm of the largest of `means`.

    (B,) and (B, A) -> (B, A). Where all are minus infinity no arm leads, and mu(x) alone changes.
    """
    spread, arms, points = belief.std_posterior, np.arange(means.shape[1]), belief.decisions.point_index
    variance = np.maximum(spread.variance_at(belief.cells(context)), 0.0)
    shared = np.zeros_like(variance)
    for i, j in enumerate(means.argmax(axis=1).tolist()):
        if means[i, j] > -np.inf:
            here = points(context[i], arms)
            shared[i] = spread.covariance(i, here, here[[j]])[:, 0]
            shared[i, j] = variance[i, j]
    at = points(context[:, None], arms)
    weights = belief.weights(at.ravel()) if belief.weighs else None
    noise = spread.noise[:, None] if weights is None else spread.noise[:, None] / weights.reshape(at.shape)
    return change_of_lead(variance, shared, noise)


SAMPLED_PLAYS = 64  # those of the largest means: the others are hardly ever the best of a sample


class Incumbent(abc.ABC):
    """Function that gives the value to improve on in each trial.

    On a finite set the points are all arms in the trial's context. On a box they are the arms played so far
    in any context, in the present one, and all count as played.
    """

    of_worth = False  # True if it takes the points' worth, see `Objective.worth`, in place of their means

    def __init__(self, num_trials: int, decisions: Decisions):  # noqa: B027 (most keep no state)
        pass

    @abc.abstractmethod
    def __call__(self, belief: Belief, points: Points, mean: Floats) -> Floats:
        """Return the incumbents, (B,), from the means at points, (B, n); those of missing arms are -inf."""

    def worlds(self, surface: Surface, plays: Pairs, best: Floats, rng: np.random.Generator) -> Worlds:
        """Return a belief on a box, in one or several worlds, and the incumbent in each; here in one."""
        return Worlds(surface, best)

    def receive(self, delivery: Delivery) -> None:  # noqa: B027 (usually a no-op)
        """Record delivered values of plays."""

    def forget(self, trial: Ints) -> None:  # noqa: B027 (likewise)
        """Reset the incumbents of trials that restart, (n,)."""


class NoIncumbent(Incumbent):
    """Incumbent of rules without improvement: 0."""

    def __init__(self, num_trials: int, decisions: Decisions):
        self._zero = np.zeros(num_trials)

    def __call__(self, belief: Belief, points: Points, mean: Floats) -> Floats:
        return self._zero


class MaxMean(Incumbent):
    """The largest posterior mean over available played points of this context, else the prior mean."""

    def __call__(self, belief: Belief, points: Points, mean: Floats) -> Floats:
        largest = np.where(points.played(belief), mean, -np.inf).max(axis=1, initial=-np.inf)
        return np.where(largest > -np.inf, largest, points.prior_mean(belief))


class MaxWorth(Incumbent):
    """The largest worth of the points played in this context, at least `INFEASIBLE`."""

    of_worth = True

    def __call__(self, belief: Belief, points: Points, mean: Floats) -> Floats:
        return np.where(points.played(belief), mean, INFEASIBLE).max(axis=1, initial=INFEASIBLE)


class BestValue(Incumbent):
    """The largest noisy value observed in this context, as in the papers' curves; at first the prior mean."""

    def __init__(self, num_trials: int, decisions: Decisions):
        size = 1 if decisions.continuous else len(decisions.points)
        self._best = np.full((num_trials, size), -np.inf)  # of each numbered point

    def __call__(self, belief: Belief, points: Points, mean: Floats) -> Floats:
        best = points.largest(belief, self._best)
        return np.where(np.isfinite(best), best, points.prior_mean(belief))

    def receive(self, delivery: Delivery) -> None:
        trial, point, value = delivery.trial, delivery.point, delivery.reward
        while point.max(initial=0) >= self._best.shape[1]:  # points of a box are numbered as they are played
            self._best = np.concatenate([self._best, np.full_like(self._best, -np.inf)], axis=1)
        np.maximum.at(self._best, (trial, point), value)

    def forget(self, trial: Ints) -> None:
        self._best[trial] = -np.inf


class NoisyPlays(MaxMean):
    """Noisy EI on a box: the best noise-free value of the plays, in each of several samples of them.

    Under noise the largest mean would be the value of one play, whose uncertainty would count as improvement:
    EI then plays the same points again. Here a play is no improvement on itself.
    """

    def worlds(self, surface: Surface, plays: Pairs, best: Floats, rng: np.random.Generator) -> Worlds:
        """Return worlds with samples of the best plays' values; before any play, one world."""
        if not len(plays.arms):
            return super().worlds(surface, plays, best, rng)
        arms = np.unique(plays.arms[:SAMPLED_PLAYS], axis=0)
        white = normal_points(len(arms), NUM_WORLDS, rng)
        return fantasies(surface, with_context(plays.context, arms), white)


INCUMBENTS: dict[str, type[Incumbent]] = {"max_mean": MaxMean, "best_value": BestValue}
NOISY = "noisy"


def improvable(name: str | None, setting: Setting) -> type[Incumbent]:
    """Return expected improvement's incumbent; None is "noisy" on a box in one context, else "max_mean"."""
    noisy = setting.continuous and not setting.has_contexts
    if name == NOISY and not noisy:
        raise ValueError('incumbent must not be "noisy" on a finite set or with contexts; take "max_mean"')
    if name == NOISY or (name is None and noisy):
        return NoisyPlays
    return incumbent_of("max_mean" if name is None else name, (*INCUMBENTS, NOISY))


def incumbent_of(name: str, allowed: Sequence[str] = tuple(INCUMBENTS)) -> type[Incumbent]:
    """Return the incumbent of a name, or raise a ValueError that lists the allowed names."""
    known = is_name(name, *INCUMBENTS)
    require(known, "incumbent", f"one of {', '.join(allowed)}", name)
    return INCUMBENTS[name]
