"""What a play that is still running tells of its price, where time is paid for: at least what it took so far.

Quick plays are delivered first, so that all that is known says that plays are cheap, and a dear one is
repeated until the first of its kind is delivered. Where prices k and delays d of delivered plays are
proportional, to be seen by the correlation of log k with log(d + 1/2), the price of a play that has been
running for e rounds is at least the median of k / (d + 1/2), times e + 1/2; of a play whose feedback is lost
e stays the first delay that is too long.

With m and u^2 the mean and the variance of a value of that play, and b the bound, its value is taken to be

    m + u lambda,     lambda = phi(z) / Phi(-z),     z = (b - m) / u,

the mean of a normal variable that is at least b, where the bound tells something (z > -2). It raises the
score of digits-everything by .049 +- .005 (20 trials), and that of four tables of HPOLib, in 27 of 32 trials,
by .025 +- .012; a value as unsure as the bound leaves it raises the former by .033 +- .004.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr

from bandit_envs.basics.types import Floats, Ints

from .posterior import SurrogatePosterior, with_values

ALIKE = 0.8  # correlation of the logarithms above which a price is taken for the time that a play takes
ROUNDING = 1e-9  # of logarithms, which are equal where they differ by less
FEWEST = 3  # delivered plays that tell of it
TELLING = -2.0  # z above which a bound tells something


class RunningTimes:
    """Prices and delays of delivered plays; feedback after `max_delay` rounds is lost, and tells no more."""

    def __init__(self, max_delay: int) -> None:
        self._longest = max_delay + 1
        self._prices: list[float] = []
        self._delays: list[int] = []

    def add(self, price: float, delay: int) -> None:
        """Add a play whose feedback took so many rounds."""
        self._prices.append(price)
        self._delays.append(delay)

    def least_prices(self, elapsed: Ints) -> Floats | None:
        """Return lower bounds on the prices of plays that have run so many rounds, (n,); None without any."""
        price, delay = np.array(self._prices), np.array(self._delays) + 0.5
        if len(price) < FEWEST or not len(elapsed) or price.min() <= 0.0:
            return None
        logarithms = np.log(price), np.log(delay)
        if min(map(np.ptp, logarithms)) < ROUNDING or np.corrcoef(*logarithms)[0, 1] <= ALIKE:
            return None
        rate = float(np.median(price / delay))
        return rate * (np.minimum(elapsed, self._longest) + 0.5)


def at_least(posterior: SurrogatePosterior, points: Ints, bounds: Floats) -> SurrogatePosterior:
    """Return the posterior where values of some points are bounded below, in the model's unit, (n,) each.

    Of the plays of a point the longest one counts, and none where a value was delivered.
    """
    order = np.argsort(-bounds, kind="stable")
    fresh, first = np.unique(points[order], return_index=True)
    new = ~np.isin(fresh, posterior.seen.point)
    fresh, bound = fresh[new], bounds[order][first][new]
    if not len(fresh):
        return posterior
    found = posterior.at(fresh)
    std = np.sqrt(found.known + posterior.surrogate.noise(posterior.theta))
    z = (bound - found.mean) / std
    value = found.mean + std * np.exp(-0.5 * (z * z + math.log(2.0 * math.pi)) - log_ndtr(-z))
    tells = z > TELLING
    return with_values(posterior, fresh[tells], value[tells]) if tells.any() else posterior
