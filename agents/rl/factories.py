"""Learners of stable-baselines3 and sb3-contrib by name.

They play every problem, but by default ignore delays (see `attribute`) and costs (see `penalty`).
"""

from __future__ import annotations

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


@handles("context", "box", "on_policy")
def ppo(setting: Setting, **options: Any) -> SB3Agent:
    """PPO of stable-baselines3 (Schulman et al. 2017), from scratch in every trial; options as `sb3`."""
    return sb3(setting, "ppo", **options)


@handles("context", "box", "on_policy")
def a2c(setting: Setting, **options: Any) -> SB3Agent:
    """A2C of stable-baselines3 (Mnih et al. 2016), from scratch in every trial; options as `sb3`."""
    return sb3(setting, "a2c", **options)


@handles("context", "on_policy")
def dqn(setting: Setting, **options: Any) -> SB3Agent:
    """DQN of stable-baselines3 (Mnih et al. 2015), from scratch in every trial; options as `sb3`."""
    return sb3(setting, "dqn", **options)


@handles("context", "box", "on_policy")
def sac(setting: Setting, **options: Any) -> SB3Agent:
    """SAC of stable-baselines3 (Haarnoja et al. 2018), from scratch in every trial; options as `sb3`."""
    return sb3(setting, "sac", **options)


@handles("context", "box", "on_policy")
def td3(setting: Setting, **options: Any) -> SB3Agent:
    """TD3 of stable-baselines3 (Fujimoto et al. 2018), from scratch in every trial; options as `sb3`."""
    return sb3(setting, "td3", **options)


@handles("context", "box", "on_policy")
def trpo(setting: Setting, **options: Any) -> SB3Agent:
    """TRPO of sb3-contrib (Schulman et al. 2015), from scratch in every trial; options as `sb3`."""
    return sb3(setting, "trpo", **options)


@handles("context", "on_policy")
def qr_dqn(setting: Setting, **options: Any) -> SB3Agent:
    """QR-DQN of sb3-contrib (Dabney et al. 2018), from scratch in every trial; options as `sb3`."""
    return sb3(setting, "qr-dqn", **options)


@handles("context", "box", "on_policy")
def recurrent_ppo(setting: Setting, **options: Any) -> SB3Agent:
    """Recurrent PPO of sb3-contrib, from scratch in every trial; options as `sb3`."""
    return sb3(setting, "recurrent-ppo", **options)


@handles("context", "on_policy", "availability")
def maskable_ppo(setting: Setting, **options: Any) -> SB3Agent:
    """Maskable PPO of sb3-contrib (Huang & Ontanon 2020), from scratch in every trial; options as `sb3`."""
    return sb3(setting, "maskable-ppo", **options)
