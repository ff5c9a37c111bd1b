"""Alarms on standardised residuals: likelihood ratio, run lengths (BOCPD), event-triggered, calibrated.

`LikelihoodRatio` is the Gaussian generalised likelihood ratio of the mean of residuals e_t = (y_t -
mu_{t-1}(x_t)) / sqrt(sigma_{t-1}^2(x_t) + lambda), independent N(0, 1) without a change. After n values, with
m_1, m_2, m the means of the first s, of the others and of all,

    max_s  s kl(m_1, m) + (n - s) kl(m_2, m) >= (1 + 1/n) ln(2 n^(3/2) / delta),    kl(a, b) = (a - b)^2 / 2,

as in SMPyBandits; its use on the residuals of a Gaussian process is ours.

`RunLengths` alarms when the likeliest start of the present segment jumps forward (Adams & MacKay 2007; with
Gaussian processes Saatci et al. 2010): before each value p(start = now) = H and p(start = s) *= 1 - H, then
each is multiplied by N(y; mu_s(x), sigma_s^2(x) + lambda), mu_s and sigma_s from the plays since s. H is one
over the expected length of a segment (from memory). The rate of false alarms has no bound.

`EventTriggered` alarms when a value lies outside the band of posterior and noise (Brunzema et al. 2025): with
n plays since the restart, the new one included, pi_n = pi^2 n^2 / 6 and the posterior before it,

    |y - mu(x)| > sqrt(r) sigma(x) + sqrt(2 R^2 ln(2 pi_n / delta)),    r = 2 ln(2 pi_n / delta).

It is ET-GP-UCB's trigger without its code's factors for hardware (delta = 0.1 is from memory); the value that
triggers is the first of the new posterior (our reading). It holds, with probability 1 - delta at the played
points, for f ~ GP(prior) and Gaussian noise of variance R^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram

from ..model.defaults import NOISE_FLOOR
from ..model.model import Model
from ..model.units import PriorUnits, known_per_cost
from ..options import PerTrial
from .detector import calibrate, representative_gram
from .on_alarm import OnAlarm, uniform_rounds
from .outcomes import Outcomes, ValueModel

FIRST_CAPACITY = 64  # values; doubled whenever they are full
NEGLIGIBLE = math.log(1e-6)  # share of the largest weight
UNKNOWN_NOISE = (0.1, 1.0, 10.0)  # prior stds that are tried where the noise is unknown
UNKNOWN_RIDGE = 1.0  # with which noise and functions raise statistics of the same order
SAMPLED = 500  # points whose covariance identifies a prior that is too large to hash
_thresholds: dict[tuple[Any, ...], float] = {}  # cache of this process, by all inputs of a calibration


class LikelihoodRatio:
    """Detector on the residuals of one trial; O(n) a value. Reward and C costs share delta equally."""

    def __init__(self, value_model: ValueModel, *, false_alarm_rate: float = 0.1):
        self._outcomes = Outcomes(value_model)
        self._delta = false_alarm_rate / (1 + value_model.num_costs)
        self._sums = np.zeros((FIRST_CAPACITY, 1 + value_model.num_costs))  # of the first 0, 1, ... residuals
        self._age = np.zeros(FIRST_CAPACITY, dtype=np.int64)  # of the value after so many
        self._count = 0

    def observe(self, age: int, point: int, value: Floats, share: float) -> int | None:
        """Observe a value, see `Watch`; after a change plays are kept from the likeliest change on."""
        residual = self._outcomes.expected(point, share).residual(value)[0, 0]
        self._outcomes.learn(point, value, share)
        n, capacity = self._count + 1, len(self._sums)
        if n == capacity:
            self._sums = np.pad(self._sums, ((0, capacity), (0, 0)))
            self._age = np.pad(self._age, (0, capacity))
        self._age[n - 1], self._sums[n], self._count = age, self._sums[n - 1] + residual, n
        if n < 2:
            return None
        largest = self.statistics.max(axis=1)  # of the reward and the costs
        if largest.max() < (1.0 + 1.0 / n) * math.log(2.0 * n**1.5 / self._delta):
            return None
        return int(self._age[1 + np.argmax(largest)])

    @property
    def statistics(self) -> Floats:
        """Statistics of a change after s = 1, ..., n - 1 values, (n - 1, 1 + C)."""
        n, sums = self._count, self._sums[: self._count + 1]
        s, total = np.arange(1, n)[:, None], sums[n]
        before, after, mean = sums[1:n] / s, (total - sums[1:n]) / (n - s), total / n
        return 0.5 * (s * (before - mean) ** 2 + (n - s) * (after - mean) ** 2)


class RunLengths:
    """The starts of one trial and their probabilities, given the expected rounds of a segment, 1 / H."""

    def __init__(self, value_model: ValueModel, *, segment: float):
        self._outcomes = Outcomes(value_model)
        self._start, self._log_weight = np.zeros(1, dtype=np.int64), np.zeros(1)
        self._stay, self._change = math.log1p(-1.0 / segment), -math.log(segment)
        self._likeliest = 0

    def observe(self, age: int, point: int, value: Floats, share: float) -> int | None:
        """Observe a value, see `Watch`; after a change plays are kept from the likeliest start on."""
        if age > 0:
            self._outcomes.begin()
            self._start = np.append(self._start, age)
            self._log_weight = np.append(self._log_weight + self._stay, self._change)
        density = self._outcomes.expected(point, share).log_density(value)[0]
        self._outcomes.learn(point, value, share)
        log_weight = self._log_weight + density
        kept = log_weight >= log_weight.max() + NEGLIGIBLE
        self._outcomes.keep(kept)
        self._start, left = self._start[kept], log_weight[kept]
        self._log_weight = left - np.logaddexp.reduce(left)
        likeliest = int(self._start[np.argmax(self._log_weight)])
        jumped, self._likeliest = likeliest > self._likeliest, likeliest
        return likeliest if jumped else None


class EventTriggered:
    """Trigger of one trial; reward and C costs share delta equally."""

    def __init__(self, value_model: ValueModel, *, false_alarm_rate: float = 0.1):
        self._outcomes, self._count = Outcomes(value_model), 0
        self._delta = false_alarm_rate / (1 + value_model.num_costs)

    def observe(self, age: int, point: int, value: Floats, share: float) -> int | None:
        """Observe a value, see `Watch`; after a change the play that triggered is the first that is kept."""
        self._count += 1
        expected = self._outcomes.expected(point, share)
        r = 2.0 * math.log(math.pi**2 * self._count**2 / (3.0 * self._delta))
        allowed = np.sqrt(r * expected.variance) + np.sqrt(r * expected.noise)
        if (np.abs(value - expected.mean) > allowed).any():
            return age
        self._outcomes.learn(point, value, share)
        return None


@dataclass(frozen=True, eq=False)
class CalibratedAlarm:
    """Builder of `OnAlarm` for any number of trials, with the detector's options as for `gp_ucb_cpd`.

    Where the noise is neither published nor given, responses have the scale of the samples, the ridge is
    `UNKNOWN_RIDGE`, and theta is the largest of those for little, some and much noise. The reward and each of
    C costs take an equal share of the rate; costs are centred, with the threshold of a known mean.
    """

    observed: Model  # of the reward; its noise where the setting publishes none
    xi_squared: float
    false_alarm_rate: float | None
    theta: float | Floats | None = None
    ridge: float | str | None = None  # None for the reading's, or the noise variance where `ridge_of_noise`
    ridge_of_noise: bool = False
    reading: str = "experiments"
    noise_std: PerTrial | None = None  # given by the user, None for each trial's own

    @property
    def noise_is_known(self) -> bool:
        """True if the noise is given or published."""
        return self.noise_std is not None or self.observed.noise_is_known

    def __call__(self, model: Model, num_trials: int) -> OnAlarm:
        """Return the detectors of the trials of a model: all of a batch, or one of it."""
        known, each = (self.noise_std, model.setting.noise_std, self.observed.noise_std), []
        chosen = next(value for value in known if value is not None)
        for noise in np.broadcast_to(np.asarray(chosen, dtype=np.float64), num_trials).tolist():
            options = {**self._test(noise), "theta": self._threshold(noise)}
            each.append({name: value for name, value in options.items() if value is not None})
        return OnAlarm(model, observed=self.observed, each=each)

    def of_trial(self, trial: int) -> CalibratedAlarm:
        """Return the builder for one trial of a batch; a theta is one number a response, not one a trial."""
        noise = self.noise_std[trial].item() if isinstance(self.noise_std, np.ndarray) else self.noise_std
        return replace(self, observed=self.observed.of_trial(trial), noise_std=noise)

    def _test(self, noise: float) -> dict[str, Any]:
        scaled = not self.noise_is_known and self.theta is None and self.false_alarm_rate is not None
        ridge = self.ridge
        if ridge is None and scaled:
            ridge = UNKNOWN_RIDGE
        elif ridge is None and self.ridge_of_noise:
            ridge = max((noise / self.observed.prior_std) ** 2, NOISE_FLOOR)
        return {"ridge": ridge, "reading": self.reading, **({"scaled": True} if scaled else {})}

    def _threshold(self, noise: float) -> float | Floats | None:
        if self.theta is not None or self.false_alarm_rate is None:
            return self.theta
        setting, test = self.observed.setting, self._test(noise)
        unknown = [share * self.observed.prior_std for share in UNKNOWN_NOISE]
        prior = PriorUnits.of_setting(setting, self.observed.prior_std)
        stds = known_per_cost("constraint_noise_std", setting, None)
        # As if costs varied like rewards.
        costs = [] if stds is None else (stds * prior.beside_reward).tolist()
        known = [max([noise, *costs])]
        gram, samples = representative_gram(self.observed), uniform_rounds(setting.horizon, self.xi_squared)
        given = max(samples, 2), self.false_alarm_rate / (1 + setting.num_constraints)
        test["centred"] = not self.observed.mean_is_known
        noises = unknown if "scaled" in test else known
        keys = [(_fingerprint(gram), each, *given, *test.items()) for each in noises]
        for each, key in zip(noises, keys, strict=True):
            if key not in _thresholds:  # simulated once a process: trials, agents and cells share it
                _thresholds[key] = calibrate(gram, each, *given, **test)
        return max(_thresholds[key] for key in keys)


def _fingerprint(gram: Gram) -> bytes:
    """Return a hash of a prior: its kernel, its points and their covariance, or that of some."""
    digest = blake2b(repr(gram.kernel).encode(), digest_size=16)
    sample = gram if gram.has_quick_root else gram.some(SAMPLED)
    for array in (gram.points, sample.root):
        digest.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    return digest.digest()
