"""Provide one trial as a Gymnasium environment, a thin shell on the simulator that checks actions."""

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils import RecordConstructorArgs
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

from bandit_envs.basics.arguments import from_extra, require, require_seed, require_switch
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.environment.info import Info, info_of
from bandit_envs.environment.observations import Watched
from bandit_envs.environment.registration import BanditSpec, near_id
from bandit_envs.problem.decisions import SLACK, Decisions
from bandit_envs.problem.problem import Problem
from bandit_envs.problem.rounds import RoundOutcome
from bandit_envs.problem.setting import Setting
from bandit_envs.problem.simulator import SingleSimulator
from bandit_envs.problem.trial import Trial
from bandit_envs.problems import build

RENDER_MODES = ["rgb_array", "ansi"]


class BanditEnv(gym.Env):
    """Play a Gaussian-process bandit; one episode is one trial of `horizon` rounds.

    Args:
        problem: a `Problem`, or the name of a registered one.
        oracle: whether `info` holds the truth under "oracle", for evaluators.
        render_mode: None, "rgb_array" or "ansi".
        **keywords: of the named problem; see `bandit_envs.problems`.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 4}  # noqa: RUF012 (Gymnasium's own convention)
    _spec: EnvSpec | None = None

    def __init__(
        self, problem: str | Problem, *, oracle: bool = True, render_mode: str | None = None, **keywords: Any
    ):
        check_shown(oracle, render_mode)
        self.problem = build(problem, keywords)
        self.oracle, self.render_mode = oracle, render_mode
        self.observation_space, self.action_space = spaces_of(self.problem)
        self.simulator = SingleSimulator(self.problem)
        self._learners = Watched()
        self.watched: object = None  # an agent whose posterior `render` draws, if it has that method

    @property
    def spec(self) -> EnvSpec | None:
        """Return how it was made, with its horizon as `max_episode_steps`; None if not by an id."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:  # type: ignore[override]
        self._spec = BanditSpec.of(spec, self.problem.horizon)

    @property
    def setting(self) -> Setting:
        """Return the published setting; parts of it may change at each reset."""
        trial = self.simulator.trials[0]
        return self.problem.setting() if trial is None else trial.setting

    @property
    def worst_regret(self) -> Floats:
        """Return the regret of the worst arm in each round, (T,), for evaluators; it needs no feedback."""
        trial = self._trial("worst_regret")
        return trial.optimum - trial.worst

    @property
    def absent_gain(self) -> Floats:
        """Return how much better the best feasible arm is than the best available one, (T,), for evaluators.

        Regret is to the available arms of its round. A play's distance to the best arm of all is the sum.
        """
        trial = self._trial("absent_gain")
        return trial.ceiling - trial.optimum

    def _trial(self, name: str) -> Trial:
        trial = self.simulator.trials[0]
        if trial is None:
            raise RuntimeError(f"{name} is defined after reset; call reset first")
        return trial

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, Info]:
        """Draw a new trial.

        Args:
            seed: seeds the environment's generator, from which this and later trials are drawn.
            options: {"function_seed": n} freezes the functions of this trial.
        """
        if seed is not None:
            require_seed("seed", seed)
        super().reset(seed=None if seed is None else int(seed))
        function_seed = checked_options(options)
        self._learners.begin(self.problem)
        trial = self.problem.draw(entropy_word(self.np_random), function_seed)
        outcome = self.simulator.start(trial)
        return outcome.observation, self._info(outcome)

    def step(self, action: Any) -> tuple[Floats, float, bool, bool, Info]:
        """Play an action; the reward is the sum of the feedback *delivered* in this round.

        With a budget, a play that costs more than what is left is not made and ends the episode: `terminated`
        is true, "played" in `info` false, the reward 0, no feedback is delivered, and the observation stays.
        Otherwise `terminated` is false; `truncated` is true in the last round.
        """
        outcome = self.simulator.play(checked_action(action, self.problem.decisions))
        info = self._info(outcome)
        return outcome.observation, outcome.reward, outcome.terminated, outcome.finished, info

    def action_masks(self) -> Bools:
        """Return whether each arm may be played now, (A,), in duels (2 A,), for `sb3_contrib.MaskablePPO`."""
        if self.problem.decisions.continuous:
            raise ValueError("action_masks needs arms, got a box; make it without continuous=True")
        masks = self.simulator.masks(0).astype(bool)
        sides = 2 if self.problem.decisions.duel else 1
        return masks if masks.size else np.ones(sides * self.problem.decisions.num_arms, dtype=bool)

    def _info(self, outcome: RoundOutcome) -> Info:
        info = info_of(outcome, self.oracle)
        if isinstance(self.action_space, AvailableArms):
            self.action_space.now = info["action_mask"].copy()
        return info

    def render(self) -> Any:
        """Render the truth, the plays and their delivered feedback: an RGB array or text.

        With `env.unwrapped.watched = agent` it adds the agent's posterior (GP agents on finite sets).
        """
        if self.render_mode is None:
            gym.logger.warn('render needs a render_mode: gym.make(..., render_mode="rgb_array")')
            return None
        from bandit_envs.rendering.scene import Picture, Scene, Text, text

        scene = Scene.of(self.simulator, self.watched)
        if self.render_mode == "ansi":
            return Text(text(scene))
        with from_extra("eval", "pictures"):
            from bandit_envs.rendering.picture import draw

        return draw(scene).view(Picture)


