"""Explore then commit: uniform plays for a share of the rounds, then the best mean (Robbins 1952)."""

import numpy as np


class ExploreThenCommit:
    """Explore then commit: uniform plays for a share of the rounds, then the arm of the best mean."""

    def __init__(self, setting, share=0.2):
        self.size, self.exploring = len(setting.arms), share * setting.horizon

    def reset(self, seed):
        self.rng, self.played = np.random.default_rng(seed), []
        self.total, self.count = np.zeros(self.size), np.zeros(self.size)

    def act(self, observation):
        if len(self.played) < self.exploring:
            return int(self.rng.integers(self.size))
        return int(np.argmax(np.where(self.count > 0, self.total / np.maximum(self.count, 1), -np.inf)))

    def update(self, observation, action, reward, info):
        self.played.append(action)
        for slot in np.flatnonzero(info["feedback_mask"]):
            arm = self.played[info["feedback_step"][slot]]
            self.total[arm] += info["feedback_reward"][slot]
            self.count[arm] += 1
