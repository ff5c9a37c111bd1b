r"""Clicks whose absence is never reported: conversions are delivered late, or never.

A conversion is delivered after d ~ G. A play of age a without one has the likelihood 1 - p G(a), and p with
one. As 1 - p = 1 - s(z) and p = s(z) is a click's probability, with l = ln(1 - G(a))

    ln(1 - p G(a)) = A(z + l) - A(z),   A(z) = ln(1 + exp(z)),

whose slope is that of a click of value s(z + l), the probability that the play will still convert. A play's
expected information at its age is W = G p (1 - p)^2 / (1 - p G) = (1 - p) (p - s(z + l)). It is in H of
Laplace's Gaussian; Newton's method finds the mode with the observed curvatures, or 0 where one is negative.

Readable form: tests/references/outcomes.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.laws.outcomes import OutcomeLaw

from ..model.rounds import ByRound
from ..posteriors.laplace import Laplace, OutcomeLikelihood, curved, laplace
from ..posteriors.latent import Outcomes

DROPPED = -1  # in place of a point
PENDING = np.nan  # in place of an outcome
STEPS = 10_000  # of Newton's method, each of which descends; a few, and hundreds where clicks are nearly sure


class AgedRows(NamedTuple):
    """Hold plays of m points, some of which may still convert."""

    design: Floats  # (m, r) A
    plays: Floats  # (m,)
    total: Floats  # (m,) conversions
    offset: Floats  # (m,) c
    row: Ints  # (n,) of each play
    later: Floats  # (n,) l = ln(1 - G(a)) of its age a; -inf where it would have converted by now
    pending: Bools  # (n,) whether it has not converted

    def z(self, weight: Floats) -> Floats:
        """Return z = c + A w, (m,)."""
        return self.offset + self.design @ weight

    def loss(self, weight: Floats, likelihood: OutcomeLikelihood) -> float:
        """Return J(w) = - sum of ln p - sum of ln(1 - p G(a)) + |w|^2 / 2."""
        z = self.z(weight)
        fit = self.plays @ likelihood.log_partition(z) - self.total @ z
        waits = likelihood.log_partition(z[self.row] + self.later)[self.pending].sum()
        return float(fit - waits + weight @ weight / 2.0)

    def surplus(self, z: Floats, likelihood: OutcomeLikelihood) -> Floats:
        """Return the slope of the loss in z, (m,): expected clicks less conversions, done and to come."""
        to_come = np.where(self.pending, likelihood.mean(z[self.row] + self.later), 0.0)
        return self.plays * likelihood.mean(z) - self.total - np.bincount(self.row, to_come, len(z))

    def curvature(self, z: Floats, likelihood: OutcomeLikelihood) -> Floats:
        """Return the curvature of the loss in z, or 0 where it is negative, (m,): the loss is not convex."""
        to_come = np.where(self.pending, likelihood.curvature(z[self.row] + self.later), 0.0)
        observed = self.plays * likelihood.curvature(z) - np.bincount(self.row, to_come, len(z))
        return np.maximum(observed, 0.0)

    def information(self, z: Floats, likelihood: OutcomeLikelihood) -> Floats:
        """Return the sum of W = (1 - p) (p - s(z + l)) over the plays of each point, (m,)."""
        p, later = likelihood.mean(z), likelihood.mean(z[self.row] + self.later)
        return (1.0 - p) * np.maximum(self.plays * p - np.bincount(self.row, later, len(z)), 0.0)


class AgedOutcomes(Outcomes):
    """Plays of B trials where clicks are delivered and their absence is not; a fit is O(t) more than others.

    Args:
        shares: of conversions that take 0, 1, ... rounds, (K,); the rest never comes.
    """

    def __init__(self, law: OutcomeLaw, shares: Floats, num_trials: int):
        super().__init__(law, num_trials)
        with np.errstate(divide="ignore"):  # where all have come, ln 0
            self._later = np.log1p(-np.minimum(np.append(shares, 0.0).cumsum(), 1.0))
        self._points, self._outcomes = ByRound(num_trials), ByRound(num_trials, np.float64)

    def advance(self, point: Ints) -> None:
        """Begin a round with a play a trial, (B,): earlier ones become one round older."""
        self.reserve(int(point.max()) + 1)
        self._points.append(point)
        self._outcomes.append(np.full(len(point), PENDING))
        self.add(np.arange(len(point)), point, 1.0, 0.0)

    def settle(self, trial: Ints, point: Ints, ago: Ints, outcome: Floats) -> None:
        """Record outcomes of plays of some rounds ago, 0 for those of this round, (n,) each."""
        self._outcomes.rows[-1 - ago, trial] = outcome
        self.add(trial, point, 0.0, outcome)

    def drop(self, trial: Ints, point: Ints, ago: Ints) -> None:
        """Remove plays of some rounds ago, counted likewise, (n,) each."""
        self._points.rows[-1 - ago, trial] = DROPPED
        self.add(trial, point, -1.0, 0.0)

    def clear(self, trial: Ints) -> None:
        super().clear(trial)
        self._points.rows[:, trial] = DROPPED

    def rows(self, trial: int, root: Callable[[Ints], Floats]) -> AgedRows:
        points, outcomes = self._points.rows[:, trial], self._outcomes.rows[:, trial]
        (played,) = (points != DROPPED).nonzero()
        x, row = np.unique(points[played], return_inverse=True)
        age = np.minimum(len(points) - 1 - played, len(self._later) - 1)
        later = np.where(outcomes[played] == 0.0, -np.inf, self._later[age])
        plays, offset = self.count[trial, x], np.full(len(x), self._base)
        pending = ~(outcomes[played] > 0.0)
        return AgedRows(root(x), plays, self.total[trial, x], offset, row, later, pending)

    def fit(self, rows: Any, start: Floats | None = None) -> Laplace:
        mode = laplace(rows, self.likelihood, start, STEPS)
        information = rows.information(rows.z(mode.weight), self.likelihood)
        return mode._replace(factor=curved(rows.design, information))
