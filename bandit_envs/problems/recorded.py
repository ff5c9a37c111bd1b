"""Define problems on recorded sensors: find the sensor with the largest reading at one test time."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, require, require_size, require_switch, shown
from bandit_envs.kernels.kernels import TableKernel
from bandit_envs.laws.drift import Replay
from bandit_envs.laws.functions import Moments
from bandit_envs.laws.tabulated import RecordedValues
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.features import compose, with_defaults

if TYPE_CHECKING:
    from bandit_envs.data import Recordings

NOISE_SHARE = 0.05  # of the average empirical variance
DARK = 0.0  # the least possible reading of a light sensor


def intel_temperature(**keywords: Any) -> Problem:
    """Find the warmest of 50 sensors in the Intel Berkeley lab (Srinivas et al. 2010).

    Each trial is one of 96 test times; the kernel is the empirical covariance between sensors over 144
    training times; the noise variance is 5 % of the average variance (also Chowdhury & Gopalan 2017).
    Action: `Discrete(50)`, a sensor. Observation: a constant 0. Reward: its reading + noise. Info:
    see docs/environments.md. Regret: warmest reading - that of the sensor. The horizon is the number of
    sensors, as in Srinivas et al. Keywords: see `sensors`.

    Example:
        >>> env = gym.make("GPBandit-IntelTemperature-v0")  # needs the measurements
    """
    from bandit_envs.data import intel_temperature as load

    return sensors("intel-temperature", load(), None, **keywords)


def cmu_light(**keywords: Any) -> Problem:
    """Find the brightest of 41 sensors in the CMU Intelligent Workplace (Chowdhury & Gopalan 2017, Fig. 4b).

    Each trial is one of 192 test times; the noise variance is 5 % of the average variance over 601 training
    times. No model is published: the test times are brighter than the training times by a prior std, and
    single sensors by up to 13. `publish_model=True` publishes the paper's, whose kernel is the empirical
    covariance between sensors over the training times. Action: `Discrete(41)`, a sensor. Observation: a
    constant 0. Reward: its reading + noise. Info: see docs/environments.md. Regret: brightest reading -
    that of the sensor. Keywords: see `sensors`.

    Example:
        >>> env = gym.make("GPBandit-CMULight-v0", publish_model=True)  # needs the measurements
    """
    from bandit_envs.data import cmu_light as load

    return sensors("cmu-light", load(), DARK, **with_defaults(keywords, publish_model=False))


def sensors(
    name: str,
    recordings: "Recordings",
    least: float | None,
    *,
    standardize: bool = True,
    replay: bool = False,
    hold: int = 1,
    continuous: bool = False,
    **features: Any,
) -> Problem:
    """Find the sensor with the largest reading at one test time a trial.

    Args:
        name, recordings, least: of the problem, its measurements, and the least possible reading.
        standardize: rewards in standard deviations around the training mean, not degrees C: widths mix
            B and R, and in degrees R dominates.
        replay: play the test times in their order, as one changing problem, instead of one time a trial; the
            trials then differ in their noise alone.
        hold: rounds for which each time lasts; the horizon is at most, and by default, `hold` times 96.
        continuous: must be False; sensors have no positions between them.
        **features: see `bandit_envs.problems.features.compose`; the prior mean is that of each sensor over
            the training times.
    """
    require_switch("standardize", standardize)
    require_switch("replay", replay)
    require_size("hold", hold)
    require(replay or hold == 1, "hold", "left out, or 1, where replay is False", hold)
    train, test = recordings
    shift = float(train.mean()) if standardize else 0.0
    scale = float(np.sqrt(train.var(axis=0, ddof=1).mean())) if standardize else 1.0
    train, test = (train - shift) / scale, (test - shift) / scale
    require_size("hold", hold, len(test))
    covariance = np.cov(train, rowvar=False)
    noise_std = float(np.sqrt(NOISE_SHARE * np.diag(covariance).mean()))
    places = np.arange(train.shape[1], dtype=np.float64)[:, None]
    time = {"drift": Replay(hold), "horizon": len(test) * hold} if replay else {"horizon": len(places)}
    if replay and features.get("drift") is not None:
        raise ArgumentError("drift", f"must be None where replay is True, got {shown(features['drift'])}")
    chosen = {key: value for key, value in features.items() if key != "drift" or not replay}
    return compose(
        Decisions(places, continuous=continuous),
        RecordedValues(test, None if least is None else (least - shift) / scale, Moments(train.mean(axis=0))),
        TableKernel(covariance),
        name=name,
        **with_defaults(chosen, noise_std=noise_std, **time),
    )
