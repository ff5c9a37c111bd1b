"""The belief about utilities of one trial, of which only differences are observed, by duels.

Rows of the design are differences F_i - F_j of a root, K = F F', one a pair that met, with the number of
its duels and the wins of i; the posterior is Laplace's (`posteriors.laplace`), O(r^3 + m r^2) a round. POP-BO
believes in no distribution, but in the set of all functions that are likely enough.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import root_scalar

from bandit_envs.basics.types import Floats, Ints

from ..model.model import Model
from ..posteriors.laplace import CLICKS, Laplace, PlayedRows, laplace, mixture_band

RIDGES = (-20.0, 20.0)  # least and largest logarithm of the weight of |w|^2 in a penalised likelihood
GAP = 1e-5  # in log odds, of the largest difference within a likelihood set
CLOSER = 30.0  # factor of the gap from one centre to the next
DECREMENT = 1e-6  # of Newton's method, at which a centre is found
STEPS = 10_000  # of Newton's method; twenty, and hundreds where a far centre is reached in damped steps


class DuelBeliefs(NamedTuple):
    """What is believed of the arms of a context and of all pairs of them."""

    mean: Floats  # (A,) mode of the utilities
    difference: Floats  # (A, A) mean_i - mean_j
    std: Floats  # (A, A) posterior std of f_i - f_j


class Preferences:
    """Utilities f ~ GP(m, k) at all points given duels, P(i beats j) = s(f_i - f_j).

    Args:
        model: its kernel and prior mean are those of the utilities, in log odds.
        penalty: of |f|^2 / 2; the prior covariance is that of the model over it.
    """

    def __init__(self, model: Model, penalty: float = 1.0):
        self.model, decisions = model, model.setting.decisions
        self._num_arms = decisions.num_arms
        self.root = np.ascontiguousarray(model.gram.root.T) / np.sqrt(penalty)  # (N, r)
        self._prior = np.broadcast_to(np.asarray(model.prior_mean, dtype=np.float64), len(self.root))
        self._met: dict[tuple[int, int], list[float]] = {}  # (i, j), i < j -> duels, wins of i
        self._fit: Laplace | None = None
        self._start: Floats | None = None

    def add(self, first: int, second: int, won: float) -> None:
        """Learn that the first point won against the second, 1, lost, 0, or that they tied, 1/2."""
        if first == second:  # the outcome says nothing
            return
        (i, j), won = ((first, second), won) if first < second else ((second, first), 1.0 - won)
        counts = self._met.setdefault((i, j), [0.0, 0.0])
        counts[0] += 1.0
        counts[1] += won
        self._fit = None

    @property
    def rows(self) -> PlayedRows:
        """Return the pairs that met as rows of a design."""
        pairs = np.array(list(self._met), dtype=np.int64).reshape(-1, 2)
        plays, wins = np.array(list(self._met.values()), dtype=np.float64).reshape(-1, 2).T
        i, j = pairs.T
        return PlayedRows(self.root[i] - self.root[j], plays, wins, self._prior[i] - self._prior[j])

    @property
    def fit(self) -> Laplace:
        """Return Laplace's Gaussian of the weights; it starts from the last one."""
        if self._fit is None:
            self._fit = laplace(self.rows, CLICKS, self._start)
            self._start = self._fit.weight
        return self._fit

    def at(self, context: Ints) -> DuelBeliefs:
        """Return what is believed in a context, (1,)."""
        here = self._points(context)
        mean = self._prior[here] + self.fit.mean(self.root[here])
        return DuelBeliefs(mean, mean[:, None] - mean, between(self.fit.factor, self.root[here]))

    def band(self, context: Ints, delta: float) -> Floats:
        """Return the half-widths of the mixture band of f_i - f_j, (A, A), for |f| <= B in all rounds."""
        bound = float(np.asarray(self.model.rkhs_bound))
        found = mixture_band(self.fit, self.rows, CLICKS, bound, delta)
        return np.sqrt(2.0 * found.beta) * between(found.factor, self.root[self._points(context)])

    def sample(self, context: Ints, rng: np.random.Generator) -> Floats:
        """Draw the utilities of the arms, (A,)."""
        here = self._points(context)
        return self._prior[here] + self.root[here] @ self.fit.draw(self.model.gram.quick_white(rng))

    def leads(self, context: Ints) -> Callable[[int], Floats] | None:
        """Return how far all arms of a context may be ahead of one, (A,), within a set; None without one."""
        return None

    def worth(self, context: Ints) -> Floats:
        """Return the scores of recommendations, (A,)."""
        return self.mean(context)[0]

    def mean(self, context: Ints) -> Floats:
        """Return the mode of the utilities, (1, A)."""
        return self.at(context).mean[None]

    def std(self, context: Ints) -> Floats:
        """Return the posterior std of the utilities, (1, A)."""
        return self.fit.std(self.root[self._points(context)])[None]

    def _points(self, context: Ints) -> slice:
        first = int(context[0]) * self._num_arms
        return slice(first, first + self._num_arms)


