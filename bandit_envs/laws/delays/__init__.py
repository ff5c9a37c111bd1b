"""Draw the delays of feedback: in rounds, in units of time, longer for some arms or rewards."""

from bandit_envs.laws.delays.by_play import ByReward, Conversions, DelayByArm
from bandit_envs.laws.delays.waits import (
    BASES,
    TAIL,
    Constant,
    Cyclic,
    Delay,
    Exponential,
    GeometricDelay,
    HeavyTailed,
    Immediate,
    LogNormal,
    PoissonDelay,
    UniformDelay,
)

LAWS: dict[str, type[Delay]] = {
    **BASES,
    "by-arm": DelayByArm,
    "by-reward": ByReward,
    "conversions": Conversions,
}

__all__ = [
    "LAWS",
    "TAIL",
    "ByReward",
    "Constant",
    "Conversions",
    "Cyclic",
    "Delay",
    "DelayByArm",
    "Exponential",
    "GeometricDelay",
    "HeavyTailed",
    "Immediate",
    "LogNormal",
    "PoissonDelay",
    "UniformDelay",
]

Uniform, Poisson, Geometric, ByArm = (
    UniformDelay,
    PoissonDelay,
    GeometricDelay,
    DelayByArm,
)  # former names, shared by two kinds
