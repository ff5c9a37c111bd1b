"""Change-points of an unknown function, found from samples at uniform points (Avanesov 2020)."""

from .calibration import calibrate
from .detector import Alarm, ChangePointDetector, Found, detect
from .rates import READINGS, TestRates

__all__ = ["READINGS", "Alarm", "ChangePointDetector", "Found", "TestRates", "calibrate", "detect"]
