"""Our vector environment as one of stable-baselines3, which trains on it at its speed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium import Wrapper
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv

from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Bools, Floats
from bandit_envs.environment.observations import make_summary
from bandit_envs.environment.vector import BanditVectorEnv

from .blindness import warn_if_blind

__all__ = ["SB3VectorEnv"]


class SB3VectorEnv(VecEnv):
    """A `BanditVectorEnv` for the algorithms of stable-baselines3 and sb3-contrib.

    What it returns equals what `DummyVecEnv` of the same environments returns, with `HistoryObservation` or
    `StatisticsObservation` around each where `observation` asks for it: observations, rewards, ends,
    "terminal_observation" and "TimeLimit.truncated" in infos, seeds at the next reset, and masks of
    `MaskablePPO`. How fast it is: `benchmarks/sb3_vector.py`.

    Args:
        env: of `autoreset_mode="SameStep"`, as stable-baselines3 begins a new episode in the step that
            ends one.
        observation: what is seen: "none", "history", "statistics" or {"kind": "statistics", "bins": 20}.

    Example:
        >>> env = SB3VectorEnv(
        ...     BanditVectorEnv("gp", 64, horizon=50, autoreset_mode="SameStep"), observation="statistics"
        ... )
        >>> PPO("MlpPolicy", env, n_steps=50).learn(10_000)
    """

    def __init__(self, env: BanditVectorEnv, observation: Any = "none"):
        require(isinstance(env, BanditVectorEnv), "env", "a BanditVectorEnv", env)
        same = env.autoreset_mode is AutoresetMode.SAME_STEP
        require(same, "autoreset_mode", '"SameStep", as stable-baselines3 expects', env.autoreset_mode.value)
        self.env = env
        setting = env.problem.setting()
        self._summaries = [make_summary(observation, setting) for _ in range(env.num_envs)]
        self._bare = observation in ("none", {"kind": "none"})
        seen = env.single_observation_space if self._bare else self._summaries[0].space
        warn_if_blind(env.problem, seen)
        super().__init__(env.num_envs, seen, env.single_action_space)
        self.metadata = env.metadata

    def reset(self) -> Floats:
        """Draw new trials, of the seeds and options that were set."""
        if any(options != self._options[0] for options in self._options):
            raise ValueError("options must be the same for all copies of a vector environment")
        observations, info = self.env.reset(seed=self._seeds, options=self._options[0])
        self.reset_infos = _of_each(info, self.num_envs)
        self._reset_seeds()
        self._reset_options()
        for summary in self._summaries:
            summary.begin()
        return self._seen(observations, range(self.num_envs))

    def step_async(self, actions: Any) -> None:
        """Keep the actions until `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Floats, Floats, Bools, list[dict[str, Any]]]:  # type: ignore[override]
        """Play; copies whose episode ends begin the next one."""
        observations, reward, terminated, truncated, info = self.env.step(self._actions)
        done = terminated | truncated
        ended = np.flatnonzero(done)
        final = {key: info.pop(key) for key in ("final_obs", "final_info") if key in info}
        infos = _of_each(info, self.num_envs)
        for i, last in zip(ended, _of_each(final.get("final_info", {}), self.num_envs, ended), strict=True):
            self.reset_infos[i], infos[i] = infos[i], last
        self._note(infos)
        for each, cut in zip(infos, (truncated & ~terminated).tolist(), strict=True):
            each["TimeLimit.truncated"] = cut
        for i in ended:
            infos[i]["terminal_observation"] = self._seen(final["final_obs"][i][None], [i])[0]
            self._summaries[i].begin()
        return self._seen(observations, range(self.num_envs)), reward.astype(np.float32), done, infos

    def close(self) -> None:
        """Release what the environment holds."""
        self.env.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of each copy."""
        return [getattr(self.env._copy(i), attr_name) for i in self._rows(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse: copies share one simulator."""
        raise AttributeError(f"{attr_name!r} cannot be set on copies of a BanditVectorEnv; make it with it")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **keywords: Any) -> list[Any]:
        """Call a method of each copy."""
        if method_name == "action_masks":  # asked in every step: no copies are made for it
            return list(self._masks()[self._rows(indices)])
        return [getattr(self.env._copy(i), method_name)(*args, **keywords) for i in self._rows(indices)]

    def env_is_wrapped(self, wrapper_class: type[Wrapper], indices: Any = None) -> list[bool]:
        """No copy is."""
        return [False] * len(self._rows(indices))

    def get_images(self) -> list[Any]:
        """A frame of each copy."""
        return list(self.env.render())

    def _rows(self, indices: Any) -> list[int]:
        return list(self._get_indices(indices))

    def _masks(self) -> Bools:
        """Which arms may be played now, (B, A)."""
        decisions = self.env.problem.decisions
        require(not decisions.continuous, "environment", "one with arms for action_masks", "a box")
        masks = self.env.simulator.masks(np.arange(self.num_envs)).astype(bool)
        return masks if masks.size else np.ones((self.num_envs, decisions.num_arms), dtype=bool)

    def _note(self, infos: list[dict[str, Any]]) -> None:
        if not self._bare:
            for summary, action, info in zip(self._summaries, self._actions, infos, strict=True):
                summary.note(action, info)

    def _seen(self, observations: Floats, rows: Iterable[int]) -> Floats:
        """What learners see of observations (n, dz) of the copies `rows`, (n, dz + k)."""
        if self._bare:
            return np.array(observations, dtype=np.float32)  # type: ignore[return-value]
        return np.stack([self._summaries[i].vector(seen) for i, seen in zip(rows, observations, strict=True)])


def _of_each(info: dict[str, Any], size: int, rows: Any = slice(None)) -> list[dict[str, Any]]:
    """The info of a vector environment as one dictionary a copy, in the form that a single one has."""
    columns = {key: value for key, value in info.items() if not key.startswith("_")}
    rows = np.arange(size)[rows]
    split = [
        _of_each(value, size, rows)
        if isinstance(value, dict)
        else value[rows].tolist()
        if value.ndim == 1
        else list(value[rows])
        for value in columns.values()
    ]
    if not columns:
        return [{} for _ in rows]
    return [dict(zip(columns, row, strict=True)) for row in zip(*split, strict=True)]
