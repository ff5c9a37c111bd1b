"""A learner of stable-baselines3 as an agent: its own `learn`, unmodified, and regret in its logger."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from gymnasium import Space
from stable_baselines3.common.callbacks import BaseCallback

from bandit_envs.basics.arguments import is_count, require
from bandit_envs.basics.types import Floats
from bandit_envs.environment.info import OnRound, Round
from bandit_envs.environment.observations import make_summary
from bandit_envs.problem.setting import Setting

from ..protocol import Shown
from ..validation import one_seed, require_reset
from .bridge import Ask, BridgeEnv, Plays, Rendezvous, RewardUnit
from .recipe import Recipe
from .vector import warn_if_blind

__all__ = ["RegretCallback"]


class RegretCallback(BaseCallback):
    """Callback that logs regret and violation while a model of stable-baselines3 learns on bandits.

    It reads `info["oracle"]` as an evaluator; the algorithms of stable-baselines3 use rewards and
    observations only. Under "bandit/": "regret" and "violation", means over the copies and over the rounds
    since the last entry; "cumulative_regret" and "cumulative_violation", sums since training began, also over
    calls of `learn` with `reset_num_timesteps=False`, averaged over the copies. It warns of an observation
    without information about the function.

    Args:
        every: number of steps of the vector environment between entries; None leaves it to the algorithm,
            which writes once a rollout or every few episodes.
        on_round: called with the `Round` of each step as well, for instance to log to W&B or MLflow.
        label: of the model, in these rounds.

    Raises:
        ValueError: the environment was made with `oracle=False`, or is one of `evaluate`, which hides it.

    Example:
        >>> model = PPO("MlpPolicy", env, tensorboard_log="runs")  # needs `pip install tensorboard`
        >>> model.learn(10_000, callback=RegretCallback())
    """

    def __init__(self, every: int | None = None, on_round: OnRound | None = None, label: str = "model"):
        super().__init__()
        require(every is None or is_count(every), "every", "None or a positive integer", every)
        require(on_round is None or callable(on_round), "on_round", "None or a callable (round)", on_round)
        self.every, self.on_round, self.label = every, on_round, label
        self._regret = self._violation = 0.0  # since training began

    def _on_training_start(self) -> None:
        if self.locals.get("reset_num_timesteps", True):
            self._regret = self._violation = 0.0
        env = self.training_env
        if env.has_attr("problem"):
            warn_if_blind(env.get_attr("problem")[0], env.observation_space)

    def _on_step(self) -> bool:
        seen = _round_of(self.locals["infos"], self.label, self.n_calls)
        regret, violation = float(seen.regret.mean()), float(seen.violation.mean())
        self._regret += regret
        self._violation += violation
        self.logger.record_mean("bandit/regret", regret)
        self.logger.record_mean("bandit/violation", violation)
        self.logger.record("bandit/cumulative_regret", self._regret)
        self.logger.record("bandit/cumulative_violation", self._violation)
        if self.on_round is not None:
            self.on_round(seen)
        if self.every is not None and self.n_calls % self.every == 0:
            self.logger.dump(self.num_timesteps)
        return True


def _round_of(infos: list[dict[str, Any]], label: str, step: int) -> Round:
    """Return one step of all copies, counted in steps, because their episodes may be in different rounds."""
    each = [Round.of(info, label) for info in infos]
    regret, violation = (np.concatenate(part) for part in zip(*(seen[3:] for seen in each), strict=True))
    return Round(label, step, np.arange(len(each)), regret, violation)


HIDDEN = ("oracle", "_oracle")


class SB3Agent(Shown):
    """Agent that learns from scratch on the rounds of one trial, in a thread that lives as long as the trial.

    Its rewards are multiples of the published prior std, or of their root mean square so far where no kernel
    is published: its plays do not depend on the unit of the reward. `act` gives the learner the outcome of
    the last round and waits for its next action, so all of its computation takes place there.
    `total_timesteps` is the horizon. Its seed is that of `reset`, also of the global generators of Python,
    numpy and torch, from which stable-baselines3 draws: `evaluate` restores them after each trial; in a loop
    of your own, use `agents.generators.preserved_generators`, and do not alternate two learners.

    Args:
        setting: the published setting.
        recipe: the algorithm and its options.
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
