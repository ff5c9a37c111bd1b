"""The ridge and the threshold of the change-point test by the number of samples, or by cross-validation.

With a the smoothness of the kernel, d the features of a covariate and e = (2a + d) / (2a + d + 1),

    rho_n = c n^-e,    theta_n = theta n^-e    (Avanesov 2020, equation 3.6 and section 4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.arguments import require, require_choice, require_not_negative, require_positive
from bandit_envs.basics.types import Floats, Ints

from ...kernels.amplitude import order_of

PAPER_THETA = 2.6  # on [0, 5], for functions of prior std 1
PAPER_VOLUME = 5.0
READINGS = {"experiments": 5.0, "theory": 1.0}  # c: the paper leaves it open
CROSS_VALIDATED = "cross-validated"  # in place of c
CANDIDATES = tuple(np.geomspace(1e-5, 30.0, 27).tolist())
FEWEST = 8  # samples from which c is chosen


@dataclass(frozen=True)
class TestRates:
    """rho_n and theta_n of the test on n + n samples (Avanesov 2020, equation 3.6 and section 4).

    With a the smoothness of the kernel, d the features of a covariate and e = (2a + d) / (2a + d + 1),

        rho_n = c n^-e,    theta_n = theta n^-e.
    """

    __test__ = False  # pytest must not collect it

    exponent: float  # e
    ridge: float  # c, in units of the prior variance
    theta: float | Floats  # the statistic that raises an alarm at n = 1; one number, or one a response, (q,)

    def __post_init__(self) -> None:
        require_not_negative("exponent", self.exponent, "it is (2a + d) / (2a + d + 1)")
        require_positive(
            "ridge", self.ridge, 'it is the c of rho_n = c n^-e; use 5, or "cross-validated" in a detector'
        )
        theta = np.asarray(self.theta)
        positive = theta.dtype.kind in "iuf" and (theta > 0).all()  # NaN is not
        require(positive, "theta", "positive, and inf for a test that never alarms", self.theta)

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        dim: int,
        *,
        volume: float = PAPER_VOLUME,
        variance: float | Floats = 1.0,
        smoothness: float | None = None,
        ridge: float | None = None,
        theta: float | Floats | None = None,
        reading: str = "experiments",
    ) -> TestRates:
        """Return the paper's rates for a kernel.

        Args:
            kernel: of the function; its smoothness is the smallest of its parts' (Matern: nu; squared
                exponential, rational quadratic, linear: infinite). Other kernels get the paper's 5/2.
            volume: the measure of the statistic's integral over the covariates; the default threshold is
                proportional to it, so that it has no effect by itself. The paper integrates over [0, 5].
            variance: prior variance of the responses, to which the default threshold is proportional.
            smoothness: a, in place of the kernel's.
            ridge: c; default by `reading`.
            theta: of the integral as scaled by `volume`; default 2.6 volume / 5 times the variance.
            reading: "experiments" (c = 5; 4 to 5 reproduce the paper's curves) or "theory" (c = 1).
        """
        require_choice("reading", reading, READINGS)
        require_positive("volume", volume, "it is the measure of the set of covariates")
        rough = order_of(kernel) if smoothness is None else smoothness
        require(rough > 0, "smoothness", "positive: the nu of a Matern kernel, or inf", rough)
        order = 2.0 * rough + dim
        share = 1.0 if math.isinf(order) else order / (order + 1.0)
        given = PAPER_THETA * volume / PAPER_VOLUME * np.asarray(variance) if theta is None else theta
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
    errors = [_left_out(gram, value, replace(rates, ridge=c)) for c in candidates]
    return float(candidates[int(np.argmin(errors))])


def _left_out(gram: Floats, value: Floats, rates: TestRates) -> float:
    n = len(value)
    inverse = np.linalg.inv(gram + rates.penalty(n) * gram.diagonal().max() * np.eye(n))
    return float(np.mean((inverse @ value / inverse.diagonal()[:, None]) ** 2))
