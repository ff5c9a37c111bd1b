"""Change-points of an unknown function, found from samples at uniform points (Avanesov 2020)."""

from .calibration import calibrate
from .detector import Alarm, ChangePointDetector, Found, detect
from .rates import READINGS, TestRates
from .tuning import cross_validated_ridge, typical_theta

__all__ = [
    "READINGS",
    "Alarm",
    "ChangePointDetector",
    "Found",
    "TestRates",
    "calibrate",
    "cross_validated_ridge",
    "detect",
    "typical_theta",
]
