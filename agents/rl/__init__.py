"""Reinforcement-learning libraries as agents. torch and stable-baselines3 are imported when one is made."""

from .factories import sb3

__all__ = ["sb3"]