def spaces_of(problem: Problem) -> tuple[spaces.Space, spaces.Space]:
    """Return the observation and action space of one trial."""
    width = problem.published.scaled_contexts.shape[1]
    return spaces.Box(0.0, 1.0, (width,), np.float32), action_space(problem.decisions, problem.volatile)


def entropy_word(rng: np.random.Generator) -> int:
    """Draw one word that seeds a trial (`rng.spawn` is not restored with the generator's state)."""
    return int(rng.integers(2**63))


def checked_options(options: dict[str, Any] | None) -> int | None:
    """Return the function seed of reset options."""
    if options is None:
        return None
    check_options(options)
    unknown = sorted(set(options) - {"function_seed"})
    if unknown:
        raise ValueError(f'unknown reset option {unknown[0]!r}; the only one is "function_seed"')
    return options.get("function_seed")


def check_options(options: Any) -> None:
    """Raise unless reset options are None or a dict; 0 and [] are errors."""
    require(options is None or isinstance(options, Mapping), "options", "None or a dict", options)


def check_shown(oracle: bool, mode: str | None) -> None:
    """Raise unless `oracle` is a switch and the render mode is supported."""
    require_switch("oracle", oracle)
    known = mode is None or (isinstance(mode, str) and mode in RENDER_MODES)
    require(known, "render_mode", f"None or one of {', '.join(RENDER_MODES)}", mode)


class AvailableArms(spaces.Discrete):
    """Sample among the arms available now, as libraries without masks do; of a copy, give a mask."""

    now: np.ndarray | None = None  # int8 (A,), 1 for available arms; None before the first reset

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """Draw an arm; see `gymnasium.spaces.Discrete`."""
        return super().sample(self.now if mask is None and probability is None else mask, probability)


def action_space(decisions: Decisions, volatile: bool = False) -> spaces.Space:
    """Return `Discrete(A)`, `MultiDiscrete([A, A])` of duels, or `Box(-1, 1, (d,))`."""
    if decisions.continuous:
        return spaces.Box(-1.0, 1.0, (decisions.arms.shape[1],), np.float32)
    if decisions.duel:
        return spaces.MultiDiscrete([decisions.num_arms] * 2)
    return AvailableArms(decisions.num_arms) if volatile else spaces.Discrete(decisions.num_arms)


def shaped_actions(actions: Any, batch: tuple[int, ...], decisions: Decisions) -> np.ndarray:
    """Return actions as integers of shape `batch`, in duels (*batch, 2), or numbers (*batch, d), or raise."""
    array = np.asarray(actions)
    shape = (*batch, *decisions.action_shape)
    if array.shape != shape or array.dtype.kind not in ("fiu" if decisions.continuous else "iu"):
        arms = "integer arms" if batch else "an integer arm"
        arms = "a pair of integer arms" if decisions.duel else arms
        kind = "numbers in [-1, 1]" if decisions.continuous else arms
        raise ValueError(f"action must be {kind} of shape {shape}, got {array!r}")
    return array


