"""A change-point detector for regression, the places at which an agent feeds it, and its calibration."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import qmc

from bandit_envs.basics.arguments import (
    require_integer,
    require_not_negative,
    require_probability,
    require_seed,
)
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.gram import Gram
from bandit_envs.problem.setting import Setting

from ..model.model import Model
from ..model.rounds import Delivery
from ..model.units import PriorUnits
from ..options import PerTrial
from .tails import (
    CROSS_VALIDATED,
    Covariates,
    FeatureCovariates,
    Indexed,
    Tails,
    TestRates,
    best_ridge,
    due,
)

NODES = 256  # of the integral over a box, a power of two


class Alarm(NamedTuple):
    """Test with the clearest change: of all tails, the one furthest above its threshold."""

    half: int  # n: the last n samples have another function than the n before them
    response: int  # of the q responses
    statistic: float
    threshold: float


class ChangePointDetector:
    """Detector that tests all even tails of covariate-response pairs (Avanesov 2020, Algorithm 1).

    Ridge regression on each half of the last 2n samples, n = 1, 2, ...; an alarm where the integral of the
    squared difference exceeds theta_n. Covariates must be uniform. Responses are values minus their prior
    mean. Call `reset` after an alarm.

    Args:
        covariates: `FeatureCovariates` or `Indexed`; see `on_points`.
        num_responses: q, each with its own threshold.
        centred: True, where the prior mean is unknown, subtracts from responses the mean of each test's 2n
            samples; one for all, or one a response (q,).
        scaled: True, where the scale is unknown, divides statistics by the mean square of the samples so far;
            theta is then for responses of mean square 1.
        ridge: c of rho_n, default by the reading; "cross-validated" estimates it from the samples, of all
            responses together, at 8, 16, 32, ... since the last reset.
        **options: of `TestRates.of`: theta, reading.
    """

    alarm: Alarm | None  # of the latest sample
    latest: Floats  # its statistics, of the tails of 2n samples, n = 1, ..., floor(m / 2), (h, q)

    def __init__(
        self,
        covariates: Covariates,
        num_responses: int = 1,
        centred: bool | Sequence[bool] = False,
        ridge: float | str | None = None,
        scaled: bool = False,
        **options: Any,
    ):
        require_integer("num_responses", num_responses, 1, "each response is tested")
        self._chooses_ridge = ridge == CROSS_VALIDATED
        given = {"variance": covariates.variance, "ridge": None if self._chooses_ridge else ridge}
        self.rates = TestRates.of(covariates.kernel, covariates.dim, **given, **options)
        self._first_rates = self.rates
        if np.size(self.rates.theta) not in (1, num_responses):
            raise ValueError(f"theta must be one number or {num_responses}, got {self.rates.theta}")
        self.num_responses = num_responses
        switches = np.asarray(centred)
        if switches.dtype != bool or switches.shape not in ((), (num_responses,)):
            raise ValueError(f"centred must be True, False or {num_responses} of them, got {centred!r}")
        each = np.broadcast_to(switches, num_responses)
        self._tails = Tails(covariates, self.rates, num_responses, each, scaled)
        self._time: list[float] = []  # of each sample, ascending
        self.reset()

    @classmethod
    def on_points(cls, gram: Gram, **options: Any) -> ChangePointDetector:
        """Return a detector of samples at indexed points of a prior."""
        return cls(Indexed(gram), **options)

    @property
    def count(self) -> int:
        """The number of samples since the last reset."""
        return self._tails.count

    def append(self, x: Any, y: Any) -> bool:
        """Add a sample later than all others, and test; return whether there is an alarm.

        x are features (d,), or the index of a point, and y is a number, or (q,).
        """
        return self.insert(self._time[-1] + 1.0 if self._time else 0.0, x, y)

    def insert(self, time: float, x: Any, y: Any) -> bool:
        """Add a sample of some time, after those of the same time, and test."""
        position = bisect_right(self._time, time)
        response = np.atleast_1d(np.asarray(y, dtype=np.float64))
        if response.shape != (self.num_responses,) or not np.isfinite(response).all():
            raise ValueError(f"y must be {self.num_responses} finite response(s), got {y!r}")
        self._tails.insert(position, x, response)
        self._time.insert(position, time)
        if self._chooses_ridge and due(self.count):
            self.rates = replace(self.rates, ridge=best_ridge(*self._tails.known, self.rates))
            self._tails.go_over_to(self.rates)
        self.alarm, self.latest = None, self._tails.statistics()
        threshold = self.rates.threshold(np.arange(1, len(self.latest) + 1))
        excess = self.latest / threshold
        if not (excess > 1.0).any():
            return False
        n, k = (int(i) for i in np.unravel_index(excess.argmax(), excess.shape))
        limit = np.broadcast_to(threshold, excess.shape)[n, k]
        self.alarm = Alarm(n + 1, k, float(self.latest[n, k]), float(limit))
        return True

    def reset(self) -> None:
        """Clear all samples."""
        self._tails.clear()
        self._time.clear()
        self.rates = self._first_rates
        self._tails.go_over_to(self.rates)
        self.alarm, self.latest = None, np.empty((0, self.num_responses))


class Places:
    """Builder of an agent's detectors, and conversion of plays to their samples."""

    def __init__(self, model: Model, observed: Model):
        self._model, self.observed = model, observed
        self.prior = PriorUnits.of_setting(observed.setting, observed.prior_std)

    def detector(self, **options: Any) -> ChangePointDetector:
        """Return a new detector."""
        if not self._model.setting.continuous:
            return ChangePointDetector.on_points(self.observed.gram, **options)
        nodes = box_nodes(self.observed.setting)
        return ChangePointDetector(FeatureCovariates(self.observed.kernel, nodes), **options)

    def covariates(self, point: Ints) -> list[Any]:
        """Return the covariates of plays, (n,)."""
        return list(self._model.gram.points[point]) if self._model.setting.continuous else point.tolist()

    def values(self, delivery: Delivery) -> Floats:
        """Rewards less their prior means, and costs in units in which they vary as rewards do, (n, 1 + C)."""
        reward = delivery.reward - self.prior_mean(delivery.trial, delivery.point)
        return np.column_stack([reward, delivery.cost * self.prior.beside_reward])

    def prior_mean(self, trial: Ints, point: Ints) -> Floats:
        """Return the prior mean of the reward, (n,) each -> (n,)."""
        mean = np.asarray(self.observed.prior_mean, dtype=np.float64)
        if mean.size == 1:
            return np.full(len(point), mean.item())
        return mean[point] if mean.ndim == 1 else mean[trial, 0]


