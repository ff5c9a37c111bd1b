"""Reinforcement-learning libraries as agents. torch and stable-baselines3 are imported when one is made.

There are two tracks, which no figure mixes: learners that start from scratch in every trial (`sb3`, by name
`sb3-a2c` and so on), and policies trained beforehand, on other functions (`train_policy`, `pretrained`) or by
the user (`from_sb3`).
"""

from .learner import sb3
from .policy import Policy, from_sb3, pretrained, sb3_model
from .training import train_policy

__distributions__ = ("torch", "stable-baselines3", "sb3-contrib")  # their versions are part of a cell's name
__all__ = ["Policy", "from_sb3", "pretrained", "sb3", "sb3_model", "train_policy"]
