"""A change-point detector for regression: has the function behind the latest samples changed?"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.arguments import is_count
from bandit_envs.basics.types import Bools, Floats
from bandit_envs.kernels.gram import Gram

from . import cross_validation
from .covariates import Covariates, Features, Indexed
from .rates import PAPER_VOLUME, TestRates
from .tails import Tails


class Alarm(NamedTuple):
    """The test that found a change most clearly: of all tails, the one furthest above its threshold."""

    half: int  # n: the last n samples tell of another function than the n before them
    response: int  # of the q responses
    statistic: float
    threshold: float


class ChangePointDetector:
    r"""Tests all even tails of a sequence of covariate-response pairs (Avanesov 2020, Algorithm 1).

    Ridge regression on each half of the last 2n samples, n = 1, 2, ...; an alarm where the integral of the
    squared difference exceeds theta_n. The covariates are to be uniform. Responses are values minus their
    prior mean. After an alarm, `reset`.

    Args:
        covariates: `Features` or `Indexed`; see `on_features` and `on_points`.
        num_responses: q; each is tested, with its own threshold.
        volume: the measure of the set of covariates.
        centred: whether a test takes the mean of its 2n samples from responses, because their prior mean is
            unknown; one for all, or one a response (q,).
        scaled: whether statistics are divided by the mean square of the samples so far, because their scale
            is unknown; theta is then of responses of mean square 1.
        ridge: c of rho_n, default by the reading; "cross-validated" chooses it from the samples, of all
            responses together, whenever there are 8, 16, 32, ... since the last reset.
        **options: of `TestRates.of`: smoothness, theta, reading, variance.
    """

    alarm: Alarm | None  # what the latest sample raised
    latest: Floats  # the statistics after it, of the tails of 2n samples, n = 1, ..., floor(m / 2), (h, q)

    def __init__(
        self,
        covariates: Covariates,
        num_responses: int = 1,
        volume: float = PAPER_VOLUME,
        centred: bool | Sequence[bool] = False,
        ridge: float | str | None = None,
        scaled: bool = False,
        **options: Any,
    ):
        if not is_count(num_responses):
            raise ValueError(f"num_responses must be a positive integer, got {num_responses!r}")
        self._chooses_ridge = ridge == cross_validation.CROSS_VALIDATED
        options = {
            "variance": covariates.variance,
            "ridge": None if self._chooses_ridge else ridge,
            **options,
        }
        self._first_rates = TestRates.of(covariates.kernel, covariates.dim, volume=volume, **options)
        self.rates = self._first_rates
        if np.size(self.rates.theta) not in (1, num_responses):
            raise ValueError(f"theta must be one number or {num_responses}, got {self.rates.theta}")
        self.num_responses = num_responses
        switches = _switches(centred, num_responses)
        self._tails = Tails(covariates, self.rates, num_responses, volume, switches, scaled)
        self._time: list[float] = []  # of each sample, ascending
        self._nothing_found()

    @classmethod
    def on_features(cls, kernel: Kernel, nodes: Floats, **options: Any) -> ChangePointDetector:
        """Take samples anywhere; functions are compared at evenly spread nodes, (N, d)."""
        return cls(Features(kernel, nodes), **options)

    @classmethod
    def on_points(cls, gram: Gram, **options: Any) -> ChangePointDetector:
        """Take samples at indices of the points of a prior."""
        return cls(Indexed(gram), **options)

    @property
    def count(self) -> int:
        """The number of samples since the last reset."""
        return self._tails.count

    def append(self, x: Any, y: Any) -> bool:
        """Add a sample later than all others and test; return whether there is an alarm.

        Args:
            x: its covariate: features (d,), or the index of a point.
            y: its response, a number, or (q,).
        """
        return self.insert(self._time[-1] + 1.0 if self._time else 0.0, x, y)

    def insert(self, time: float, x: Any, y: Any) -> bool:
        """Add a sample that was taken at some time, behind those of the same time, and test."""
        position = bisect_right(self._time, time)
        self._tails.insert(position, x, self._response(y))
        self._time.insert(position, time)
        if self._chooses_ridge and cross_validation.due(self.count):
            self._choose_ridge()
        self.latest = self._tails.statistics()
        self.alarm = self._clearest(self.latest)
        return self.alarm is not None

    def reset(self) -> None:
        """Forget all samples."""
        self._tails.clear()
        self._time.clear()
        self.rates = self._first_rates
        self._tails.go_over_to(self.rates)
        self._nothing_found()

    def _choose_ridge(self) -> None:
        ridge = cross_validation.best_ridge(*self._tails.known, self.rates)
        self.rates = replace(self.rates, ridge=ridge)
        self._tails.go_over_to(self.rates)

    def _nothing_found(self) -> None:
        self.alarm, self.latest = None, np.empty((0, self.num_responses))

    def _clearest(self, statistics: Floats) -> Alarm | None:
        threshold = self.rates.threshold(np.arange(1, len(statistics) + 1))
        excess = statistics / threshold
        if not (excess > 1.0).any():
            return None
        n, k = (int(i) for i in np.unravel_index(excess.argmax(), excess.shape))
        limit = np.broadcast_to(threshold, excess.shape)[n, k]
        return Alarm(n + 1, k, float(statistics[n, k]), float(limit))

    def _response(self, y: Any) -> Floats:
        response = np.atleast_1d(np.asarray(y, dtype=np.float64))
        if response.shape != (self.num_responses,) or not np.isfinite(response).all():
            raise ValueError(f"y must be {self.num_responses} finite response(s), got {y!r}")
        return response


def _switches(centred: bool | Sequence[bool], num_responses: int) -> Bools:
    given = np.asarray(centred)
    if given.dtype != bool or given.shape not in ((), (num_responses,)):
        raise ValueError(f"centred must be True, False or {num_responses} of them, got {centred!r}")
    return np.broadcast_to(given, num_responses)


class Found(NamedTuple):
    """A change in a sequence: before the sample that raised the alarm and among its tail's 2n samples."""

    sample: int  # index of the one that raised the alarm
    alarm: Alarm


def detect(detector: ChangePointDetector, x: Iterable[Any], y: Iterable[Any]) -> list[Found]:
    """Find the changes in a whole sequence; the detector starts again after each.

    Args:
        detector: is reset first.
        x, y: covariates and responses in the order in which they were taken.
    """
    detector.reset()
    found = []
    for i, (where, what) in enumerate(zip(x, y, strict=True)):
        if detector.append(where, what) and detector.alarm is not None:
            found.append(Found(i, detector.alarm))
            detector.reset()
    return found