def between(factor: Floats, root: Floats) -> Floats:
    """Return sqrt((F_i - F_j)' (L L')^-1 (F_i - F_j)) of all pairs of rows, (r, r) and (A, r) -> (A, A)."""
    half = solve_triangular(factor, root.T, lower=True)
    cross = half.T @ half
    own = np.diag(cross)
    return np.sqrt(np.maximum(own[:, None] + own - 2.0 * cross, 0.0))


class LikelihoodSet(Preferences):
    """Utilities of |f| <= B whose log-likelihood is at most beta_t below the largest: POP-BO's belief.

    Mean, std and bands are those of `Preferences`; B is the model's `rkhs_bound`, in log odds.

    Args:
        scale: beta_t = scale sqrt(t + 1) after t duels; None for ln(1 / delta) + the largest log-likelihood
            less a bound on the log evidence, with which the set holds the truth in all rounds with
            probability 1 - delta.
    """

    def __init__(self, model: Model, scale: float | None, delta: float):
        super().__init__(model)
        self._scale, self._delta = scale, delta
        self._norm = float(np.asarray(model.rkhs_bound))
        self._duels = 0  # with those of an arm against itself

    def add(self, first: int, second: int, won: float) -> None:
        self._duels += 1
        super().add(first, second, won)

    def worth(self, context: Ints) -> Floats:
        """Return the most likely utilities of the arms that met another, (A,); -inf elsewhere."""
        here = self._points(context)
        met = np.isin(np.arange(len(self.root))[here], list(self._met))
        values = self._prior[here] + self.root[here] @ self.likeliest
        return np.where(met, values, -np.inf) if met.any() else values

    @property
    def likeliest(self) -> Floats:
        """Return the weights of the most likely function of |f| <= B, (r,)."""
        if not self._met:
            return np.zeros(self.root.shape[1])

        rows, (low, high) = self.rows, RIDGES

        def excess(log_ridge: float) -> float:
            return float(np.linalg.norm(_ridged(rows, log_ridge))) - self._norm

        if excess(low) > 0.0:
            low = root_scalar(excess, bracket=(low, high), xtol=1e-9).root
        return _ridged(rows, low)

    def leads(self, context: Ints) -> Callable[[int], Floats]:
        return partial(self.largest, context)

    def largest(self, context: Ints, against: int) -> Floats:
        """Return max f_x - f_against within the set, of all arms x of a context, (A,)."""
        roots = self.root[self._points(context)]
        prior = self._prior[self._points(context)]
        rows, likeliest = self.rows, self.likeliest
        least, nothing = _losses(rows, np.stack([likeliest, np.zeros_like(likeliest)])).tolist()
        if self._scale is None:
            slack = float(np.log(1.0 / self._delta)) - least - self.fit.evidence_bound(rows, CLICKS)
        else:
            slack = self._scale * float(np.sqrt(self._duels + 1.0))
        # As the loss is convex, it is at most half the slack above the least there.
        inside = likeliest * (1.0 - slack / 2.0 / max(nothing - least, slack))
        ahead = roots - roots[against]
        return prior - prior[against] + _largest(ahead, rows, self._norm, least + slack, inside)


