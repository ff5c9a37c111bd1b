"""A change-point detector with ridge and threshold calibrated to each trial's own noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram

from ..model.model import Model
from ..model.noise import NOISE_FLOOR
from ..model.units import PriorUnits, known_per_cost
from ..validation import PerTrial
from .detection import calibrate
from .detection.places import representative_gram
from .forced_exploration import uniform_rounds
from .on_alarm import OnAlarm

UNKNOWN_NOISE = (0.1, 1.0, 10.0)  # prior stds that are tried where the noise is unknown
UNKNOWN_RIDGE = 1.0  # with which noise and functions raise statistics of the same order
SAMPLED = 500  # points whose covariance identifies a prior that is too large to hash
_thresholds: dict[tuple[Any, ...], float] = {}  # cache of this process, by all inputs of a calibration


@dataclass(frozen=True, eq=False)
class CalibratedAlarm:
    """Builder of `OnAlarm` for any number of trials.

    Where the noise is neither published nor given, the scale of responses is that of the samples, the ridge
    is `UNKNOWN_RIDGE`, and theta is the largest of those for little, some and much noise.

    Args:
        observed: the model of the reward: its kernel and, where the setting publishes none, its noise.
        xi_squared: of the exploration; it determines the number of samples of a run.
        false_alarm_rate: bound on the probability of a false alarm in a whole run without a change; the
            reward and each of C costs take an equal share of it. Costs, whose means are unknown, are centred,
            but use the threshold of a reward with a known mean: their false alarms are rarer.
        theta: in place of the rate.
        ridge: c of the detector, or "cross-validated"; None for the reading's, or the noise variance where
            `ridge_of_noise`.
        reading: of the detector.
        noise_std: given by the user, None for each trial's own.
    """

    observed: Model
    xi_squared: float
    false_alarm_rate: float | None
    theta: float | Floats | None = None
    ridge: float | str | None = None
    ridge_of_noise: bool = False
    reading: str = "experiments"
    noise_std: PerTrial | None = None

    @property
    def noise_is_known(self) -> bool:
        """True if the noise is given or published."""
        return self.noise_std is not None or self.observed.noise_is_known

    def __call__(self, model: Model, num_trials: int) -> OnAlarm:
        """Return the detectors of the trials of a model: all of a batch, or one of it."""
        each = []
        for noise in self._noise(model, num_trials).tolist():
            options = {**self._test(noise), "theta": self._threshold(noise)}
            each.append({name: value for name, value in options.items() if value is not None})
        return OnAlarm(model, num_trials, observed=self.observed, each=each)

    def of_trial(self, trial: int) -> CalibratedAlarm:
        """Return the builder for one trial of a batch; a theta is one number a response, not one a trial."""
        noise = self.noise_std[trial].item() if isinstance(self.noise_std, np.ndarray) else self.noise_std
        return replace(self, observed=self.observed.of_trial(trial), noise_std=noise)

    def _noise(self, model: Model, num_trials: int) -> Floats:
        """Return the noise std of the reward in each trial, (B,)."""
        known = (self.noise_std, model.setting.noise_std, self.observed.noise_std)
        chosen = next(value for value in known if value is not None)
        return np.broadcast_to(np.asarray(chosen, dtype=np.float64), num_trials)

    def _test(self, noise: float) -> dict[str, Any]:
        """Return ridge and scale of the detector."""
        scaled = not self.noise_is_known and self.theta is None and self.false_alarm_rate is not None
        ridge = UNKNOWN_RIDGE if scaled and self.ridge is None else self._ridge(noise)
        return {"ridge": ridge, "reading": self.reading, **({"scaled": True} if scaled else {})}

    def _ridge(self, noise: float) -> float | str | None:
        if self.ridge is not None or not self.ridge_of_noise:
            return self.ridge
        return max((noise / self.observed.deviation) ** 2, NOISE_FLOOR)

    @property
    def _cost_noise(self) -> Floats:
        """Noise stds of costs in units in which these vary as the reward does, (C,); 0 if withheld."""
        setting = self.observed.setting
        known = known_per_cost("constraint_noise_std", setting, None)
        prior = PriorUnits.of_setting(setting, self.observed.deviation)
        return np.zeros(len(prior.costs)) if known is None else known * prior.beside_reward

    def _threshold(self, noise: float) -> float | Floats | None:
        if self.theta is not None or self.false_alarm_rate is None:
            return self.theta
        setting, test = self.observed.setting, self._test(noise)
        unknown = [share * self.observed.deviation for share in UNKNOWN_NOISE]
        known = [max([noise, *self._cost_noise.tolist()])]
        return max(
            _calibrated(
                representative_gram(self.observed),
                each,
                max(uniform_rounds(setting.horizon, self.xi_squared), 2),
                self.false_alarm_rate / (1 + setting.num_constraints),
                **test,
                centred=not self.observed.mean_is_known,
            )
            for each in (unknown if "scaled" in test else known)
        )


def _calibrated(gram: Gram, noise: float, samples: int, rate: float, **options: Any) -> float:
    """Return the threshold, simulated once a process, because trials, agents and cells share it."""
    key = (_fingerprint(gram), noise, samples, rate, *options.items())
    if key not in _thresholds:
        _thresholds[key] = calibrate(gram, noise, samples, rate, **options)
    return _thresholds[key]


def _fingerprint(gram: Gram) -> bytes:
    """Return a hash of a prior: its kernel, its points and their covariance, or that of some."""
    digest = blake2b(repr(gram.kernel).encode(), digest_size=16)
    sample = gram if gram.has_quick_root else gram.some(SAMPLED)
    for array in (gram.points, sample.root):
        digest.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    return digest.digest()
