"""The acquisition surface on a box, with its slopes, and posterior samples of a function at any points."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import get_lapack_funcs

from bandit_envs.basics.types import Floats, Ints

from ..acquisition.candidates import Candidates, Rule, RuleMemory
from ..beliefs.base import Belief
from ..beliefs.points import Pairs
from ..beliefs.surface import Local, Surface, jitter_of
from ..kernels.slopes import linearise
from ..objectives.base import Objective, Terms

(_trtrs,) = get_lapack_funcs(("trtrs",), dtype=np.float64)


class Path:
    """Posterior sample of f - mean: new points are drawn given the values at all earlier points.

    So for any order and number of calls, all values together are one exact joint sample (up to the jitter).
    O(n^2 m + n m k) for m new points after n, under k plays.
    """

    def __init__(self, surface: Surface, rng: np.random.Generator):
        self._surface, self._rng = surface, rng
        self._jitter = 0.0
        self._points: Floats | None = None  # (n, D)
        self._explained = np.empty((0, 0))  # (k, n)
        self._rows = np.empty((0, 0))  # its first n rows and columns: the factor of the covariance so far
        self._white = np.empty(0)  # the draw is factor @ white

    def __call__(self, x: Floats) -> Floats:
        explained = self._surface.explain(x)
        covariance = linearise(self._surface.kernel, x, x).values - explained.T @ explained
        if self._points is None:
            self._jitter = jitter_of(self._surface, x, covariance)
            self._points, self._explained = x[:0], np.empty((len(self._surface.std_factor.features), 0))
        shared = linearise(self._surface.kernel, self._points, x).values - self._explained.T @ explained
        if len(shared):  # LAPACK refuses empty matrices
            # Fortran sees the factor as its transpose. Whole rows are passed: a part would be copied.
            shared = _trtrs(self._rows[: len(shared)].T, shared, lower=0, trans=1)[0]
        covariance -= shared.T @ shared
        root = self._root(covariance)
        white = self._rng.standard_normal(len(x))
        deviation = shared.T @ self._white + root @ white
        self._extend(x, explained, shared, root, white)
        return deviation

    def _root(self, covariance: Floats) -> Floats:
        """Return the lower factor of a covariance that may be singular, or by rounding indefinite."""
        diagonal = covariance.diagonal().copy()
        for _ in range(8):
            np.fill_diagonal(covariance, diagonal + self._jitter)
            try:
                return np.linalg.cholesky(covariance)  # type: ignore[return-value]
            except np.linalg.LinAlgError:
                self._jitter *= 10.0
        raise ValueError("the posterior covariance is not finite or not positive; check kernel and rewards")

    def _extend(self, x: Floats, explained: Floats, shared: Floats, root: Floats, white: Floats) -> None:
        assert self._points is not None
        old, total = len(self._points), len(self._points) + len(x)
        if total > len(self._rows):
            rows = np.zeros((2 * total, 2 * total))  # untouched memory is not allocated
            rows[:old, :old] = self._rows[:old, :old]
            self._rows = rows
        self._rows[old:total, :old], self._rows[old:total, old:total] = shared.T, root
        self._white = np.concatenate([self._white, white])
        self._points = np.concatenate([self._points, x])
        self._explained = np.hstack([self._explained, explained])


@dataclass
class BoxView(Candidates):
    """Candidates of rules on a box: n arms of one trial in S worlds, usually one.

    Everything but the arms is the same throughout a round: `AcquisitionSurface` adds these.
    """

    belief: Belief
    objective: Objective
    t: Ints  # (1, 1)
    gain: Floats  # (1, 1)
    bias: Floats  # (1, 1)
    incumbent: Floats  # (S, 1)
    draw: Callable[[], Sequence[np.random.Generator]]  # -> (1,)
    maximise: Callable[[], Floats]  # a sample -> (1, 1), the same throughout a round
    memory: RuleMemory | None = None  # what the rule has learnt from feedback
    mean: Floats = field(init=False)  # (S, n)
    std: Floats = field(init=False)  # (1, n), the same in all worlds
    points: Pairs = field(init=False)  # type: ignore[assignment] (never others here)
    surface: Surface = field(init=False)
    path: Path = field(init=False)

    @property
    def weight_norm(self) -> Floats:
        return np.broadcast_to(self.surface.weight_norm(self.points.features), self.mean.shape)

    def centred_sample(self) -> Floats:
        return self.path(self.points.features)[None]

    def sampled_maximum(self) -> Floats:
        return self.maximise()


class AcquisitionSurface:
    """Acquisition surface: scores of arms, and their slopes where the rule has any.

    In S > 1 worlds scores must be logarithms of the averaged quantity, as those of expected improvement are.
    """

    def __init__(
        self,
        rule: Rule,
        surface: Surface,  # the belief, or S worlds of it
        context: Floats,  # (dz,) features
        facts: BoxView,  # without arms
        rng: np.random.Generator,  # of the posterior sample
        terms: Terms | None = None,  # the objective's, if any
        unit: float = 1.0,  # scale of the scores
    ):
        self.rule, self.surface, self.context, self._facts = rule, surface, context, facts
        self.unit, self._terms = unit, terms
        self._path = Path(surface, rng)

    @property
    def t(self) -> int:
        """Number of the round, 1, 2, ..."""
        return self._facts.t.item()

    @property
    def rows(self) -> int:
        """Number of points whose covariances the std is computed from."""
        return len(self.surface.std_factor.features)

    def scores(self, arms: Floats) -> Floats:
        """Return scores, (n, d) -> (n,); all calls share one sample where the rule draws one."""
        points = Pairs(self.context, arms)
        scores = averaged(self.rule(self._view(points, self.surface.local(points.features))))[0]
        if self._terms is None:
            return scores
        return self._terms.add(scores[None], points, self._facts.t[:, 0])[0]

    def climb(self, arms: Floats) -> tuple[Floats, Floats] | None:
        """Return scores and slopes, (n, d) -> (n,) and (n, d); None where rule or terms have no slopes."""
        if self._terms is not None and self._terms.climb is None:
            return None
        points = Pairs(self.context, arms)
        local = self.surface.local(points.features)
        of_belief = self.rule.slopes(self._view(points, local))
        if of_belief is None:
            return None
        scores = of_belief.scores
        if scores is None:
            scores = self.rule(self._view(points, local))  # a view of its own draws what the slopes drew
        scores, share = averaged(scores)
        slope = local.gradient(share * of_belief.mean, (share * of_belief.std).sum(axis=0))
        if self._terms is not None and self._terms.climb is not None:
            scores, slope = self._terms.climb(scores, slope, points, self._facts.t[:, 0])
        return scores, slope[:, len(self.context) :]

    def _view(self, points: Pairs, local: Local) -> BoxView:
        view = copy(self._facts)  # `replace` takes longer than the kernel at a few points
        view.mean, view.std = local.mean, local.std[None]
        view.points, view.surface, view.path = points, self.surface, self._path
        return view


def averaged(scores: Floats) -> tuple[Floats, Floats]:
    """Return log mean exp over worlds and each world's share in it, (S, n) -> (n,) and (S, n).

    For one world it is the score itself, logarithm or not. Shares of scores that are -inf in all worlds are
    0.
    """
    if len(scores) == 1:
        return scores[0], np.ones_like(scores)
    top = scores.max(axis=0)
    if not np.isfinite(top).all():
        top = np.where(np.isfinite(top), top, 0.0)
    share = np.exp(scores - top)
    total = share.sum(axis=0)
    share /= np.where(total > 0.0, total, 1.0)
    with np.errstate(divide="ignore"):  # log 0 is intended
        return top + np.log(total) - math.log(len(scores)), share
