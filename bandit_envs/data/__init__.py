"""Real data: public measurements, found or downloaded, and tables of our own training runs."""

from bandit_envs.data.files import find, locate
from bandit_envs.data.recordings import Recordings, cmu_light, intel_temperature
from bandit_envs.data.tuning import TuningTable, logistic_tuning

__all__ = ["Recordings", "TuningTable", "cmu_light", "find", "intel_temperature", "locate", "logistic_tuning"]
