"""Where experiments are likely to succeed, the filter that keeps to it, and alternatives to pending ones."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial import KDTree
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from bandit_envs.basics.types import Bools, Floats

from ..box.search import Pool, sobol
from ..real.choice import MOST
from .availability import SAME, Available, Possible
from .history import TunerRound
from .plan import LENGTH_SCALE, TunerPlan
from .space import Space, Values

BOLD, CAUTIOUS = 0.3, 0.9  # range of the probabilities of success that questions require
LIKELY = 0.5  # and a recommendation; at the border that a figure draws
GOLDEN = (5.0**0.5 - 1.0) / 2.0  # fractional parts of its multiples are spread evenly, however many
BEYOND = np.nextafter(SAME, 1.0)
SPREAD, NEAR = 1024, 64  # alternatives to a closed point: anywhere, and nearby
MANY = 2**14  # anywhere, where a rule may exclude nearly all
STEPS = (0.3, 0.1, 0.03)  # distances of those nearby, in box widths
BESIDE = 0.02  # of a range: least difference in some parameter of an informative alternative


class FeasibilityFilter:
    """Gate that is closed where experiments are impossible, not available, or probably fail, in one context.

    The required probability of success moves between 30 % and 90 % from question to question, and is at most
    90 % of the largest one: with one threshold for all questions the tuner would either try the same border
    again and again, or never cross a stripe of failures. Before the first failure it is 0.
    """

    def __init__(self, space: Space, possible: Possible | None = None):
        self.space, self.possible = space, possible
        self._belief: SuccessProbability | None = None
        self._only: Available | None = None
        self._over: KDTree | None = None
        self._context, self.bar = np.zeros(0), 0.0

    def set(
        self,
        belief: SuccessProbability | None,
        context: Floats,
        wanted: float,
        only: Sequence[Values] = (),
        over: Sequence[Floats] = (),
    ) -> None:
        """Set the classifier, None before any failure, the context, (dz,), and the required probability.

        `only` are the entries of what is available, none where everything is; `over` are points, (d,) each,
        that are not tried again.
        """
        self._belief, self._context = belief, context
        self._only = Available(self.space, only) if only else None
        self._over = KDTree(np.array(over)) if len(over) else None
        self.bar = 0.0 if belief is None else min(wanted, CAUTIOUS * belief.highest)

    @property
    def open(self) -> bool:
        """True if all points are open."""
        return self.open_but_tried and self._over is None

    @property
    def open_but_tried(self) -> bool:
        """True if all points are open, except those that are not tried again."""
        return all(each is None for each in (self._belief, self.possible, self._only))

    def chance(self, arms: Floats) -> Floats:
        """Return the probability of success, -1 where a point may not be tried at all, (n, d) -> (n,)."""
        allowed: Bools = np.logical_and.reduce((arms >= -SAME) & (arms <= 1.0 + SAME), axis=1)
        for rule in (self.possible, self._only):
            if rule is not None:
                allowed[allowed] = rule.mask(arms[allowed])
        if self._over is not None and allowed.any():
            nearest, _ = self._over.query(arms[allowed], p=np.inf, distance_upper_bound=BEYOND)
            allowed[allowed] = nearest > SAME  # infinite where none is so near: found sooner
        chance, possible = np.where(allowed, 1.0, -1.0), arms[allowed]
        if self._belief is not None and len(possible):
            context = np.broadcast_to(self._context, (len(possible), len(self._context)))
            chance[allowed] = self._belief.probability(np.hstack([context, possible]))
        return chance

    def admits(self, arms: Floats) -> Bools:
        """Return the mask of open points, (n, d) -> (n,)."""
        return self.chance(arms) >= self.bar

    def opened(self, arms: Floats, tried: Sequence[int] = ()) -> Bools:
        """Return the mask of open points, (n, d) -> (n,); where none is, of those likeliest to succeed.

        Tried ones are not among them while there are others.
        """
        chance = self.chance(arms)
        require_some(chance)
        others = np.delete(chance, tried)
        if others.max(initial=-1.0) >= 0.0:
            chance[list(tried)] = -1.0
        return chance >= min(self.bar, chance.max())

    def closed(self, arms: Floats, scores: Floats) -> Floats:
        """Return scores of points, (n, d) and (n,), with minus infinity where closed."""
        return np.where(self.admits(arms), scores, -np.inf)

    def settled(self, pool: Pool) -> Pool:
        """Return candidates of a finished search; if all are closed, scored by probability of success."""
        if self.open or not np.isneginf(pool.scores).all():
            return pool
        chance = self.chance(pool.arms)
        if chance.max() < 0.0:  # what is possible is a small part of the box
            arms = self.around(pool.arms[0], MANY)
            chance = self.chance(arms)
            require_some(chance)
            pool = Pool(arms, arms, chance)
        return pool._replace(scores=np.where(chance >= 0.0, chance, -np.inf))

    def nearest(self, arm: Floats, among: Floats | None = None) -> int | Floats:
        """Return the nearest open point to a closed one, (d,), or if none is open, the likeliest to succeed.

        It is an index of the given points, (n, d), or for None the features of a possible point of the box.
        """
        points = self.around(arm, MANY if self.possible else SPREAD) if among is None else among
        chance = self.chance(points)
        require_some(chance)
        distance = np.abs(points - arm).sum(axis=1)
        far = np.where(chance >= self.bar, distance, np.inf)
        best = int(far.argmin() if np.isfinite(far).any() else chance.argmax())
        return best if among is not None else points[best]

    def beside(self, point: Floats, taken: Sequence[Floats], among: Floats | None) -> Floats | None:
        """Return the nearest of some points, (n, d), to the agent's choice, (d,), that is open and not taken.

        It differs from all running points, `taken`, (m, d), by `BESIDE`; where these are too many, it is the
        one that differs most, and where all open ones are taken, the likeliest to succeed. None if all are
        taken. Where `among` is None, they are possible points of the box, more than are taken.
        """
        if among is None:
            among = self.around(point, max(SPREAD, 2 << len(taken).bit_length()))
        gap, _ = KDTree(taken).query(among, p=np.inf)
        chance = np.where(gap > SAME, self.chance(among), -1.0)
        gap = np.where(chance >= self.bar, gap, 0.0)
        if gap.max() <= SAME:
            return among[chance.argmax()] if chance.max() >= 0.0 else None
        distance = np.where(gap > BESIDE, np.abs(among - point).sum(axis=1), np.inf)
        best = int(distance.argmin() if np.isfinite(distance).any() else gap.argmax())
        return among[best]

    def around(self, arm: Floats, number: int = SPREAD) -> Floats:
        """Return points in the ranges, nearby and `number` anywhere, (n, d)."""
        anywhere, near = sobol(self.space.dim, number), sobol(self.space.dim, NEAR) - 0.5
        moved = [np.clip(arm + 2.0 * step * near, 0.0, 1.0) for step in STEPS]
        return self.placed(self.space.snap(np.vstack([*moved, anywhere])))

    def placed(self, arms: Floats) -> Floats:
        """Return points moved to what is available, (n, d)."""
        return arms if self._only is None else self._only.placed(arms)[0]

    def exact(self, parameters: Values) -> Values:
        """Return parameters without the rounding errors of features, which a rule may see."""
        if self._only is not None:
            parameters = {**parameters, **self._only.entry(self.space.features(parameters))}
        if self.possible is None or self.possible(parameters):
            return parameters
        return self.space.values(self.nearest(self.space.features(parameters)))  # type: ignore[arg-type]

    def free(self, arms: Floats) -> Bools:
        """Return which features may be changed a little, (n, d), or (d,) where all points are alike."""
        free = self.space.continuous
        return free if self._only is None else free & self._only.placed(arms)[1]

    def listed(self, arms: Floats) -> Floats:
        """Return points of each entry of what is available, (n, d) -> (k, d); none where everything is."""
        return arms[:0] if self._only is None else self._only.listed(arms)


class NothingLeft(ValueError):
    """Report that there are no parameters that may be asked for."""


def require_some(chance: Floats) -> None:
    """Raise where no point may be tried."""
    if chance.max(initial=-1.0) < 0.0:
        raise NothingLeft(
            f"possible, never or only excludes all of {len(chance)} parameters that were looked at, or all "
            "were tried and repeats=False; allow more, or state the parameters so that more are possible"
        )


def wanted_in(question: int) -> float:
    """Return the required probability of success of a question, counted from 0."""
    return BOLD + (CAUTIOUS - BOLD) * (question * GOLDEN % 1.0)


BASE, AMPLITUDE = 1.0, 6.0  # variances of the log odds: of their level, and of their variation over the space
LENGTH_SCALE_BOUNDS = (0.2, 5.0)  # shorter ones would not generalise to a point's neighbours
UNKNOWN = 0.5  # prior probability of success
FEWEST = 3  # of either kind, before length-scales are learnt: fewer are separable along any parameter


class SuccessProbability:
    r"""Gaussian-process classifier of experiments (Rasmussen & Williams 2006, chapter 3).

    P(success at x) = E sigmoid(f(x)), f ~ GP(0, b + a k), k a Matern 5/2 with one length-scale a feature of
    (context, parameters), by Laplace's approximation. The length-scales maximise its marginal likelihood once
    there are three of either kind. While nothing has succeeded, P = (1 - max_i k(x, x_i)) / 2 instead: the
    farther from all failures, the better. O(n^3) for n experiments, which are at most 400.

    Args:
        points: features of finished experiments, (n, d).
        succeeded: mask of those with a value, (n,), at least one of which is False.
    """

    def __init__(self, points: Floats, succeeded: Bools):
        self.points, self.succeeded = points, succeeded

    def probability(self, points: Floats) -> Floats:
        """Return the probability of success at each point, (m, d) -> (m,)."""
        if not self.succeeded.any():
            near: Any = self._kernel(points, self.points)
            return UNKNOWN * (1.0 - near.max(axis=1))
        return self._classifier.predict_proba(points)[:, 1]

    @cached_property
    def highest(self) -> float:
        """Approximate largest probability: the largest one of the experiments that succeeded."""
        return float(self.probability(self.points[self.succeeded]).max(initial=0.0)) or UNKNOWN

    @property
    def _kernel(self) -> Matern:
        dim = self.points.shape[1]
        scale: Any = np.full(dim, LENGTH_SCALE * dim**0.5)
        return Matern(np.clip(scale, *LENGTH_SCALE_BOUNDS), LENGTH_SCALE_BOUNDS, nu=2.5)

    @cached_property
    def _classifier(self) -> GaussianProcessClassifier:
        prior = ConstantKernel(BASE, "fixed") + ConstantKernel(AMPLITUDE, "fixed") * self._kernel
        learns = min(self.succeeded.sum(), (~self.succeeded).sum()) >= FEWEST
        optimizer: Any = "fmin_l_bfgs_b" if learns else None
        classifier = GaussianProcessClassifier(prior, optimizer=optimizer, copy_X_train=False)
        with warnings.catch_warnings():  # a length-scale at a bound is a valid result
            warnings.simplefilter("ignore", ConvergenceWarning)
            return classifier.fit(self.points, self.succeeded)


def feasibility_of(plan: TunerPlan, rounds: Sequence[TunerRound]) -> SuccessProbability | None:
    """Return the classifier after some rounds, None where none failed; it depends on them alone."""
    failed = [each.round for round_ in rounds for each in round_.failed][-MOST:]
    if not failed:
        return None
    told = [each.round for round_ in rounds for each in round_.arrivals][-MOST:]
    each = [rounds[t] for t in [*failed, *told]]
    parts = [(plan.contexts.features(r.context), plan.parameters.features(r.parameters)) for r in each]
    points = np.array(list(map(np.hstack, parts)))
    return SuccessProbability(points, np.arange(len(points)) >= len(failed))


def runs(point: Floats, taken: Sequence[Floats]) -> bool:
    """Return True if a point, (d,), is among the running ones, (d,) each."""
    known = np.reshape(taken, (len(taken), len(point)))
    return bool((np.abs(known - point).max(axis=1, initial=0.0) <= SAME).any())
