"""The agent to beat: it plays uniformly and learns nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.problem.setting import Setting

from ..capabilities import handles
from ..showing import Shown
from ..validation import require_reset, require_trials, seeds_of


class RandomAgent(Shown):
    """Uniform plays on arms or on a box, for one environment or B at once.

    Args:
        setting: what is published of the problem.
        num_trials: B, None for one environment without a trial axis.
    """

    def __init__(self, setting: Setting, num_trials: int | None = None):
        require_trials(num_trials)
        self.setting, self.num_trials = setting, num_trials
        self._rngs: list[np.random.Generator] = []  # before the first reset

    def reset(self, seed: int | Sequence[int]) -> None:
        """Start anew with one seed, or B of them for B trials."""
        self._rngs = [np.random.default_rng(word) for word in seeds_of(seed, self.num_trials)]

    def act(self, observation: Floats) -> Any:
        """Draw an arm or a point of [-1, 1]^d, one a trial."""
        require_reset(bool(self._rngs))
        actions = [self._draw(rng) for rng in self._rngs]
        return np.array(actions) if self.num_trials else actions[0]

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn nothing."""

    def _draw(self, rng: np.random.Generator) -> Any:
        if self.setting.arms is not None:
            return int(rng.integers(len(self.setting.arms)))
        return rng.uniform(-1.0, 1.0, self.setting.dim).astype(np.float32)


@handles("delay", "context", "constraint", "change", "box")
def random(setting: Setting, *, num_trials: int | None = None) -> RandomAgent:
    """Random: uniform plays, the agent to beat."""
    return RandomAgent(setting, num_trials)
