"""Uniform play, the baseline: it learns nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools, Floats
from bandit_envs.problem.setting import Setting

from ..agent.offers import ChoosingAgent
from ..model.choice import offered_in, require_offered
from ..protocol import handles, states_propensities
from ..validation import require_reset, require_trials, seeds_of


class RandomAgent(ChoosingAgent):
    """Agent that plays uniformly on arms, on pairs of them or on a box, in a single trial or a batch of B."""

    def __init__(self, setting: Setting, num_trials: int | None = None):
        require_trials(num_trials)
        self.setting, self.num_trials = setting, num_trials
        self._rngs: list[np.random.Generator] = []  # before the first reset
        self.round = -1  # before the first reset

    def reset(self, seed: int | Sequence[int]) -> None:
        """Start anew with one seed, or B seeds for B trials."""
        self._rngs = [np.random.default_rng(word) for word in seeds_of(seed, self.num_trials)]
        self.offered, self.round = None, 0

    def act(self, observation: Floats) -> Any:
        """Draw an arm, a pair of arms or a point of [-1, 1]^d per trial."""
        require_reset(self.round >= 0)
        require_offered(self.offered, self.setting)
        rows = [None] * len(self._rngs) if self.offered is None else list(self.offered)
        actions = [self._draw(rng, row) for rng, row in zip(self._rngs, rows, strict=True)]
        return np.array(actions) if self.num_trials else actions[0]

    def propensity(self, observation: Floats, action: Any) -> Any:
        """Return one over the number of available arms, a number or (B,); None on a box and of duels."""
        if self.setting.continuous or self.setting.duel:
            return None
        size = len(self._rngs)
        count = np.full(size, len(self.setting.arms)) if self.offered is None else self.offered.sum(axis=1)  # type: ignore[arg-type]
        chance = 1.0 / np.broadcast_to(count, size)
        return chance if self.num_trials else float(chance[0])

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Read the arms available in the next round; nothing else is learnt."""
        self.offered = offered_in(info, self.setting, self.num_trials)
        self.round += 1

    def _draw(self, rng: np.random.Generator, offered: Bools | None) -> Any:
        if offered is not None:
            return int(rng.choice(offered.nonzero()[0]))
        if self.setting.duel:
            return rng.integers(len(self.setting.decisions.arms), size=2)
        if self.setting.arms is not None:
            return int(rng.integers(len(self.setting.arms)))
        return rng.uniform(-1.0, 1.0, self.setting.dim).astype(np.float32)


@states_propensities
@handles("delay", "context", "constraint", "change", "box", "availability", "aggregated", "duel", "outcome")
def random(setting: Setting, *, num_trials: int | None = None) -> RandomAgent:
    """Random: uniform plays, the baseline of all comparisons."""
    return RandomAgent(setting, num_trials)
