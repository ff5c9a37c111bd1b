"""Reinforcement-learning libraries as agents. torch and stable-baselines3 are imported when one is made.

There are two tracks, which no figure mixes: learners that start from scratch in every trial (`sb3`, by name
`sb3-a2c` and so on), and policies pretrained on other functions (`train_policy`, `pretrained`).
"""

from .factories import sb3
from .policy import Policy, pretrained
from .training import train_policy

__distributions__ = ("torch", "stable-baselines3", "sb3-contrib")  # their versions are part of a cell's name
__all__ = ["Policy", "pretrained", "sb3", "train_policy"]
