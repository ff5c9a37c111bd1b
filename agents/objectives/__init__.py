"""Objectives: the reward, or the reward less a penalty for its costs."""
