"""Arms that the next choice is among: those that an environment marks as available, or that a user allows."""

from __future__ import annotations

from typing import Any

import numpy as np

from bandit_envs.basics.types import Bools

from ..model.choice import offered_in
from ..protocol import BaseAgent
from ..validation import require_reset


class ChoosingAgent(BaseAgent):
    """Agent that chooses among the arms in `offered` alone, of one trial or of B.

    "action_mask" in `info` sets them for every round of volatile arms, `offer` for the next choice, such as
    one of a tuner's `ask(only=...)` or of a row of a log. A subclass reads `offered_in` in `update`.
    """

    offered: Bools | None = None  # arms that may be played next, (B, A); None is all

    def start(self, info: dict[str, Any]) -> None:
        """Read from the `info` of the environment's reset which arms the first round has; see `Agent`."""
        require_reset(self.round >= 0)
        self.offered = offered_in(info, self.setting, self.num_trials)

    def offer(self, arms: Bools) -> bool:
        """Let the next choice alone be among some arms, (A,) or (B, A); see `BaseAgent.offer`."""
        require_reset(self.round >= 0)
        if self.setting.continuous or self.setting.duel:
            return False
        self.offered = np.atleast_2d(arms)
        return True
