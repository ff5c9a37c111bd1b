"""Define the laws of the unknown reward and constraint functions."""

from bandit_envs.laws.functions.base import SELDOM_BELOW, FunctionLaw, Moments, OfBoundedNorm
from bandit_envs.laws.functions.given import KnownFunction, Recorded
from bandit_envs.laws.functions.random import GPSample, RKHSFunction

__all__ = [
    "LAWS",
    "SELDOM_BELOW",
    "FunctionLaw",
    "GPSample",
    "KnownFunction",
    "Moments",
    "OfBoundedNorm",
    "RKHSFunction",
    "Recorded",
]

LAWS: dict[str, type[FunctionLaw]] = {"gp": GPSample, "rkhs": RKHSFunction}
