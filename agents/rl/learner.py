"""Learners of stable-baselines3 and sb3-contrib, by name, whose unmodified `learn` runs in the caller's loop.

They play every problem, but by default ignore delays (see `attribute`) and costs (see `penalty`).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from gymnasium import Space

from bandit_envs.basics.arguments import require, require_not_negative, require_switch
from bandit_envs.basics.types import Floats
from bandit_envs.environment.observations import make_summary
from bandit_envs.problem.setting import Setting

from ..options import one_seed, require_reset
from ..protocol import BaseAgent, handles
from .bridge import Ask, BridgeEnv, Plays, Rendezvous, RewardUnit
from .recipe import Recipe, find_algorithm, plays_box, preset_options


class SB3Agent(BaseAgent):
    """Agent that learns from scratch on the rounds of one trial, in a thread that lives as long as the trial.

    Its plays do not depend on the unit of the reward, see `RewardUnit`. `act` gives the learner the outcome
    of the last round and waits for its next action, so all of its computation takes place there. Its seed is
    that of `reset`, also of the global generators of Python, numpy and torch, from which stable-baselines3
    draws: `evaluate` restores them after each trial; in a loop of your own, use
    `agents.agent.generators.preserved_generators`, and do not alternate two learners.
    """

    holds_choice = True
    track = "from scratch"

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
        require_reset(self._rendezvous is not None)
        self._news = 0.0, _shown(info)

    def offer(self, arms: Any) -> bool:
        """Let the next choice alone be among some arms, (A,), of an algorithm that reads masks."""
        require_reset(self._rendezvous is not None)
        if self._news is None or not self.recipe.algorithm.masks:
            return False
        reward, info = self._news
        self._news = reward, {**info, "action_mask": np.asarray(arms, dtype=np.int8)}
        return True

    def act(self, observation: Floats) -> Any:
        require_reset(self._rendezvous is not None)
        assert self._rendezvous is not None
        if self._news is not None:  # otherwise the round has not been played: return the same action
            self._rendezvous.answer((self._summary.vector(observation), *self._news))
            self._action = self._plays(self._rendezvous.question())
            self._news = None
        return self._action

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        require_reset(self._rendezvous is not None)
        self._round += 1
        if self._round == self.setting.horizon:
            self.close()
            return
        self._summary.note(action, info)
        self._unit.note(info, float(reward))
        self._summary.unit = self._unit.value
        charged = float(reward) - self.recipe.penalty * info.get("cost", 0.0)
        self._news = charged / self._unit.value, _shown(info)

    def close(self) -> None:
        """End the learner and its thread; `reset` starts a new one."""
        self._leave()
        self._rendezvous = None

    def __repr__(self) -> str:
        return f"SB3Agent({self.recipe.algorithm.name}, {dict(self.recipe.options)})"


def _shown(info: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in info.items() if key not in ("oracle", "_oracle")}


def one_word(seed: int) -> int:
    """Return a seed below 2^32, as numpy's global generator requires, from any seed."""
    return int(np.random.SeedSequence(one_seed(seed)).generate_state(1)[0])


def _learn(recipe: Recipe, spaces: tuple[Space, Space], horizon: int, seed: int, ask: Ask) -> None:
    import torch

    torch.set_num_threads(1)  # of this thread: the networks are small, and trials run in parallel already
    recipe.learnt(BridgeEnv(*spaces, ask), horizon, seed)


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
    given = 'a Setting; `evaluate` gives it to (agents.sb3, {"algorithm": "ppo"})'
    require(isinstance(setting, Setting), "setting", given, setting)
    require_not_negative("penalty", penalty, "it is subtracted from the reward for each unit of cost")
    require_switch("attribute", attribute)
    chosen = find_algorithm(algorithm)
    others = '"maskable-ppo" where arms may be missing, which others ignore'
    require(chosen.masks or not setting.volatile, "algorithm", others, algorithm)
    known = preset_options(preset, algorithm if isinstance(algorithm, str) else None, setting, attribute)
    box = plays_box(chosen, setting, actions)
    recipe = Recipe(chosen, known | options, box, observation, attribute, float(penalty))
    return SB3Agent(setting, recipe)


def _learner(name: str, what: str, *features: str) -> Callable[..., SB3Agent]:

    @handles("context", "on_policy", "outcome", *features)
    def made(setting: Setting, **options: Any) -> SB3Agent:
        return sb3(setting, name, **options)

    made.__name__ = made.__qualname__ = f"sb3_{name.replace('-', '_')}"
    made.__doc__ = f"{what}, from scratch in every trial; options as `sb3`."
    return made


sb3_ppo = _learner("ppo", "PPO of stable-baselines3 (Schulman et al. 2017)", "box")
sb3_a2c = _learner("a2c", "A2C of stable-baselines3 (Mnih et al. 2016)", "box")
sb3_dqn = _learner("dqn", "DQN of stable-baselines3 (Mnih et al. 2015)")
sb3_sac = _learner("sac", "SAC of stable-baselines3 (Haarnoja et al. 2018)", "box")
sb3_td3 = _learner("td3", "TD3 of stable-baselines3 (Fujimoto et al. 2018)", "box")
sb3_trpo = _learner("trpo", "TRPO of sb3-contrib (Schulman et al. 2015)", "box")
sb3_qr_dqn = _learner("qr-dqn", "QR-DQN of sb3-contrib (Dabney et al. 2018)")
sb3_recurrent_ppo = _learner("recurrent-ppo", "Recurrent PPO of sb3-contrib", "box")
sb3_maskable_ppo = _learner(
    "maskable-ppo", "Maskable PPO of sb3-contrib (Huang & Ontanon 2020)", "availability"
)
