"""The agent to beat: it plays uniformly and learns nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Floats
from bandit_envs.problem.setting import Setting

from ..capabilities import handles
from ..model.offered import offered_in, require_offered
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
        self.offered: Bools | None = None  # which arms may be played next, (B, A); None is all

    def reset(self, seed: int | Sequence[int]) -> None:
        """Start anew with one seed, or B of them for B trials."""
        self._rngs = [np.random.default_rng(word) for word in seeds_of(seed, self.num_trials)]
        self.offered = None

    def start(self, info: dict[str, Any]) -> None:
        """Learn which arms the first round has; see `Agent`."""
        self.offered = offered_in(info, self.setting, self.num_trials)

    def offer(self, arms: Bools) -> None:
        """Let the next question alone choose among some arms, (A,) or (B, A); see `GPAgent.offer`."""
        require_reset(bool(self._rngs))
        self.offered = np.atleast_2d(arms)

    def act(self, observation: Floats) -> Any:
        """Draw an arm or a point of [-1, 1]^d, one a trial."""
        require_reset(bool(self._rngs))
        require_offered(self.offered, self.setting)
        rows = [None] * len(self._rngs) if self.offered is None else list(self.offered)
        actions = [self._draw(rng, row) for rng, row in zip(self._rngs, rows, strict=True)]
        return np.array(actions) if self.num_trials else actions[0]

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn nothing but which arms the next round has."""
        self.offered = offered_in(info, self.setting, self.num_trials)

    def _draw(self, rng: np.random.Generator, offered: Bools | None) -> Any:
        if offered is not None:
            return int(rng.choice(offered.nonzero()[0]))
        if self.setting.arms is not None:
            return int(rng.integers(len(self.setting.arms)))
        return rng.uniform(-1.0, 1.0, self.setting.dim).astype(np.float32)


@handles("delay", "context", "constraint", "change", "box", "availability", "aggregated")
def random(setting: Setting, *, num_trials: int | None = None) -> RandomAgent:
    """Random: uniform plays, the agent to beat."""
    return RandomAgent(setting, num_trials)
