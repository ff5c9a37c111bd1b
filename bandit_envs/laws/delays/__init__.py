"""Draw the delays of feedback: in rounds, in units of time, longer for some arms or rewards."""

from bandit_envs.laws.delays.by_play import ByArm, ByReward, Conversions
from bandit_envs.laws.delays.waits import (
    BASES,
    TAIL,
    Constant,
    Cyclic,
    Delay,
    Exponential,
    Geometric,
    HeavyTailed,
    Immediate,
    LogNormal,
    Poisson,
    Uniform,
)

LAWS: dict[str, type[Delay]] = {**BASES, "by-arm": ByArm, "by-reward": ByReward, "conversions": Conversions}

__all__ = [
    "LAWS",
    "TAIL",
    "ByArm",
    "ByReward",
    "Constant",
    "Conversions",
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
