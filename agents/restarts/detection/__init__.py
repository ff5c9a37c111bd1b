"""Change-points of an unknown function, found from samples at uniform points (Avanesov 2020)."""

from .detector import Alarm, ChangePointDetector, Found, calibrate, detect
from .tails import READINGS, TestRates

__all__ = ["READINGS", "Alarm", "ChangePointDetector", "Found", "TestRates", "calibrate", "detect"]
