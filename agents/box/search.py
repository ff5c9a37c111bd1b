"""The multi-start local search for the largest score on a box."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Annotated, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import qmc

from bandit_envs.basics.arguments import require
from bandit_envs.basics.options import Checked, count, positive, whole
from bandit_envs.basics.types import Floats, fixed
from bandit_envs.problem.setting import Setting
from bandit_envs.problem.truth import descended

from .acquisition_surface import AcquisitionSurface

ANCHORS = 8  # best arms played so far that a search starts from
WORST = -1e30  # finite substitute for scores of minus infinity in L-BFGS-B
PRECISION = 1e-6  # of the summed scores' unit: the tolerance of a local search
APART = 0.05  # least distance of two starts in box widths, so that they reach different maxima
ZOOM = (0.1, 0.03, 0.01, 0.003)  # box widths, around the best points of a sample
BEST, EACH = 4, 12  # points around which a sample is refined, and new points around each
FULL = 512  # plays beyond which candidates are fewer, so that a round grows with their number, not its square
JITTERS = (0.1, 0.01, 0.001)  # box widths, around the best arms played


class Pool(NamedTuple):
    """Candidates of a round."""

    arms: Floats  # (n, d) in the kernel's units
    unit: Floats  # (n, d) in [0, 1]^d
    scores: Floats  # (n,)


class UnitSurface(NamedTuple):
    """Acquisition surface in unit coordinates."""

    acquisition: AcquisitionSurface
    low: Floats  # (d,)
    span: Floats  # (d,)
    anchors: Floats  # (m, d) the best arms played so far, in unit coordinates

    @classmethod
    def of(cls, acquisition: AcquisitionSurface, setting: Setting, played: Floats) -> UnitSurface:
        """Return the surface of a setting with a box, with the best arms played, best first, (n, d)."""
        assert setting.low is not None
        assert setting.high is not None
        span = setting.high - setting.low
        anchors = (played[:ANCHORS] - setting.low) / np.where(span > 0, span, 1.0)
        return cls(acquisition, setting.low, span, anchors)

    def survey(self, unit: Floats) -> Pool:
        """Return points with their scores, (n, d)."""
        arms = self.low + self.span * unit
        return Pool(arms, unit, self.acquisition.scores(arms))

    def climb(self, unit: Floats) -> tuple[Floats, Floats] | None:
        """Return scores and slopes in unit coordinates; None without slopes."""
        found = self.acquisition.climb(self.low + self.span * unit)
        return None if found is None else (found[0], found[1] * self.span)


def joined(first: Pool, second: Pool) -> Pool:
    """Return both sets of candidates."""
    return Pool(*(np.concatenate(parts) for parts in zip(first, second, strict=True)))


def climbed(unit_surface: UnitSurface, starts: Floats, steps: int) -> Pool | None:
    """Return the ends of local searches from all starts, in one stacked L-BFGS-B; None without slopes."""
    at_starts, unit, level = unit_surface.climb(starts), unit_surface.acquisition.unit, 0.0
    if at_starts is None:
        return None

    def loss(flat: Floats) -> tuple[float, Floats]:
        """Return by how many units the sum of scores is below that of the starts, and its gradient, (m d,).

        Points with scores that are not finite have a low constant.
        """
        at = flat.reshape(starts.shape)
        found = at_starts if (at == starts).all() else unit_surface.climb(at.clip(0.0, 1.0))
        assert found is not None  # there were slopes at the starts
        scores, slopes = found
        usable = np.isfinite(scores) & np.isfinite(slopes).all(axis=1)
        scores = scores / unit
        if not usable.all():
            scores, slopes = np.where(usable, scores, WORST), np.where(usable[:, None], slopes, 0.0)
        return -float(scores.sum()) - level, -slopes.ravel() / unit

    level, _ = loss(starts.ravel())
    end, _ = descended(loss, starts.ravel(), [(0.0, 1.0)] * starts.size, PRECISION, steps, 2 * steps)
    return unit_surface.survey(np.clip(end, 0.0, 1.0).reshape(starts.shape))


def refined(unit_surface: UnitSurface, pool: Pool, rng: np.random.Generator) -> Pool:
    """Return the pool with new points ever closer around its best candidates."""
    for width in ZOOM:
        best = pool.unit[np.argsort(-pool.scores, kind="stable")[:BEST]]
        unit = around(np.repeat(best, EACH, axis=0), width, rng)
        pool = joined(pool, unit_surface.survey(unit))
    return pool


def distinct_best(pool: Pool, count: int) -> Floats:
    """Return the best candidates of a pool, no two within `APART` of each other, (m, d), m <= count."""
    best = pool.unit[np.argsort(-pool.scores, kind="stable")[: 16 * count]]
    apart, left, chosen = cdist(best, best, "chebyshev") > APART, np.ones(len(best), dtype=bool), []
    while left.any() and len(chosen) < count:
        chosen.append(int(left.argmax()))
        left &= apart[chosen[-1]]
    return best[chosen]


def around(centre: Floats, width: float, rng: np.random.Generator) -> Floats:
    """Return each point moved by a Gaussian step and clipped to the box, which puts some on its boundary."""
    return np.clip(centre + width * rng.standard_normal(centre.shape), 0.0, 1.0)


@runtime_checkable
class Search(Protocol):
    """Function that finds candidates, the best of which is played."""

    def __call__(self, unit_surface: UnitSurface, rng: np.random.Generator) -> Pool:
        """Return candidates with their scores; the last ones may be refinements of others."""
        ...


@dataclass(frozen=True)
class QuasiRandom(Checked):
    """Sobol's points and jittered best plays, with local searches from the best few.

    Where the rule has slopes all starts are optimised in one stacked L-BFGS-B: the sum of their scores has a
    gradient in blocks. Where it has none, as with Thompson sampling, the sample is continued at new points
    ever closer around its best ones: it stays one joint sample of the posterior.

    Args:
        candidates: Sobol's points a round, best a power of two, fewer under more than 512 plays; a uniform
            shift from the trial's own generator scrambles them anew in every round.
        starts: number of local searches.
        steps: iterations of a local search.
    """

    candidates: Annotated[int, count("it is the number of quasi-random points a round")] = 512
    starts: Annotated[int, whole(0, "it is the number of local searches")] = 4
    steps: Annotated[int, count("it is the number of iterations of a local search")] = 12

    def __call__(self, unit_surface: UnitSurface, rng: np.random.Generator) -> Pool:
        """Screen, then search locally; if all scores are equal and finite, return Sobol's points alone."""
        dim = len(unit_surface.low)
        count = self.candidates * FULL // max(FULL, unit_surface.acquisition.rows)
        pool = unit_surface.survey((sobol(dim, self.candidates)[:count] + rng.random(dim)) % 1.0)
        if -np.inf < pool.scores.min() == pool.scores.max():  # else no point is feasible, but plays may be
            return pool
        if len(unit_surface.anchors):
            near = [around(unit_surface.anchors, width, rng) for width in JITTERS]
            pool = joined(pool, unit_surface.survey(np.vstack([unit_surface.anchors, *near])))
        if not self.starts:
            return pool
        local_optima = climbed(unit_surface, distinct_best(pool, self.starts), self.steps)
        return refined(unit_surface, pool, rng) if local_optima is None else joined(pool, local_optima)


