"""The algorithm and options of a learner, and the model of stable-baselines3 made from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bandit_envs.problem.setting import Setting

from .algorithms import Algorithm, check_options


@dataclass(frozen=True, eq=False)
class Recipe:
    """Specification of a learner.

    Args:
        algorithm: the learner.
        options: of its constructor; a number as "action_noise" is the std of Gaussian noise.
        box: True if it plays points of the box, False for arms.
        observation: see `bandit_envs.environment.observations.make_summary`.
        attribute: True credits delayed rewards to their own actions.
        penalty: price of the positive parts of delivered costs.
    """

    algorithm: Algorithm
    options: Mapping[str, Any] = field(default_factory=dict)
    box: bool = False
    observation: Any = "none"
    attribute: bool = False
    penalty: float = 0.0

    def check(self) -> None:
        """Raise unless the model can be made; this imports the libraries."""
        learner = self.algorithm.load()
        check_options(learner, dict(self.options))
        if self.attribute:
            from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm

            if not issubclass(learner, OffPolicyAlgorithm):
                raise ValueError(
                    f"attribute=True needs a replay buffer, which {learner.__name__} has not; "
                    "use dqn, qr-dqn, sac or td3"
                )
            for name in self.options.keys() & {"replay_buffer_class", "replay_buffer_kwargs"}:
                raise ValueError(
                    f"options must not hold {name!r} with attribute=True, which brings a buffer of its own; "
                    "leave one of them out"
                )

    def model(self, env: Any) -> Any:
        """Return a new model on an environment, with weights from the global generators."""
        model: Any = self.algorithm.load()(env=env, **self._arguments(env))
        if self.attribute:
            from .attribution import wait_for_feedback

            wait_for_feedback(model)
        return model

    def _arguments(self, env: Any) -> dict[str, Any]:
        # At these sizes a graphics card is slower, and less reproducible.
        given = {"policy": self.algorithm.policy, "device": "cpu", **self.options}
        if isinstance(given.get("action_noise"), int | float):
            from stable_baselines3.common.noise import NormalActionNoise

            size = env.action_space.shape
            given["action_noise"] = NormalActionNoise(np.zeros(size), np.full(size, given["action_noise"]))
        if self.attribute:
            from .attribution import AttributedReplayBuffer

            given["replay_buffer_class"] = AttributedReplayBuffer
            given["replay_buffer_kwargs"] = {"penalty": self.penalty}
        return given


def plays_box(algorithm: Algorithm, setting: Setting, actions: str | None) -> bool:
    """Return True if an algorithm plays points of a box in a setting, False for arms.

    Args:
        algorithm: the learner.
        setting: the published setting.
        actions: "arms" or "box"; None takes arms where there are any and the algorithm can.
    """
    if actions not in (None, "arms", "box"):
        raise ValueError(f'actions must be None, "arms" or "box", got {actions!r}')
    box = setting.continuous or (not algorithm.arms if actions is None else actions == "box")
    if setting.continuous and actions == "arms":
        raise ValueError('actions="arms" needs arms; make the environment without continuous=True')
    if box and not algorithm.box:
        raise ValueError(
            f"{algorithm.name} plays arms alone, not the box [-1, 1]^{setting.dim}; make the environment "
            "without continuous=True, or use ppo, a2c, trpo, sac or td3"
        )
    if not box and not algorithm.arms:
        raise ValueError(
            f'{algorithm.name} plays boxes alone; use actions="box", which plays the nearest arm'
        )
    return box