def checked_action(action: Any, decisions: Decisions) -> Any:
    """Return the action of one trial, an arm as an integer, a pair (2,) or (d,) in [-1, 1], or raise."""
    if decisions.action_shape:
        return checked_actions(shaped_actions(action, (), decisions), decisions)
    arm = action if type(action) is int else shaped_actions(action, (), decisions).item()
    if not 0 <= arm < decisions.num_arms:
        raise ValueError(_not_an_arm(decisions.num_arms, arm))
    return arm


def checked_actions(array: np.ndarray, decisions: Decisions) -> Ints | Floats:
    """Return the `shaped_actions` of n trials, (n,) arms, (n, 2) pairs or (n, d) in [-1, 1], or raise."""
    if decisions.continuous:
        array = array.astype(np.float64)
        if not (np.abs(array) <= 1.0 + SLACK).all():  # false for NaN
            raise ValueError(f"action must be finite and in [-1, 1], got {array}; see setting.to_action")
        return np.clip(array, -1.0, 1.0)
    arms = array.astype(np.int64, copy=False)
    unsigned = arms.view(np.uint64)  # -1 is the largest number; its place is found sooner than its value
    if arms.size and unsigned.item(unsigned.argmax()) >= decisions.num_arms:
        raise ValueError(_not_an_arm(decisions.num_arms, array))
    return arms


def _not_an_arm(num_arms: int, given: Any) -> str:
    return f"action must be an arm in 0..{num_arms - 1}, got {given}"


FIRST = 2**32  # evaluations seed environments with one word below; see `trial_seeds`
EnvLike = str | Problem | Callable[[], gym.Env]
AROUND_ALL = (OrderEnforcing, PassiveEnvChecker, TimeLimit)  # wrappers that `gym.make` adds to every one


class TrainingSeeds(gym.Wrapper, RecordConstructorArgs):
    """Add 2^32 to every seed, so that its trials are those of no evaluation, whatever the seeds.

    `evaluate` draws the environment of a trial from a seed below 2^32, or from 63 random bits if it isolates
    agents. Tune and train on this wrapper, and evaluations use unseen trials.

    Example:
        >>> env = TrainingSeeds(gym.make("GPBandit-GP-v0", horizon=100))
    """

    def __init__(self, env: gym.Env):
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Start a trial reserved for training; without a seed, the next one of its stream."""
        return self.env.reset(seed=None if seed is None else FIRST + int(seed), options=options)


def make(environment: EnvLike, **keywords: Any) -> gym.Env:
    """Return the environment of a registered id, a `Problem`, or a callable that takes the keywords."""
    if isinstance(environment, str):
        try:
            return gym.make(environment, **keywords)
        except gym.error.NameNotFound as error:
            said = "" if "Did you mean" in str(error) else near_id(environment)
            raise gym.error.NameNotFound(f"{error}{said}") from None
    if isinstance(environment, Problem):
        return BanditEnv(environment, **keywords)
    if callable(environment):
        return environment(**keywords)
    raise ValueError(f"environment must be an id, a Problem or a callable, got {environment!r}")


def plain_problem(environment: EnvLike, made: gym.Env) -> Problem | None:
    """Return the problem of an unmodified environment, whose trials may be played as a batch; else None.

    A callable's results may differ from call to call, and a user's class or wrapper may change the dynamics.
    """
    env = made
    while type(env) in AROUND_ALL:
        env = env.env  # type: ignore[attr-defined]
    plain = not callable(environment) and type(env) is BanditEnv
    return env.problem if plain else None  # type: ignore[attr-defined]


def limit_of(made: gym.Env) -> int | None:
    """Return the number of rounds after which a `TimeLimit` ends an episode; None without one."""
    env = made
    while isinstance(env, gym.Wrapper):
        if isinstance(env, TimeLimit):
            return env._max_episode_steps
        env = env.env
    return None