def _ridged(rows: PlayedRows, log_ridge: float) -> Floats:
    """Return argmin of the loss without prior + ridge |w|^2 / 2, (r,)."""
    scale = np.exp(-log_ridge / 2.0)
    return scale * laplace(replace(rows, design=scale * rows.design), CLICKS).weight


def _losses(rows: PlayedRows, weights: Floats) -> Floats:
    """Return the negative log-likelihoods of several weights, (n, r) -> (n,)."""
    z = rows.offset + weights @ rows.design.T
    return CLICKS.log_partition(z) @ rows.plays - z @ rows.total


def _largest(ahead: Floats, rows: PlayedRows, norm: float, ceiling: float, start: Floats) -> Floats:
    """Return max c'w over |w| <= norm and losses up to the ceiling, (A, r) -> (A,), by a barrier method.

    Its gap is two constraints over the weight t of the objective; all rows c are solved at once.
    """
    weights, t = np.tile(start, (len(ahead), 1)), 1.0
    while 2.0 / t > GAP:
        t *= CLOSER
        weights = _centred(t * ahead, rows, norm, ceiling, weights)
    return np.asarray((ahead * weights).sum(axis=1))


def _centred(ahead: Floats, rows: PlayedRows, norm: float, ceiling: float, weights: Floats) -> Floats:
    """Return argmin -c'w - ln(ceiling - loss) - ln(norm^2 - |w|^2) of all rows by Newton's method, (A, r)."""
    identity = np.eye(weights.shape[1])

    def height(w: Floats) -> Floats:
        rooms = ceiling - _losses(rows, w), norm**2 - (w**2).sum(axis=1)
        inside = (rooms[0] > 0.0) & (rooms[1] > 0.0)
        logs = np.log(np.where(inside, rooms[0], 1.0)) + np.log(np.where(inside, rooms[1], 1.0))
        return np.where(inside, -(ahead * w).sum(axis=1) - logs, np.inf)

    for _ in range(STEPS):
        z = rows.offset + weights @ rows.design.T
        slope = (rows.plays * CLICKS.mean(z) - rows.total) @ rows.design
        likely = (ceiling - _losses(rows, weights))[:, None]
        near = (norm**2 - (weights**2).sum(axis=1))[:, None]
        curvature = (rows.plays * CLICKS.curvature(z) / likely)[:, None, :]
        hessian = (rows.design.T * curvature) @ rows.design
        hessian += 2.0 * identity / near[:, None]
        hessian += np.einsum("ar,as->ars", slope / likely, slope / likely)
        hessian += np.einsum("ar,as->ars", 2.0 * weights / near, 2.0 * weights / near)
        gradient = -ahead + slope / likely + 2.0 * weights / near
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        decrement = (gradient * step).sum(axis=1)
        if decrement.max() < DECREMENT:
            return weights
        weights = weights - _shares(height, weights, step, decrement)[:, None] * step
    raise np.linalg.LinAlgError(f"no centre of the likelihood set was found in {STEPS} Newton steps")


def _shares(height: Callable[[Floats], Floats], weights: Floats, step: Floats, decrement: Floats) -> Floats:
    """Return the shares of the steps, halved until each is inside and lower by enough, (A,)."""
    share, before = np.ones(len(weights)), height(weights)
    rounding = 1e-12 * (1.0 + np.abs(before))
    while True:
        after = height(weights - share[:, None] * step)
        high = after > before - share * decrement / 4.0 + rounding
        if not high.any():
            return share
        share[high] /= 2.0
