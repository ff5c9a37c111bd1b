"""Learners of stable-baselines3 and sb3-contrib by name.

They play every problem, but by default ignore delays (see `attribute`) and costs (see `penalty`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bandit_envs.basics.arguments import require, require_not_negative
from bandit_envs.problem.setting import Setting

from ..protocol import handles
from .learner import SB3Agent
from .recipe import Recipe, find_algorithm, plays_box, preset_options


def sb3(
    setting: Setting,
    algorithm: str | type = "a2c",
    *,
    preset: str = "bandit",
    actions: str | None = None,
    observation: Any = "none",
    attribute: bool = False,
    penalty: float = 0.0,
    **options: Any,
) -> SB3Agent:
    """stable-baselines3: a learner that starts from scratch in every trial.

    It learns from the sum of rewards delivered in a round, of any earlier rounds, as it would in
    `gym.make(...)`; `total_timesteps` is the horizon.

    Args:
        algorithm: "ppo", "a2c", "dqn", "sac", "td3", "trpo", "qr-dqn", "recurrent-ppo", "maskable-ppo", the
            only one for settings where arms may be missing, or a class.
        preset: "bandit" for options tuned on bandits, "library" for the defaults of the library.
        actions: "arms" or "box"; by default arms where there are any and the algorithm can play them. With
            "box" on a finite set, the arm nearest to a point of [-1, 1]^d is played.
        observation: "none", "history", "statistics" or {"kind": "statistics", "bins": 20}, added to the
            environment's observation; see `bandit_envs.environment.observations`.
        attribute: True credits delayed rewards to their own actions; needs a replay buffer.
        penalty: subtracted from the reward for each unit of delivered cost.
        **options: of the algorithm's constructor, which override the preset; "action_noise" may be a number.
    """
    require_not_negative("penalty", penalty, "it is subtracted from the reward for each unit of cost")
    if not isinstance(attribute, bool):
        raise ValueError(f"attribute must be True or False, got {attribute!r}; True credits delayed rewards")
    chosen = find_algorithm(algorithm)
    blind = setting.volatile and not chosen.masks
    require(
        not blind, "algorithm", '"maskable-ppo" where arms may be missing, which others ignore', algorithm
    )
    known = preset_options(preset, algorithm if isinstance(algorithm, str) else None, setting, attribute)
    box = plays_box(chosen, setting, actions)
    recipe = Recipe(chosen, known | options, box, observation, attribute, float(penalty))
    return SB3Agent(setting, recipe)


def _learner(name: str, what: str, *features: str) -> Callable[..., SB3Agent]:
    """Return the factory of a learner, which has the options of `sb3`."""

    @handles("context", "on_policy", "outcome", *features)
    def made(setting: Setting, **options: Any) -> SB3Agent:
        return sb3(setting, name, **options)

    made.__name__ = made.__qualname__ = name.replace("-", "_")
    made.__doc__ = f"{what}, from scratch in every trial; options as `sb3`."
    return made


ppo = _learner("ppo", "PPO of stable-baselines3 (Schulman et al. 2017)", "box")
a2c = _learner("a2c", "A2C of stable-baselines3 (Mnih et al. 2016)", "box")
dqn = _learner("dqn", "DQN of stable-baselines3 (Mnih et al. 2015)")
sac = _learner("sac", "SAC of stable-baselines3 (Haarnoja et al. 2018)", "box")
td3 = _learner("td3", "TD3 of stable-baselines3 (Fujimoto et al. 2018)", "box")
trpo = _learner("trpo", "TRPO of sb3-contrib (Schulman et al. 2015)", "box")
qr_dqn = _learner("qr-dqn", "QR-DQN of sb3-contrib (Dabney et al. 2018)")
recurrent_ppo = _learner("recurrent-ppo", "Recurrent PPO of sb3-contrib", "box")
maskable_ppo = _learner("maskable-ppo", "Maskable PPO of sb3-contrib (Huang & Ontanon 2020)", "availability")
