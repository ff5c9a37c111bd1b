"""Draw the delays of feedback: in rounds, in units of time, longer for some arms or rewards."""

from bandit_envs.laws.delays.base import TAIL, Delay
from bandit_envs.laws.delays.by_play import BASES, ByArm, ByReward
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

LAWS: dict[str, type[Delay]] = {**BASES, "by-arm": ByArm, "by-reward": ByReward}

__all__ = [
    "LAWS",
    "TAIL",
    "ByArm",
    "ByReward",
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
