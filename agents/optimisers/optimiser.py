"""An optimiser of another library as an agent, by its ask and tell interface."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from bandit_envs.basics.types import Floats
from bandit_envs.problem.feedback import Feedback
from bandit_envs.problem.setting import Setting

from ..model.choice import arms_of
from ..protocol import Shown
from ..validation import one_seed, require_reset


def quietly() -> warnings.catch_warnings:
    """Suppress a library's warnings, about deprecations and fits that did not converge."""
    return warnings.catch_warnings(action="ignore")


class OptimiserTask(NamedTuple):
    """Problem of an optimiser, with decisions scaled to [0, 1]^d."""

    dim: int
    horizon: int
    seed: int
    arms: Floats | None  # (A, d); None on a box


class Engine(Protocol):
    """Optimiser that maximises over points of [0, 1]^d, (d,)."""

    def ask(self) -> Floats:
        """Return the proposed point."""
        ...

    def start(self, round: int, point: Floats) -> None:
        """Record the point played in a round, which may differ from the proposal."""
        ...

    def tell(self, round: int, reward: float) -> None:
        """Record the reward of an earlier round."""
        ...


class OptimiserAgent(Shown):
    """Agent of one trial of an optimiser, made from a task, which uses neither contexts nor costs.

    On a finite set it proposes points in the box around the arms, or among them if its library can, and the
    nearest arm is played; its feedback is recorded at that arm. Arms without an order, such as the index of a
    category, hide similarities of neighbours from it.
    """

    num_trials = None

    def __init__(self, setting: Setting, make: Callable[[OptimiserTask], Engine]):
        self.setting, self._make = setting, make
        self._arms = None if setting.continuous else setting.decisions.unit_arms
        self._engine: Engine | None = None

    def reset(self, seed: int) -> None:
        """Start a new optimiser."""
        word = int(np.random.SeedSequence(one_seed(seed)).generate_state(1)[0] >> 1)  # libraries take 31 bits
        with quietly():
            self._engine = self._make(OptimiserTask(self.setting.dim, self.setting.horizon, word, self._arms))
        self.round, self._action = 0, None

    def act(self, observation: Floats) -> Any:
        """Return the optimiser's proposal, which stays until it is played."""
        require_reset(self._engine is not None)
        assert self._engine is not None
        if self._action is None:
            with quietly():
                self._action = self._play(self._engine.ask())
        return self._action

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Pass the play and the delivered feedback to the optimiser."""
        require_reset(self._engine is not None)
        assert self._engine is not None
        news = Feedback.arrived(info)
        with quietly():
            self._engine.start(self.round, self._point(action))
            for round_, value in zip(news.round.tolist(), news.reward.tolist(), strict=True):
                self._engine.tell(round_, value)
        self.round, self._action = self.round + 1, None

    def __repr__(self) -> str:
        return f"OptimiserAgent({getattr(self._make, 'func', self._make).__name__})"

    def _play(self, point: Floats) -> Any:
        if self._arms is None:
            return (2.0 * point - 1.0).astype(np.float32)
        return int(((self._arms - point) ** 2).sum(axis=1).argmin())

    def _point(self, action: Any) -> Floats:
        if self._arms is None:
            return np.clip((np.asarray(action, dtype=np.float64).reshape(-1) + 1.0) / 2.0, 0.0, 1.0)
        return self._arms[arms_of(action, 1, len(self._arms))[0]]
