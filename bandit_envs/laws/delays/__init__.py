"""When the feedback of a round is seen: delays in rounds, in units of time, and slower for some arms."""

from bandit_envs.laws.delays.base import TAIL, Delay
from bandit_envs.laws.delays.by_arm import BASES, ByArm
from bandit_envs.laws.delays.in_rounds import (
    Constant,
    Cyclic,
    Geometric,
    HeavyTailed,
    Immediate,
    Poisson,
    Uniform,
)
from bandit_envs.laws.delays.in_time import Exponential, LogNormal

LAWS: dict[str, type[Delay]] = {**BASES, "by-arm": ByArm}

__all__ = [
    "LAWS",
    "TAIL",
    "ByArm",
    "Constant",
    "Cyclic",
    "Delay",
    "Exponential",
    "Geometric",
    "HeavyTailed",
    "Immediate",
    "LogNormal",
    "Poisson",
    "Uniform",
]
