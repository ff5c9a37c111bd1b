r"""Clicks and counts under a Gaussian process: the mode, Laplace's Gaussian, and an anytime band.

With f = A w, w ~ N(0, I), A (m, r) the rows of a root (differences of two rows for duels), n plays and b
the sum of their outcomes a row, z = c + A w with an offset c, and a likelihood exp(b z - n a(z)),

    J(w) = sum [n a(z) - b z] + |w|^2 / 2,   H = A' diag(n a''(z)) A + I,   q = N(w_map, H^-1)

(Rasmussen & Williams 2006, Section 3.4, in the weights). J leaves out what does not depend on f.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.linalg import get_lapack_funcs, solve_triangular
from scipy.special import expit

from bandit_envs.basics.types import Floats

# Called directly: scipy's checks of small matrices take longer than the algebra.
_potrf, _potrs, _trtrs = get_lapack_funcs(("potrf", "potrs", "trtrs"), dtype=np.float64)

NODES, _WEIGHTS = hermegauss(24)
NODE_SHARES = _WEIGHTS / _WEIGHTS.sum()  # E g(u) = sum of g(NODES) NODE_SHARES for u ~ N(0, 1)
DECREMENT = 1e-12  # of Newton's method, g' H^-1 g, at which the mode is found
STEPS = 100  # of Newton's method; a warm start takes two
ROUNDING = 1e-12  # of a loss, relative to it
ROUNDS = 3  # in which the band is made narrower by itself; each is valid


class OutcomeLikelihood(NamedTuple):
    """Outcomes of a play with log-likelihood y z - a(z): mean a'(z), variance a''(z), |a'''| <= a''."""

    log_partition: Callable[[Floats], Floats]  # a(z)
    mean: Callable[[Floats], Floats]  # a'(z), the expected outcome of a play
    curvature: Callable[[Floats], Floats]  # a''(z), the variance of the outcome of a play
    expected_log_partition: Callable[[Floats, Floats], Floats]  # E a(z) of z ~ N(mean, std^2)


def _log_partition_of_clicks(z: Floats) -> Floats:
    return np.logaddexp(0.0, z)


def _variance_of_clicks(z: Floats) -> Floats:
    return expit(z) * expit(-z)


def _expected_of_clicks(mean: Floats, std: Floats) -> Floats:
    return _log_partition_of_clicks(mean[:, None] + std[:, None] * NODES) @ NODE_SHARES


def _expected_of_counts(mean: Floats, std: Floats) -> Floats:
    return np.exp(mean + std**2 / 2.0)


# Success or failure, P(y = 1) = s(z) = 1 / (1 + exp(-z)): a(z) = ln(1 + exp(z)).
CLICKS = OutcomeLikelihood(_log_partition_of_clicks, expit, _variance_of_clicks, _expected_of_clicks)
# Events, y ~ Poisson(exp(z)): a(z) = exp(z); a row's plays are its summed exposure.
COUNTS = OutcomeLikelihood(np.exp, np.exp, np.exp, _expected_of_counts)


@dataclass(frozen=True, eq=False)
class PlayedRows:
    """Hold the data: one row for each played arm, or for each pair of arms that met."""

    design: Floats  # (m, r) A
    plays: Floats  # (m,) n
    total: Floats  # (m,) b, the sum of the outcomes; fractions are soft labels
    offset: Floats  # (m,) c

    def z(self, weight: Floats) -> Floats:
        """Return z = c + A w, (m,)."""
        return self.offset + self.design @ weight

    def loss(self, weight: Floats, likelihood: OutcomeLikelihood) -> float:
        """Return J(w)."""
        z = self.z(weight)
        fit = self.plays @ likelihood.log_partition(z) - self.total @ z
        return float(fit + weight @ weight / 2.0)

    def surplus(self, z: Floats, likelihood: OutcomeLikelihood) -> Floats:
        """Return the slope of the loss in z, (m,): the expected outcomes less the observed ones."""
        return self.plays * likelihood.mean(z) - self.total

    def curvature(self, z: Floats, likelihood: OutcomeLikelihood) -> Floats:
        """Return the curvature of the loss in z, (m,), or 0 where it is negative."""
        return self.plays * likelihood.curvature(z)

    def information(self, z: Floats, likelihood: OutcomeLikelihood) -> Floats:
        """Return the weight of each row in H, (m,), at the mode."""
        return self.curvature(z, likelihood)


class Laplace(NamedTuple):
    """Hold Laplace's Gaussian N(w, (L L')^-1) of the weights."""

    weight: Floats  # (r,) the mode
    factor: Floats  # (r, r) L, lower, of H
    loss: float  # J at the mode

    def mean(self, at: Floats) -> Floats:
        """Return the mean of f on rows, (N, r) -> (N,)."""
        return at @ self.weight

    def std(self, at: Floats) -> Floats:
        """Return the posterior std of f on rows, (N, r) -> (N,)."""
        return norms(self.factor, at)

    def draw(self, white: Floats) -> Floats:
        """Return w + L^-T xi, the weights of a posterior sample, (r,) -> (r,)."""
        return self.weight + solve_triangular(self.factor, white, lower=True, trans=1)

    def evidence_bound(self, rows: PlayedRows, likelihood: OutcomeLikelihood) -> float:
        """Return E = E_q ln likelihood - KL(q, prior), at most the log evidence."""
        std = self.std(rows.design)
        expected = likelihood.expected_log_partition(rows.z(self.weight), std)
        fit = rows.total @ rows.z(self.weight) - rows.plays @ expected
        inverse = solve_triangular(self.factor, np.eye(len(self.weight)), lower=True)
        trace = float((inverse**2).sum())
        half_log_det = np.log(np.diag(self.factor)).sum()
        gap = (self.weight @ self.weight + trace - len(self.weight)) / 2.0 + half_log_det
        return float(fit - gap)


def norms(factor: Floats, at: Floats) -> Floats:
    """Return sqrt(phi' (L L')^-1 phi) of rows phi, (r, r) and (N, r) -> (N,)."""
    if not len(at):  # LAPACK refuses empty matrices
        return np.empty(0)
    half, _ = _trtrs(factor, at.T, lower=1)
    return np.sqrt(np.einsum("rn,rn->n", half, half))


def curved(design: Floats, curvature: Floats) -> Floats:
    """Return L, lower, of L L' = A' diag(c) A + I, (m, r) and (m,) -> (r, r)."""
    hessian = (design * curvature[:, None]).T @ design
    hessian[np.diag_indices(len(hessian))] += 1.0
    factor, failed = _potrf(hessian, lower=1)
    if failed:  # outcomes or weights that are no numbers
        raise np.linalg.LinAlgError("the curvature of the loss is not positive definite")
    return factor


def laplace(
    rows: PlayedRows, likelihood: OutcomeLikelihood, start: Floats | None = None, steps: int = STEPS
) -> Laplace:
    """Find the mode by Newton's method with Armijo's halving; O(m r^2 + r^3) a step.

    Without rows the prior is returned. From a `start`, the weights (r,) of the round before, it takes two
    steps.
    """
    weight = np.zeros(rows.design.shape[1]) if start is None else start
    loss = rows.loss(weight, likelihood)
    for _ in range(steps):
        z = rows.z(weight)
        slope = rows.design.T @ rows.surplus(z, likelihood) + weight
        factor = curved(rows.design, rows.curvature(z, likelihood))
        step, _ = _potrs(factor, slope, lower=1)
        decrement = float(slope @ step)
        if decrement < DECREMENT:
            return Laplace(weight, factor, loss)
        share, rounding = 1.0, ROUNDING * (1.0 + abs(loss))
        with np.errstate(over="ignore"):  # too long a step may overflow a count's rate: it is halved
            while True:
                after = rows.loss(weight - share * step, likelihood)
                if after <= loss - share * decrement / 1e4 + rounding:
                    break
                share /= 2.0
        weight, loss = weight - share * step, after
    raise np.linalg.LinAlgError(f"no mode was found in {steps} steps of Newton's method")


class MixtureBand(NamedTuple):
    """Hold |f(x) - f_map(x)| <= sqrt(2 beta phi_x' H~^-1 phi_x), for all rows phi_x at once."""

    beta: float
    factor: Floats  # (r, r) lower, of H~

    def half_width(self, at: Floats) -> Floats:
        """Return the half-width of f on rows, (N, r) -> (N,)."""
        return math.sqrt(2.0 * self.beta) * norms(self.factor, at)


def mixture_band(
    fit: Laplace, rows: PlayedRows, likelihood: OutcomeLikelihood, radius: float, delta: float
) -> MixtureBand:
    """Return the band that holds in all rounds with probability 1 - delta, however the plays were chosen.

        beta = ln(1 / delta) - E + radius^2 / 2 - J(w_map),
        H~ = A' diag(n a''(z) rho(D)) A + I,  rho(D) = 2 (exp(-D) - 1 + D) / D^2,

    with D >= |f - f_map| on the rows: first D = radius |a| + |a' w_map|, then what the band itself gives.

    Likelihood ratios, averaged over the prior, are a martingale of mean 1 under f, so by Ville's inequality
    -ln likelihood(f) <= ln(1 / delta) - E in all rounds with probability 1 - delta, which bounds J(f) by beta
    + J(w_map); and J(f) - J(w_map) >= (w - w_map)' H~ (w - w_map) / 2, because |a'''| <= a''.

    The fit is the mode of the rows, whose offset is the law's, and `radius` bounds |w|: B / sqrt(v) if the
    root is that of v k and |f| <= B in the space of k.
    """
    beta = math.log(1.0 / delta) - fit.evidence_bound(rows, likelihood) + radius**2 / 2.0 - fit.loss
    curvature = rows.plays * likelihood.curvature(rows.z(fit.weight))
    reach = radius * np.linalg.norm(rows.design, axis=1) + np.abs(rows.design @ fit.weight)
    for _ in range(ROUNDS):
        band = MixtureBand(beta, curved(rows.design, curvature * least_curvature(reach)))
        reach = np.minimum(reach, band.half_width(rows.design))
    return MixtureBand(beta, curved(rows.design, curvature * least_curvature(reach)))


def least_curvature(reach: Floats) -> Floats:
    """Return rho(D), the share of the curvature that is left at distance D, (m,) -> (m,)."""
    far = np.maximum(reach, 1e-4)  # nearer, the quotient loses digits and the series is exact to 1e-13
    series = 1.0 - reach / 3.0 + reach**2 / 12.0
    return np.where(reach < far, series, 2.0 * (np.expm1(-far) + far) / far**2)
