"""Classes of stable-baselines3: a `BanditVectorEnv` as a vector environment, and a buffer for delays."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import Wrapper
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Bools, Floats
from bandit_envs.environment.observations import make_summary, warn_if_blind
from bandit_envs.environment.vector import BanditVectorEnv
from bandit_envs.problem.problem import Problem

from .bridge import Plays, published_unit

__all__ = ["SB3VectorEnv"]


class SB3VectorEnv(VecEnv):
    """Vector environment of stable-baselines3 and sb3-contrib over a `BanditVectorEnv`.

    Its outputs equal those of `DummyVecEnv` of the same environments, with `HistoryObservation` or
    `StatisticsObservation` around each if `observation` says so: observations, rewards, ends,
    "terminal_observation" and "TimeLimit.truncated" in infos, seeds at the next reset, and masks of
    `MaskablePPO`. Speed: `benchmarks/sb3_vector.py`.

    Args:
        env: with `autoreset_mode="SameStep"`, because stable-baselines3 begins a new episode in the step that
            ends one.
        observation: "none", "history", "statistics" or {"kind": "statistics", "bins": 20}.

    Example:
        >>> env = SB3VectorEnv(
        ...     BanditVectorEnv("gp", 64, horizon=50, autoreset_mode="SameStep"), observation="statistics"
        ... )
        >>> PPO("MlpPolicy", env, n_steps=50).learn(6_400)
    """

    def __init__(self, env: BanditVectorEnv, observation: Any = "none"):
        require(isinstance(env, BanditVectorEnv), "env", "a BanditVectorEnv", env)
        same = env.autoreset_mode is AutoresetMode.SAME_STEP
        require(same, "autoreset_mode", '"SameStep", as stable-baselines3 expects', env.autoreset_mode.value)
        self.env = env
        self._shown = make_summary(observation, env.problem.setting(), env.num_envs)
        seen = self._shown.space
        warn_if_blind(env.problem, seen)
        super().__init__(env.num_envs, seen, env.single_action_space)
        self.metadata = env.metadata

    def reset(self) -> Floats:
        """Draw new trials, with the given seeds and options."""
        if any(options != self._options[0] for options in self._options):
            raise ValueError("options must be the same for all copies of a vector environment")
        observations, info = self.env.reset(seed=self._seeds, options=self._options[0])
        self.reset_infos = _of_each(info, np.arange(self.num_envs))
        self._reset_seeds()
        self._reset_options()
        self._shown.begin()
        return self._shown.vector(observations)

    def step_async(self, actions: Any) -> None:
        """Store the actions until `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Floats, Any, Bools, list[dict[str, Any]]]:  # type: ignore[override]
        """Play; copies whose episode ends begin the next one."""
        observations, reward, terminated, truncated, info = self.env.step(self._actions)
        done = terminated | truncated
        if done.any():
            infos = self._after_an_end(info, observations, done)
        else:
            self._shown.note(self._actions, info)
            infos = _of_each(info, np.arange(self.num_envs))
        for each, cut in zip(infos, (truncated & ~terminated).tolist(), strict=True):
            each["TimeLimit.truncated"] = cut
        return self._shown.vector(observations), reward.astype(np.float32), done, infos

    def _after_an_end(self, info: dict[str, Any], begun: Floats, done: Bools) -> list[dict[str, Any]]:
        """Return the infos of a step in which some episodes ended, and restart their summaries."""
        last, ended, seen = info["final_info"], np.flatnonzero(done), {}
        for key in ("feedback_mask", "feedback_step", "feedback_reward"):
            which = done.reshape(-1, *[1] * (last[key].ndim - 1))
            seen[key] = np.where(which, last[key], info[key])
        self._shown.note(self._actions, seen)
        latest = begun.copy()
        for i in ended:
            latest[i] = info["final_obs"][i]
        terminal = self._shown.vector(latest)[ended]
        self._shown.begin(ended)
        infos = _of_each({k: v for k, v in info.items() if not k.startswith("final")}, np.arange(len(done)))
        for i, final, observed in zip(ended, _of_each(last, ended), terminal, strict=True):
            self.reset_infos[i], infos[i] = infos[i], final | {"terminal_observation": observed}
        return infos

    def close(self) -> None:
        """Release the environment's resources."""
        self.env.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of each copy."""
        return [getattr(self.env._copy(i), attr_name) for i in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse: copies share one simulator."""
        raise AttributeError(f"{attr_name!r} cannot be set on copies of a BanditVectorEnv; make it with it")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **keywords: Any) -> list[Any]:
        """Call a method of each copy."""
        if method_name == "action_masks":  # called in every step, so no copies are made for it
            decisions = self.env.problem.decisions
            require(not decisions.continuous, "environment", "one with arms for action_masks", "a box")
            masks = self.env.simulator.masks(np.arange(self.num_envs)).astype(bool)
            given = masks if masks.size else np.ones((self.num_envs, decisions.num_arms), dtype=bool)
            return list(given[list(self._get_indices(indices))])
        copies = map(self.env._copy, self._get_indices(indices))
        return [getattr(copy, method_name)(*args, **keywords) for copy in copies]

    def env_is_wrapped(self, wrapper_class: type[Wrapper], indices: Any = None) -> list[bool]:
        """Return False for each copy."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> list[Any]:
        """Return a frame of each copy."""
        return list(self.env.render())


class _LibraryVectorEnv(VecEnvWrapper):
    """Wrapper that converts a library's actions, one row a copy, and divides rewards by a unit."""

    def __init__(self, venv: VecEnv, plays: Plays, unit: float):
        super().__init__(venv, action_space=plays.space)
        self._plays, self._unit = plays, unit

    def reset(self) -> Any:
        """Reset the environments; see `SB3VectorEnv`."""
        return self.venv.reset()

    def step_async(self, actions: Any) -> None:
        """Convert the actions, and store them until `step_wait`."""
        self.venv.step_async(np.array([self._plays(action) for action in actions]))

    def step_wait(self) -> Any:
        """Wait for the step; see `SB3VectorEnv`."""
        observations, rewards, done, infos = self.venv.step_wait()
        return observations, (rewards / self._unit).astype(np.float32), done, infos


def library_vector_env(
    problem: Problem, num_envs: int, limit: int | None, observation: Any, box: bool
) -> VecEnv:
    """Return copies of a problem with a library's observations and actions, and rewards in prior stds."""
    env = BanditVectorEnv(problem, num_envs, autoreset_mode="SameStep", max_episode_steps=limit)
    setting = problem.setting()
    shown, unit = SB3VectorEnv(env, observation), published_unit(setting) or 1.0
    shown._shown.unit = unit
    return _LibraryVectorEnv(shown, Plays(setting, box), unit)


def _of_each(info: dict[str, Any], rows: Any) -> list[dict[str, Any]]:
    """Return the info of some copies as one dictionary each, in the form of a single environment."""
    columns = {key: value for key, value in info.items() if not key.startswith("_")}
    split = [_column(value, rows) for value in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*split, strict=True)]


def _column(value: Any, rows: Any) -> list[Any]:
    if isinstance(value, dict):
        return _of_each(value, rows)
    return value[rows].tolist() if value.ndim == 1 else list(value[rows])


class AttributedReplayBuffer(ReplayBuffer):
    """Replay buffer that stores a transition when the reward of its own round is delivered.

    The reward argument of `add` is the sum of rewards delivered in a round, of any earlier rounds;
    `info["feedback_step"]` has their rounds. Transitions without feedback are never stored. One environment.
    `penalty` is the price of the positive parts of the costs delivered with a reward.
    """

    def __init__(self, *arguments: Any, penalty: float = 0.0, **keywords: Any):
        super().__init__(*arguments, **keywords)
        self.penalty = penalty
        self._pending: dict[int, tuple[Any, ...]] = {}  # round -> its transition, all but the reward

    def add(
        self,
        obs: np.ndarray,
        next_obs: np.ndarray,
        action: np.ndarray,
        reward: np.ndarray,
        done: np.ndarray,
        infos: list[dict[str, Any]],
    ) -> None:
        """Hold a transition, and store those whose rewards are in its `info`."""
        (info,) = infos
        self._pending[info["t"]] = (np.array(obs), np.array(next_obs), np.array(action), done, infos)
        for slot in np.flatnonzero(info["feedback_mask"]).tolist():
            seen, following, played, ended, noted = self._pending.pop(int(info["feedback_step"][slot]))
            cost = info["feedback_cost"][slot] if "feedback_cost" in info else np.zeros(0)
            earned = info["feedback_reward"][slot] - self.penalty * np.maximum(cost, 0.0).sum()
            super().add(seen, following, played, np.array([earned], dtype=np.float32), ended, noted)


def wait_for_feedback(model: OffPolicyAlgorithm) -> None:
    """Let a model train only after the first delivery, because an empty buffer cannot be sampled."""
    train = model.train

    def train_on_feedback(*arguments: Any, **keywords: Any) -> None:
        assert model.replay_buffer is not None
        if model.replay_buffer.size():
            train(*arguments, **keywords)

    model.train = train_on_feedback  # type: ignore[method-assign]
