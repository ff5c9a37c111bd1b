"""Provide B trials as one Gymnasium vector environment: a faster `SyncVectorEnv` of `BanditEnv`."""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from bandit_envs.basics import arguments
from bandit_envs.basics.threads import one_thread
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.environment import envs
from bandit_envs.environment.envs import checked_actions, shaped_actions
from bandit_envs.environment.info import Info, info_of, with_masks
from bandit_envs.environment.registration import BanditSpec
from bandit_envs.problem.problem import Problem
from bandit_envs.problem.rounds import RoundOutcome
from bandit_envs.problem.setting import Setting, batch_settings
from bandit_envs.problem.simulator import Simulator
from bandit_envs.problems import build

Seeds = int | Sequence[int | None] | None


class BanditVectorEnv(gym.vector.VectorEnv):
    """Play `num_envs` trials in one simulator, each copy with its own generator.

    Args:
        problem, oracle, render_mode, **keywords: as for `BanditEnv`.
        num_envs: B.
        autoreset_mode: NEXT_STEP (Gymnasium's default), SAME_STEP or DISABLED.
        max_episode_steps: truncate earlier than the horizon, as Gymnasium's `TimeLimit`.
    """

    metadata = {"render_modes": envs.RENDER_MODES, "render_fps": 4, "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012
    _spec: EnvSpec | None = None

    def __init__(
        self,
        problem: str | Problem,
        num_envs: int = 1,
        *,
        oracle: bool = True,
        render_mode: str | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        **keywords: Any,
    ):
        envs.check_shown(oracle, render_mode)
        valid = max_episode_steps is None or arguments.is_count(max_episode_steps)
        arguments.require(valid, "max_episode_steps", "None or a positive integer", max_episode_steps)
        self.problem = build(problem, keywords)
        arguments.require_size("num_envs", num_envs, self.problem.horizon)
        num_envs = arguments.plain(num_envs)
        self.num_envs, self.oracle, self.render_mode = num_envs, oracle, render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space, self.single_action_space = envs.spaces_of(self.problem)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        limit = min(self.problem.horizon, max_episode_steps or self.problem.horizon)
        self.simulator = Simulator(self.problem, num_envs, limit)
        self._rows = np.arange(num_envs)
        self._done, self._everyone = np.zeros(num_envs, dtype=bool), np.ones(num_envs, dtype=bool)
        self._seeded = [seeding.np_random() for _ in range(num_envs)]

    @property
    def spec(self) -> EnvSpec | None:
        """Return how it was made, with the rounds of an episode as `max_episode_steps`."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:  # type: ignore[override]
        self._spec = BanditSpec.of(spec, int(self.simulator.limit))

    @property
    def setting(self) -> Setting:
        """Return the published setting, with (B,) arrays where the trials differ."""
        return batch_settings([self._copy(i).setting for i in range(self.num_envs)])

    @property
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """Return the generator of each copy."""
        return tuple(rng for rng, _ in self._seeded)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """Return the seed of each copy's generator."""
        return tuple(seed for _, seed in self._seeded)

    def reset(self, *, seed: Seeds = None, options: dict[str, Any] | None = None) -> tuple[Floats, Info]:
        """Draw new trials, in all copies or in those of `options["reset_mask"]`.

        Args:
            seed: None, one integer (copy i gets seed + i) or one a copy.
            options: {"function_seed": n, "reset_mask": (B,) bool}.
        """
        envs.check_options(options)
        options = dict(options or {})
        given = options.pop("reset_mask", None)
        mask = self._everyone if given is None else np.asarray(given)
        if mask.shape != (self.num_envs,) or mask.dtype != bool or not mask.any():
            raise ValueError(f"reset_mask must be ({self.num_envs},) bool with a True in it, got {mask}")
        rows = self._rows[mask]
        function_seed = envs.checked_options(options)
        for i, value in zip(self._rows, self._seed_list(seed), strict=True):
            if value is not None and i in rows:
                self._seeded[i] = seeding.np_random(value)
        self._done[rows] = False
        outcome = self._begin(rows, function_seed)
        return self._observations(), self._spread(rows, outcome)

    def step(self, actions: Any) -> tuple[Floats, Floats, Bools, Bools, Info]:  # type: ignore[override]
        """Play one action in each copy; Gymnasium's autoreset mode decides what follows an end."""
        shaped = shaped_actions(actions, (self.num_envs,), self.problem.decisions)
        if np.count_nonzero(self._done):
            if self.autoreset_mode is AutoresetMode.NEXT_STEP:
                return self._step_after_end(shaped)
            if self.autoreset_mode is AutoresetMode.DISABLED:
                remedy = 'call reset(options={"reset_mask": done}) first'
                raise RuntimeError(f"a copy has finished its trial; {remedy}")
        outcome = self._play(self._rows, checked_actions(shaped, self.problem.decisions))
        observation, info = outcome.observation, self._spread(self._rows, outcome)
        if np.count_nonzero(self._done) and self.autoreset_mode is AutoresetMode.SAME_STEP:
            info, observation = self._restart(outcome, info, self._done.copy()), self._observations()
        return observation, outcome.reward, outcome.terminated, outcome.finished, info

    def render(self) -> tuple[Any, ...]:
        """Return a frame of each copy."""
        return self.call("render")

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of each copy, or read an attribute of it."""
        found = [getattr(self._copy(i), name) for i in range(self.num_envs)]
        return tuple(item(*args, **kwargs) if callable(item) else item for item in found)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Read an attribute of each copy."""
        return self.call(name)

    def _copy(self, row: int) -> envs.BanditEnv:
        env = envs.BanditEnv(self.problem, oracle=self.oracle, render_mode=self.render_mode)
        env.simulator = self.simulator.view(row)
        env._np_random, env._np_random_seed = self._seeded[row]
        return env

    @one_thread()
    def _begin(self, rows: Ints, function_seed: int | None = None) -> RoundOutcome:
        words = [envs.entropy_word(self._seeded[i][0]) for i in rows]
        return self.simulator.begin(rows, [self.problem.draw(word, function_seed) for word in words])

    def _play(self, rows: Ints, actions: Ints | Floats) -> RoundOutcome:
        outcome = self.simulator.play(rows, actions)
        self._done[rows] = outcome.terminated | outcome.finished
        return outcome

    def _step_after_end(self, actions: np.ndarray) -> tuple[Floats, Floats, Bools, Bools, Info]:
        """Restart the finished copies, ignoring their actions, and play the others."""
        begun, playing = self._rows[self._done], self._rows[~self._done]
        checked = checked_actions(actions[playing], self.problem.decisions)
        self.simulator.check_available(playing, checked)  # before anything changes
        self._done[begun] = False
        merged = RoundOutcome.merged([self._begin(begun), self._play(playing, checked)], [begun, playing])
        info = self._spread(self._rows, merged)
        return self._observations(), merged.reward, merged.terminated, merged.finished, info

    def _restart(self, outcome: RoundOutcome, info: Info, ended: Bools) -> Info:
        """Put the last round of the ended copies under `final_*` and restart them."""
        rows = self._rows[ended]
        final_obs = np.full(self.num_envs, None, dtype=object)
        for i in rows:
            final_obs[i] = outcome.observation[i]
        last = outcome.each(lambda part: part[rows])
        self._done[rows] = False
        others = outcome.each(lambda part: part[~ended])
        merged = RoundOutcome.merged([others, self._begin(rows)], [self._rows[~ended], rows])
        final = {"final_obs": final_obs, "final_info": self._spread(rows, last)}
        masks = {f"_{key}": ended.copy() for key in final}
        return self._spread(self._rows, merged) | final | masks

    def _spread(self, rows: Ints, outcome: RoundOutcome) -> Info:
        """Return the info of some copies in arrays for all, zero elsewhere, with masks."""
        present = self._everyone
        if len(rows) < self.num_envs:
            outcome = outcome.each(lambda part: _scattered(part, rows, self.num_envs))
            present = np.isin(self._rows, rows)
        return with_masks(info_of(outcome, self.oracle), present)

    def _observations(self) -> Floats:
        simulator = self.simulator
        return simulator.views[simulator.context[self._rows, simulator.round]]

    def _seed_list(self, seed: Any) -> Sequence[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if arguments.is_integer(seed):
            arguments.require_seed("seed", seed)
            return [int(seed) + i for i in range(self.num_envs)]
        listed = isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str)
        if not listed or len(seed) != self.num_envs:
            given = len(seed) if listed else arguments.shown(seed)
            complaint = f"must be one integer or {self.num_envs} of them, got {given}"
            raise arguments.ArgumentError("seed", complaint)
        for i, each in enumerate(seed):
            if each is not None:
                arguments.require_seed(f"seed[{i}]", each)
        return [None if each is None else int(each) for each in seed]


def _scattered(part: Any, rows: Ints, size: int) -> Any:
    full = np.zeros((size, *part.shape[1:]), dtype=part.dtype)
    full[rows] = part
    return full
