"""The probability that a cost is kept, and the belief about costs in a round: which arms surely keep them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from scipy.special import erfcx, log_ndtr

from bandit_envs.basics.types import Bools, Floats, Ints

from .base import Belief

INFEASIBLE = -1e9  # worth, in prior stds, below that of all arms that are believed feasible
Expands = Callable[["Safety", int, Ints], Bools]  # mask of a trial's arms (n,) that may certify others


def log_feasibility(mean: Floats, std: Floats) -> Floats:
    """Return log P(c <= 0) = log Phi(-mean / std) of a cost c ~ N(mean, std^2), both of one shape."""
    return log_ndtr(stds_below(mean, std))


def stds_below(mean: Floats, std: Floats) -> Floats:
    """Return -mean / std, of which Phi is the probability of a cost of at most 0; infinite where std = 0."""
    certain = np.where(mean <= 0.0, np.inf, -np.inf)
    return np.where(std > 0.0, -mean / np.where(std > 0.0, std, 1.0), certain)


def log_feasibility_slopes(mean: Floats, std: Floats) -> tuple[Floats, Floats]:
    """Return the derivatives of `log_feasibility` in mean and std; 0 where std = 0."""
    scale = np.where(std > 0.0, std, 1.0)
    z = -mean / scale
    ratio = np.where(std > 0.0, 1.0 / mills_ratio(-z), 0.0)  # phi / Phi
    return -ratio / scale, -ratio * z / scale


def mills_ratio(x: Floats) -> Floats:
    """m(x) = Phi(-x) / phi(x), infinite where it overflows."""
    with np.errstate(over="ignore"):  # the product may overflow where erfcx is finite
        return math.sqrt(math.pi / 2.0) * erfcx(x / math.sqrt(2.0))


class Safety:
    """The costs at the arms of each trial's context, in prior stds; properties are computed on access.

    Args:
        costs: the belief about each cost, from delivered feedback alone.
        width: w_j of each cost, (C, B).
        safe_of: computes S, the mask of arms that may be played, (B, A).
        expands: computes the mask of safe arms that may certify others.
        settled_of: computes the mask of trials that need not expand S any more, (B,).
        offered: the arms available in this round, (B, A); None for all.
    """

    def __init__(
        self,
        costs: Sequence[Belief],
        context: Ints,
        width: Floats,
        shape: tuple[int, int],
        safe_of: Callable[[Safety], Bools],
        expands: Expands,
        settled_of: Callable[[Safety], Bools],
        offered: Bools | None = None,
    ):
        self.costs, self.context, self.width, self._shape = costs, context, width, shape
        self._safe_of, self._expands, self._settled_of = safe_of, expands, settled_of
        self._offered = offered

    @cached_property
    def safe(self) -> Bools:
        """S, the mask of safe arms, (B, A); never empty."""
        return self._safe_of(self)

    @cached_property
    def settled(self) -> Bools:
        """The trials that need not expand any more, (B,)."""
        return self._settled_of(self)

    @cached_property
    def playable(self) -> Bools:
        """The arms of S that are available in this round, (B, A); never empty."""
        if self._offered is None:
            return self.safe
        playable = np.asarray(self.safe & self._offered)
        (stuck,) = np.logical_not(playable.any(axis=1)).nonzero()
        if len(stuck):
            trials = ", ".join(map(str, stuck.tolist()))
            raise RuntimeError(
                f"no arm that is certified as safe may be played in trial {trials}: one of the safe seed "
                "must be available in every round, as it is in environments with safe_seed=True"
            )
        return playable

    @cached_property
    def mean(self) -> Floats:
        """Posterior means, (C, B, A)."""
        return self._each([belief.mean(self.context) for belief in self.costs])

    @cached_property
    def std(self) -> Floats:
        """Posterior stds, (C, B, A)."""
        return self._each([belief.std(self.context) for belief in self.costs])

    @property
    def upper(self) -> Floats:
        """ug_j, (C, B, A)."""
        return self.mean + self.width[:, :, None] * self.std

    @property
    def lower(self) -> Floats:
        """lg_j, (C, B, A)."""
        return self.mean - self.width[:, :, None] * self.std

    @property
    def widest(self) -> Floats:
        """The widest band of a cost, max_j (ug_j - lg_j), (B, A); 0 without costs."""
        return (2.0 * self.width[:, :, None] * self.std).max(axis=0, initial=0.0)

    def upper_everywhere(self) -> Floats:
        """Return ug_j at the points of all contexts, (C, B, N); costs have no prior mean."""
        centres, spreads = (
            [getattr(each, name) for each in self.costs] for name in ("mean_posterior", "std_posterior")
        )
        mean = np.array([each.mean_at(None) for each in centres])
        std = np.sqrt(np.maximum([each.variance_at(None) for each in spreads], 0.0))
        return mean + self.width[:, :, None] * std

    def expands(self, trial: int, arms: Ints) -> Bools:
        """Return where the best possible costs of a trial's safe arms certify an arm outside S, (n,)."""
        return self._expands(self, trial, arms)

    def covariance(self, j: int, trial: int, arms: Ints) -> Floats:
        """Return a cost's posterior covariance between some arms and all, (n,) -> (n, A)."""
        belief = self.costs[j]
        cells = belief.cells(self.context)
        everywhere = np.arange(belief.decisions.num_arms) if cells is None else cells[trial]
        return covariance(belief, trial, everywhere[arms], everywhere)

    def _each(self, rows: list[Floats]) -> Floats:
        return np.array(rows).reshape(len(rows), *self._shape)


def covariance(belief: Belief, trial: int, rows: Ints, columns: Ints) -> Floats:
    """Return one trial's posterior covariance between points, (n,) and (m,) -> (n, m); O(u^2 (n + m))."""
    seen, gram = belief.std_posterior.statistics(trial), belief.std_posterior.gram
    prior = gram.between(rows, columns)
    if not len(seen.point):
        return prior
    among = gram.between(seen.point, seen.point)
    among[np.diag_indices(len(among))] += belief.std_posterior.noise[trial] / seen.plays
    explained = np.linalg.solve(among, gram.between(seen.point, columns))
    return prior - gram.between(rows, seen.point) @ explained