def representative_gram(model: Model) -> Gram:
    """Return the prior covariance on the points, or on well spread points of a box."""
    if not model.setting.continuous:
        return model.gram
    return Gram(model.kernel, box_nodes(model.setting))


def box_nodes(setting: Setting) -> Floats:
    """Return Sobol's points of a box, each finite context as often, (n, dz + d)."""
    low, high = setting.low, setting.high
    assert low is not None
    assert high is not None
    if setting.context_low is not None:
        assert setting.context_high is not None
        low, high = np.append(setting.context_low, low), np.append(setting.context_high, high)
    unit = qmc.Sobol(len(low), scramble=False).random(NODES)
    nodes = low + (high - low) * unit
    if setting.contexts is None:
        return nodes
    turns = np.arange(NODES) % len(setting.contexts)
    return np.hstack([setting.contexts[turns], nodes])


PER_DESIGN = 10  # functions on one sequence of covariates, which share its linear systems
MOST_SIMULATED = 128  # samples, in a few seconds; the cost grows with their fourth power
MOST_SIMULATED_ALONE = 64  # where each function needs its own linear systems


def calibrate(
    gram: Gram,
    noise_std: PerTrial,
    samples: int,
    rate: float,
    *,
    runs: int = 200,
    seed: int = 0,
    **options: Any,
) -> float:
    """Return the theta with which a sequence without a change raises a false alarm at a stated rate.

    It is the 1 - rate quantile of the largest statistic * n^e of f ~ GP at uniform points with Gaussian noise
    in `runs` simulated sequences, ten of which share their points. Deterministic given the seed, in a few
    seconds: beyond 128 samples the threshold is extrapolated as a power of the length, fitted to its growth
    from 64 to 128; the threshold itself grows more slowly. A cross-validated ridge is each sequence's own, as
    in use; then 64 samples are simulated, in ten seconds.

    Args:
        samples: length of the sequence: with forced exploration about sqrt(xi^2 T) of T rounds.
        rate: probability of at least one false alarm in a sequence.
        **options: of the detector, apart from theta.
    """
    require_not_negative("noise_std", noise_std, "it is the standard deviation of the noise")
    require_probability("rate", rate, "give the probability of a false alarm in a sequence, such as 0.1")
    require_integer("samples", samples, 2, "it is the length of a sequence")
    require_integer("runs", runs, 1, "it is the number of simulated sequences")
    require_seed("seed", seed)
    alone = options.get("ridge") == CROSS_VALIDATED
    together = 1 if alone else PER_DESIGN
    designs = np.random.default_rng(seed).spawn(-(-runs // together))
    simulated = min(samples, MOST_SIMULATED, MOST_SIMULATED_ALONE if alone else samples)
    each = []  # statistics of stationary sequences at the same points, (m, q) each
    for rng in designs:
        point = rng.integers(gram.size, size=simulated)
        value = _functions(gram, point, together, rng)
        value = value + noise_std * rng.standard_normal((simulated, together))
        detector = ChangePointDetector.on_points(gram, num_responses=together, **options)
        each.append(largest_statistics(detector, point, value))
    largest = np.hstack(each)
    half, whole = np.quantile(largest[[simulated // 2 - 1, -1]], 1.0 - rate, axis=1, method="higher")
    return float(whole if samples == simulated else whole * (whole / half) ** np.log2(samples / simulated))


def _functions(gram: Gram, point: Ints, count: int, rng: np.random.Generator) -> Floats:
    """Draw functions at some points, (m,) -> (m, q); on a large set only there."""
    if gram.has_quick_root:
        drawn = np.array([gram.white(rng) for _ in range(count)]) @ gram.root
        return drawn[:, point].T
    own, place = np.unique(point, return_inverse=True)
    few = Gram(gram.kernel, gram.points[own])
    return (np.array([few.white(rng) for _ in range(count)]) @ few.root)[:, place].T


def largest_statistics(detector: ChangePointDetector, x: Any, y: Floats) -> Floats:
    """Return the smallest theta without an alarm so far, the largest statistic * n^e, (m, q)."""
    detector.reset()
    largest = np.zeros((len(x), detector.num_responses))
    for i, (where, what) in enumerate(zip(x, y, strict=True)):
        detector.append(where, what)
        statistics = detector.latest
        scale = np.arange(1, len(statistics) + 1) ** detector.rates.exponent
        largest[i] = (statistics * scale[:, None]).max(axis=0, initial=0.0)
    return np.maximum.accumulate(largest)
