"""A learner of stable-baselines3 as an agent, which runs its unmodified `learn` in the caller's loop."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from gymnasium import Space

from bandit_envs.basics.types import Floats
from bandit_envs.environment.observations import make_summary
from bandit_envs.problem.setting import Setting

from ..protocol import Shown
from ..validation import one_seed, require_reset
from .bridge import Ask, BridgeEnv, Plays, Rendezvous, RewardUnit
from .recipe import Recipe

HIDDEN = ("oracle", "_oracle")


class SB3Agent(Shown):
    """Agent that learns from scratch on the rounds of one trial, in a thread that lives as long as the trial.

    Its rewards are multiples of the published prior std, or of their root mean square so far where no kernel
    is published: its plays do not depend on the unit of the reward. `act` gives the learner the outcome of
    the last round and waits for its next action, so all of its computation takes place there.
    `total_timesteps` is the horizon. Its seed is that of `reset`, also of the global generators of Python,
    numpy and torch, from which stable-baselines3 draws: `evaluate` restores them after each trial; in a loop
    of your own, use `agents.generators.preserved_generators`, and do not alternate two learners.
    """

    track = "from scratch"
    num_trials = None

    def __init__(self, setting: Setting, recipe: Recipe):
        recipe.check()
        self.setting, self.recipe = setting, recipe
        self._plays, self._summary = Plays(setting, recipe.box), make_summary(recipe.observation, setting)
        self._rendezvous: Rendezvous | None = None
        self._leave: Callable[[], Any] = lambda: None

    def reset(self, seed: int) -> None:
        """Start a new learner; exceptions of its constructor are raised here."""
        self.close()
        spaces = self._summary.space, self._plays.space
        work = partial(_learn, self.recipe, spaces, self.setting.horizon, one_word(seed))
        self._summary.begin()
        self._unit = RewardUnit(self.setting)
        self._rendezvous = Rendezvous(work, "stable-baselines3")
        self._leave = weakref.finalize(self, self._rendezvous.close)
        self._news: tuple[float, dict[str, Any]] | None = (0.0, {})
        self._action: Any = None
        self._round = 0
        self._rendezvous.question()

    def start(self, info: dict[str, Any]) -> None:
        """Read the arms available in the first round; see `Agent`."""
        require_reset(self._rendezvous is not None)
        self._news = 0.0, {key: value for key, value in info.items() if key not in HIDDEN}

    def act(self, observation: Floats) -> Any:
        """Pass the last round's outcome to the learner, and wait for its next action."""
        require_reset(self._rendezvous is not None)
        assert self._rendezvous is not None
        if self._news is not None:  # otherwise the round has not been played: return the same action
            self._rendezvous.answer((self._summary.vector(observation), *self._news))
            self._action = self._plays(self._rendezvous.question())
            self._news = None
        return self._action

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Store the round's outcome; after the last round the thread ends."""
        require_reset(self._rendezvous is not None)
        self._round += 1
        if self._round == self.setting.horizon:
            self.close()
            return
        self._summary.note(action, info)
        self._unit.note(info, float(reward))
        self._summary.unit = self._unit.value
        seen = {key: value for key, value in info.items() if key not in HIDDEN}
        charged = float(reward) - self.recipe.penalty * info.get("cost", 0.0)
        self._news = charged / self._unit.value, seen

    def close(self) -> None:
        """End the learner and its thread; `reset` starts a new one."""
        self._leave()
        self._rendezvous = None

    def __repr__(self) -> str:
        return f"SB3Agent({self.recipe.algorithm.name}, {dict(self.recipe.options)})"


def one_word(seed: int) -> int:
    """Return a seed below 2^32, as numpy's global generator requires, from any seed."""
    return int(np.random.SeedSequence(one_seed(seed)).generate_state(1)[0])


def _learn(recipe: Recipe, spaces: tuple[Space, Space], horizon: int, seed: int, ask: Ask) -> None:
    """Run in the thread: make a model and let it learn for one trial."""
    import torch
    from stable_baselines3.common.utils import set_random_seed

    torch.set_num_threads(1)  # of this thread: the networks are small, and trials run in parallel already
    set_random_seed(seed)
    model = recipe.model(BridgeEnv(*spaces, ask))
    model.action_space.seed(seed)
    model.learn(horizon)