@dataclass(frozen=True, eq=False)
class AtPoints:
    """A constant set of candidates, (A, d): a finite set on a box."""

    arms: Floats

    def __call__(self, unit_surface: UnitSurface, rng: np.random.Generator) -> Pool:
        """Score the arms in the given units: a change of units and back would change their last bits."""
        unit = (self.arms - unit_surface.low) / np.where(unit_surface.span > 0, unit_surface.span, 1.0)
        return Pool(self.arms, unit, unit_surface.acquisition.scores(self.arms))


@dataclass(frozen=True)
class Lattice(Checked):
    """The discretisation D_t of Chowdhury & Gopalan (2017), Theorem 4, with |D_t| = (B L r d t^2)^d.

    A regular grid, so that every x of the box has a point within r d / side of it. The theorem's size becomes
    infeasible after a few rounds: `cap` bounds it, without a guarantee from then on.

    Args:
        bound: B, of the norm of f.
        lipschitz: L, of the kernel: sup of the root of its mixed second derivative; 1 / l for the squared
            exponential, sqrt(nu / (nu - 1)) / l for Matern kernels.
        cap: largest number of points.
    """

    bound: Annotated[float, positive("it bounds the norm of the reward function")] = 1.0
    lipschitz: Annotated[float, positive("it bounds the slopes of functions of norm 1")] = 5.0
    cap: Annotated[int, count("it is the largest number of points of the lattice")] = 1024

    def side(self, dim: int, diameter: float, t: int) -> int:
        """Return the points a side in round t, at least 2 where the cap allows it."""
        wanted = int(np.ceil(self.bound * self.lipschitz * diameter * dim * t**2))
        allowed = int(np.floor(self.cap ** (1.0 / dim) + 1e-9))
        return max(min(max(wanted, 2), allowed), 1)

    def __call__(self, unit_surface: UnitSurface, rng: np.random.Generator) -> Pool:
        dim = len(unit_surface.low)
        side = self.side(dim, float(unit_surface.span.max()), unit_surface.acquisition.t)
        axes = np.meshgrid(*[np.linspace(0.0, 1.0, side)] * dim, indexing="ij")
        unit = np.stack(axes, axis=-1).reshape(-1, dim)
        return unit_surface.survey(unit)


@lru_cache(maxsize=16)
def sobol(dim: int, count: int) -> Floats:
    """Return the first points of Sobol's sequence in [0, 1)^dim, (count, dim). Read only."""
    engine = qmc.Sobol(dim, scramble=False)
    points = engine.random_base2(int(np.ceil(np.log2(count))))[:count]
    return fixed(points)


def make_search(given: Any) -> Search:
    """Return a search from None (the default), the options of `QuasiRandom`, or a `Search`."""
    if given is None:
        return QuasiRandom()
    if isinstance(given, dict):
        names = [field.name for field in fields(QuasiRandom)]
        require({*given} <= {*names}, "search", f"None, a Search or options among {', '.join(names)}", given)
        return QuasiRandom(**given)
    require(isinstance(given, Search), "search", "None, options of QuasiRandom or a Search", given)
    return given
