"""The statistics of all even tails of a growing sequence of samples, and the rates of their ridge.

For the last 2n samples, mu_1 is the ridge regression of the first n and mu_2 of the last n,

    mu(x) = sum_i w_i k(x_i, x),    w = (K + n rho_n I)^-1 y,

and the statistic is the integral of (mu_1 - mu_2)^2 (Avanesov 2020, Algorithm 1). With the weights of both
halves in one vector a = (w_1, -w_2) and H_ij = 5 / N sum_x k(x_i, x) k(x_j, x) it is a'Ha. Responses
whose level is unknown are centred: y less the mean of the 2n, in which the weights are linear. A centred
statistic is smaller on average: it raises fewer false alarms, and finds changes later. Where their scale is
unknown, statistics are divided by their mean square (centred: their variance) in all samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from scipy.linalg import get_lapack_funcs
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.arguments import is_integer, require_choice
from bandit_envs.basics.options import Checked, not_negative, positive
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.kernels.gram import Gram

from ..kernels.amplitude import order_of

MOST_NODES = 4096  # of the integral over indexed points; larger sets are thinned evenly
(_posv,) = get_lapack_funcs(("posv",), dtype=np.float64)

ROUNDING = 1e-24  # of a variance, in mean squares
FIRST_CAPACITY = 64  # samples; doubled whenever they are full


class Indexed:
    """Covariates that are indices of the points of a `Gram`: the N nodes where functions are compared.

    `variance` is the largest prior variance at the nodes, and `dim` the features d of a covariate.
    """

    def __init__(self, gram: Gram):
        self.gram, self.kernel = gram, gram.kernel
        self.variance, self.dim = float(gram.diagonal.max()), gram.points.shape[1]
        self._nodes = slice(None, None, -(-gram.size // MOST_NODES))

    def of(self, x: int, others: list[int]) -> tuple[Floats, Floats, float]:
        """Return k(x, nodes), (N,), k(x, x_i), (m,), and k(x, x)."""
        if not is_integer(x) or not 0 <= x < self.gram.size:
            raise ValueError(f"x must be the index of a point in 0..{self.gram.size - 1}, got {x!r}")
        column = self.gram.column(int(x))
        return column[self._nodes], column[others], float(self.gram.diagonal[x])


class FeatureCovariates:
    """Covariates that are feature vectors, (d,), whose nodes, (N, d), are spread evenly or uniformly."""

    def __init__(self, kernel: Kernel, nodes: Floats):
        self.kernel, self.nodes = kernel, np.asarray(nodes, dtype=np.float64)
        if self.nodes.ndim != 2 or not len(self.nodes) or not np.isfinite(self.nodes).all():
            expected = "a finite array (count, features)"
            raise ValueError(f"nodes must be {expected} of points to compare at, got shape {np.shape(nodes)}")
        self.variance, self.dim = float(np.max(np.asarray(kernel.diag(self.nodes)))), self.nodes.shape[1]

    def of(self, x: Floats, others: list[Floats]) -> tuple[Floats, Floats, float]:
        """Return the same as `Indexed.of`."""
        row = np.atleast_1d(np.asarray(x, dtype=np.float64))
        if row.shape != (self.dim,) or not np.isfinite(row).all():
            raise ValueError(f"x must be {self.dim} finite feature(s), got {x!r}")
        profile = np.asarray(self.kernel(row[None], self.nodes), dtype=np.float64)[0]
        between = np.asarray(self.kernel(row[None], np.array(others)))[0] if others else np.empty(0)
        own = float(np.asarray(self.kernel.diag(row[None]))[0])
        return profile, np.asarray(between, dtype=np.float64), own


Covariates = Indexed | FeatureCovariates


class Tails:
    """The m samples of one sequence, with q responses whose tests share their linear systems.

    A new sample costs O(m N), and the tests after it O(m^4) flops in 2m/3 small systems: the weights of a
    second half are stored until it is a first half. `centred` and `scaled` are as for `ChangePointDetector`.
    """

    def __init__(
        self,
        covariates: Covariates,
        rates: TestRates,
        num_responses: int,
        centred: Bools,
        scaled: bool = False,
    ):
        self.covariates, self.rates, self.centred, self.scaled = covariates, rates, centred, scaled
        self._samples: list[Any] = []
        self._weights: dict[tuple[int, int], Floats] = {}  # (q + 1, n) of the block (start, n)
        self._value = np.empty((FIRST_CAPACITY, num_responses + 1))  # the last is 1: see `_centre`
        self._gram = np.empty((FIRST_CAPACITY, FIRST_CAPACITY))  # K
        self._overlap = np.empty((FIRST_CAPACITY, FIRST_CAPACITY))  # H
        self._profile = np.empty((FIRST_CAPACITY, 0))  # k(x_i, nodes), (m, N)

    @property
    def count(self) -> int:
        """The number of samples m."""
        return len(self._samples)

    @property
    def known(self) -> tuple[Floats, Floats]:
        """K of all samples, (m, m), and their responses less their mean where it is unknown, (m, q)."""
        m, value = self.count, self._value[: self.count, :-1]
        return self._gram[:m, :m], value - self.centred * value.mean(axis=0)

    def go_over_to(self, rates: TestRates) -> None:
        """Replace rho_n in all later tests."""
        self.rates = rates
        self._weights.clear()

    def clear(self) -> None:
        """Clear all samples."""
        self._samples.clear()
        self._weights.clear()

    def insert(self, position: int, x: Any, value: Floats) -> None:
        """Insert a sample with its responses, (q,), before the one at a position, or at the end."""
        profile, between, variance = self.covariates.of(x, self._samples)
        self._reserve(len(profile))
        m, p = self.count, position
        share = PAPER_VOLUME / len(profile)
        overlap = self._profile[:m] @ profile * share
        for rows in (self._value, self._gram, self._overlap, self._profile):
            rows[p + 1 : m + 1] = rows[p:m]
        for square, row, own in (
            (self._gram, between, variance),
            (self._overlap, overlap, profile @ profile * share),
        ):
            square[: m + 1, p + 1 : m + 1] = square[: m + 1, p:m]
            square[p, : m + 1] = square[: m + 1, p] = np.insert(row, p, own)
        self._value[p], self._profile[p] = np.append(value, 1.0), profile
        self._samples.insert(p, x)
        if p < m:  # blocks after it have another start, and those around it are outdated
            self._weights = {
                (start + (start >= p), n): weights
                for (start, n), weights in self._weights.items()
                if start >= p or start + n <= p
            }

    def statistics(self) -> Floats:
        """Return the integrals of (mu_1 - mu_2)^2 for n = 1, ..., floor(m / 2), (h, q)."""
        m, half, responses = self.count, self.count // 2, self._value.shape[1] - 1
        difference = np.zeros((half, responses + 1, m))
        for n in range(1, half + 1):
            first = self._weights.pop((m - 2 * n, n), None)  # its last use as a half
            difference[n - 1, :, m - 2 * n : m - n] = self._solve(m - 2 * n, n) if first is None else first
            second = self._weights[m - n, n] = self._solve(m - n, n)
            np.negative(second, out=difference[n - 1, :, m - n :])
        flat = self._centre(difference).reshape(half * responses, m)
        found = np.vecdot(flat @ self._overlap[:m, :m], flat).reshape(half, responses)
        if not (self.scaled and m):
            return found
        _, value = self.known
        square = (value**2).mean(axis=0)
        constant = square <= ROUNDING * (self._value[:m, :-1] ** 2).mean(axis=0)  # up to rounding
        return found / np.where(constant, np.inf, square)

    def _centre(self, difference: Floats) -> Floats:
        """Return weights of responses less the mean over their tail, (h, q + 1, m) -> (h, q, m)."""
        responses, ones = difference[:, :-1], difference[:, -1:]
        if not self.centred.any():
            return responses
        backwards = self._value[self.count - 1 :: -1, :-1] if self.count else self._value[:0, :-1]
        total = np.cumsum(backwards, axis=0)[1::2]  # of the last 2n
        mean = total / (2.0 * np.arange(1, len(difference) + 1))[:, None]
        return responses - (mean * self.centred)[:, :, None] * ones

    def _solve(self, start: int, n: int) -> Floats:
        """Return (K + n rho_n I)^-1 (y, 1) of the block of n samples, (q + 1, n)."""
        block = slice(start, start + n)
        system = np.array(self._gram[block, block])
        system.ravel()[:: n + 1] += self.rates.penalty(n) * self.covariates.variance
        _, weights, failed = _posv(system.T, self._value[block], overwrite_a=1)
        if failed:
            raise ValueError(f"the kernel is not positive definite at {n} samples; give a larger ridge")
        return weights.T

    def _reserve(self, nodes: int) -> None:
        if self._profile.shape[1] != nodes:
            self._profile = np.empty((len(self._value), nodes))
        more = len(self._value)
        if self.count == more:
            self._value, self._profile = (
                np.pad(rows, ((0, more), (0, 0))) for rows in (self._value, self._profile)
            )
            self._gram, self._overlap = np.pad(self._gram, (0, more)), np.pad(self._overlap, (0, more))


PAPER_THETA = 2.6  # on [0, 5], for functions of prior std 1
PAPER_VOLUME = 5.0  # the measure of the set of covariates: the paper integrates over [0, 5]
READINGS = {"experiments": 5.0, "theory": 1.0}  # c: the paper leaves it open
CROSS_VALIDATED = "cross-validated"  # in place of c
CANDIDATES = tuple(np.geomspace(1e-5, 30.0, 27).tolist())
FEWEST = 8  # samples from which c is chosen
Ridge = Annotated[float, positive('it is the c of rho_n = c n^-e; use 5, or "cross-validated" in a detector')]
Theta = Annotated[Any, positive("inf is for a test that never alarms", infinite=True)]


@dataclass(frozen=True)
class TestRates(Checked):
    """rho_n and theta_n of the test on n + n samples (Avanesov 2020, equation 3.6 and section 4).

    With a the smoothness of the kernel, d the features of a covariate and e = (2a + d) / (2a + d + 1),

        rho_n = c n^-e,    theta_n = theta n^-e.
    """

    __test__ = False  # pytest must not collect it

    exponent: Annotated[float, not_negative("it is (2a + d) / (2a + d + 1)")]  # e
    ridge: Ridge  # c, in units of the prior variance
    theta: Theta  # the statistic that raises an alarm at n = 1; one number, or one a response, (q,)

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        dim: int,
        *,
        variance: float = 1.0,
        ridge: float | None = None,
        theta: float | Floats | None = None,
        reading: str = "experiments",
    ) -> TestRates:
        """Return the paper's rates for a kernel.

        Args:
            kernel: of the function; its smoothness is that of its roughest part, see `order_of`.
            variance: prior variance of the responses, to which the default threshold is proportional.
            ridge: c; default by `reading`.
            theta: default 2.6 times the variance.
            reading: "experiments" (c = 5; 4 to 5 reproduce the paper's curves) or "theory" (c = 1).
        """
        require_choice("reading", reading, READINGS)
        order = 2.0 * order_of(kernel) + dim
        share = 1.0 if math.isinf(order) else order / (order + 1.0)
        given = PAPER_THETA * np.asarray(variance) if theta is None else theta
        return cls(share, READINGS[reading] if ridge is None else ridge, given)

    def penalty(self, n: int) -> float:
        """Return n rho_n, which is added to the Gram matrix of n samples in units of the prior variance."""
        return self.ridge * n ** (1.0 - self.exponent)

    def threshold(self, n: float | Floats | Ints) -> Floats:
        """Return theta_n, (h,) -> (h, q)."""
        return np.multiply.outer(np.asarray(n, dtype=np.float64) ** -self.exponent, np.atleast_1d(self.theta))


def due(count: int) -> bool:
    """Return True if c is chosen anew at so many samples: at 8, 16, 32, ..."""
    return count >= FEWEST and count & (count - 1) == 0


def best_ridge(
    gram: Floats, value: Floats, rates: TestRates, candidates: Sequence[float] = CANDIDATES
) -> float:
    """Return the c with the least error on samples left out one at a time (Avanesov 2020, Remark 3.1).

    In closed form: with A = K + n rho_n I, K (n, n), and y, responses minus their mean, (n, q), the error at
    sample i is (A^-1 y)_i / (A^-1)_ii.
    """
    n, errors = len(value), []
    for c in candidates:
        penalty = replace(rates, ridge=c).penalty(n)
        inverse = np.linalg.inv(gram + penalty * gram.diagonal().max() * np.eye(n))
        errors.append(np.mean((inverse @ value / inverse.diagonal()[:, None]) ** 2))
    return float(candidates[int(np.argmin(errors))])
