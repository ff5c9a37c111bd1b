"""Regret and violation in the logger of stable-baselines3, and thereby in TensorBoard."""

from __future__ import annotations

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from bandit_envs.basics.arguments import is_count, require
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.environment.info import OnRound, Round
from bandit_envs.environment.observations import warn_if_blind

__all__ = ["RegretCallback"]


class RegretCallback(BaseCallback):
    """Callback that logs regret and violation while a model of stable-baselines3 learns on bandits.

    It reads `info["oracle"]` as an evaluator; the algorithms of stable-baselines3 use rewards and
    observations only. Under "bandit/": "regret" and "violation", means over the copies and over the rounds
    since the last entry; "cumulative_regret" and "cumulative_violation", sums since training began, also over
    calls of `learn` with `reset_num_timesteps=False`, averaged over the copies. It warns of an observation
    without information about the function. `result.plot_learning({"PPO": [callback, ...]})` draws what it has
    seen of several seeds, `history`, beside the agents of a result.

    Args:
        every: number of steps of the vector environment between entries; None leaves it to the algorithm,
            which writes once a rollout or every few episodes.
        on_round: called with the `Round` of each step as well, for instance to log to W&B or MLflow.
        label: of the model, in these rounds.

    Raises:
        ValueError: the environment was made with `oracle=False`, or is one of `evaluate`, which hides it.

    Example:
        >>> model = PPO("MlpPolicy", env, tensorboard_log="runs")  # needs `pip install tensorboard`
        >>> model.learn(1_000, callback=RegretCallback())
    """

    def __init__(self, every: int | None = None, on_round: OnRound | None = None, label: str = "model"):
        super().__init__()
        require(every is None or is_count(every), "every", "None or a positive integer", every)
        require(on_round is None or callable(on_round), "on_round", "None or a callable (round)", on_round)
        self.every, self.on_round, self.label = every, on_round, label
        self._regret = self._violation = 0.0  # since training began
        self._steps: list[int] = []
        self._each: list[float] = []

    @property
    def history(self) -> tuple[Ints, Floats]:
        """Return the steps since training began and the mean regret over the copies in each round, (n,)."""
        return np.array(self._steps, dtype=np.int64), np.array(self._each, dtype=np.float64)

    def _on_training_start(self) -> None:
        if self.locals.get("reset_num_timesteps", True):
            self._regret = self._violation = 0.0
            self._steps, self._each = [], []
        env = self.training_env
        if env.has_attr("problem"):
            warn_if_blind(env.get_attr("problem")[0], env.observation_space)

    def _on_step(self) -> bool:
        each = [Round.of(info, self.label) for info in self.locals["infos"]]
        parts = zip(*(copy[3:] for copy in each), strict=True)  # regret and violation
        seen = Round(self.label, self.n_calls, np.arange(len(each)), *map(np.concatenate, parts))
        regret, violation = float(seen.regret.mean()), float(seen.violation.mean())
        self._regret += regret
        self._steps.append(self.num_timesteps)
        self._each.append(regret)
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
