"""Short episodes on small problems, one a feature, in which an agent is watched; late rewards, credited."""

from collections.abc import Callable
from copy import deepcopy
from functools import cache, partial
from typing import Any

import gymnasium as gym
import numpy as np
from sklearn.gaussian_process.kernels import RBF

from agents.protocol import Features
from bandit_envs.basics.types import Floats
from bandit_envs.laws.functions import GPSample, KnownFunction
from bandit_envs.problem.decisions import SLACK, Decisions, unit_grid
from bandit_envs.problem.problem import Problem
from bandit_envs.problems import build

SMALL = {"num_arms": 20, "horizon": 24}
OF_FINITE_SETS = ("finite", "delay", "context", "constraint", "change")


def stages(features: Features | None = None) -> dict[str, Problem]:
    """Return the problems of the features that a factory declares; None is every one of a finite set."""
    handled = OF_FINITE_SETS if features is None else [name for name in MAKERS if features._asdict()[name]]
    handled = handled if "finite" in handled else {"box"} & {*handled}
    return {name: make() for name, make in MAKERS.items() if name in handled}


def as_many_arms(trials: int) -> Problem:
    """Return a problem with as many arms as a batch has trials: there numpy mixes up numbers of both."""
    return _small("gp", num_arms=trials)()


def _by_hand(contexts: Floats | None = None, **laws: Any) -> Problem:
    decisions = Decisions(unit_grid(SMALL["num_arms"]), contexts=contexts)
    return Problem(decisions, GPSample(), RBF(0.2), horizon=SMALL["horizon"], **laws)


def _cost(x: Floats) -> Floats:
    """Return a cost that is feasible on the left 70 %; problems with a lambda could not be pickled."""
    return x[:, -1] - 0.7


def _small(name: str, **keywords: Any) -> Callable[[], Problem]:
    return partial(build, name, SMALL | keywords)


MAKERS: dict[str, Callable[[], Problem]] = {
    "finite": _small("gp"),
    # Half the rounds, since a round on a box costs a search.
    "box": _small("rkhs", dim=2, continuous=True, horizon=SMALL["horizon"] // 2),
    # Rounds without feedback, with several, and feedback that is never delivered.
    "delay": _small("gp", delay={"law": "poisson", "mean": 3}, max_delay=5),
    "context": partial(_by_hand, contexts=np.array([[0.0], [0.4], [1.0]])),
    "constraint": partial(_by_hand, constraints=(KnownFunction(_cost),), safe_seed=True),
    "change": _small("gp", changes={"law": "at", "rounds": [8, 16]}),
    "availability": _small("gp", availability={"law": "bernoulli", "p": 0.5}),
}

Show = Callable[[dict[str, Any]], dict[str, Any]]


class AgentCheckError(AssertionError):
    """An agent breaks a rule of the `Agent` protocol: what was expected, what happened, and the remedy."""

    def __init__(self, check: str, expected: str, remedy: str, happened: str):
        super().__init__(f"[{check}] expected {expected}, but {happened}. Remedy: {remedy}.")
        self.check = check


def rehearse(env: Any, agent: Any, env_seed: Any, agent_seed: Any, show: Show) -> np.ndarray:
    """Play one episode, of one trial or of a batch, and return the actions, (T, ...).

    The agent is made for the setting of the same reset. It may keep what it is shown of `info`, not modify
    it.
    """
    observation, info = env.reset(seed=env_seed)
    _call(agent.reset, agent_seed)
    if "action_mask" in info:
        _call(agent.start, show(info))
    actions, done = [], False
    while not done:
        seen = observation.copy()
        action = _call(agent.act, seen)
        _check_action(action, env.action_space, info)
        actions.append(np.array(action))
        following, reward, terminated, truncated, info = env.step(action)
        if not np.all(info.get("played", True)):
            break  # the budget is spent; `evaluate` does not call update either
        shown = show(info)
        kept = deepcopy(shown)
        _call(agent.update, seen, action, reward, shown)
        _check_untouched("observation", observation, seen)
        _check_untouched("info", kept, shown)
        observation, done = following, bool(np.all(np.logical_or(terminated, truncated)))
    return np.stack(actions)


def _call(method: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return method(*arguments)
    except Exception as error:
        raise AgentCheckError(
            "no errors",
            f"{method.__name__} to return",
            'see the error above; in a round without feedback "feedback_mask" is False everywhere, and in '
            '`evaluate` info has no "oracle"',
            f"it raised {type(error).__name__}: {error}",
        ) from error


def _check_action(action: Any, space: gym.Space, info: dict[str, Any]) -> None:
    if not _is_valid(np.asarray(action), space):
        raise AgentCheckError(
            "valid actions",
            f"act to return an element of {space}",
            "return an arm's index, or setting.to_action(point) on a box; a NaN often comes from a division "
            "by a standard deviation of 0",
            f"it returned {action!r}",
        )
    mask = np.atleast_2d(info.get("action_mask", True))
    if "action_mask" in info and not mask[np.arange(len(mask)), np.atleast_1d(action)].all():
        raise AgentCheckError(
            "available arms",
            'act to return an arm whose "action_mask" is 1',
            'read "action_mask" in the info that update gets, which is of the next round, and for the first '
            "round in a method start(info)",
            f"it returned {action!r}",
        )


def _is_valid(action: np.ndarray, space: gym.Space) -> bool:
    if action.shape != space.shape:
        return False
    if isinstance(space, gym.spaces.Box):
        inside = (action >= space.low - SLACK) & (action <= space.high + SLACK)  # NaN is not
        return action.dtype.kind in "fiu" and bool(inside.all())
    assert isinstance(space, gym.spaces.Discrete | gym.spaces.MultiDiscrete)
    sizes = space.n if isinstance(space, gym.spaces.Discrete) else space.nvec
    return action.dtype.kind in "iu" and bool(((action >= 0) & (action < sizes)).all())


def _check_untouched(name: str, kept: Any, given: Any) -> None:
    if not equal(kept, given):
        raise AgentCheckError(
            "nothing changed in place",
            f"update not to modify the {name} that it is given",
            "copy arrays before writing to them; others read the same ones",
            f"the {name} was changed",
        )


def equal(first: Any, second: Any) -> bool:
    """Return True if two nested dictionaries of arrays and numbers are equal."""
    if isinstance(first, dict):
        same_keys = isinstance(second, dict) and first.keys() == second.keys()
        return same_keys and all(equal(first[key], second[key]) for key in first)
    return np.shape(first) == np.shape(second) and bool(np.all(np.asarray(first) == np.asarray(second)))


def everything(info: dict[str, Any]) -> dict[str, Any]:
    """Return the info unchanged."""
    return info


def scrambled(info: dict[str, Any]) -> dict[str, Any]:
    """Return the info with random numbers of the same types and shapes under "oracle"."""
    rng = np.random.default_rng(info["t"] + 1)
    oracle = {}
    for key, value in info["oracle"].items():
        other = rng.normal(scale=3.0, size=np.shape(value))
        oracle[key] = other if isinstance(value, np.ndarray) else type(value)(other)
    return info | {"oracle": oracle}


STREAMS = 6  # of rewards, each with its own seed of the agent, since actions may agree by chance
LATE = (
    "late rewards",
    "what is learnt from a reward to depend on the round that earned it",
    'keep the arm of every round, and credit info["feedback_reward"][k] to that of the round '
    'info["feedback_step"][k]; the argument reward is the sum of all delivered rewards of any rounds',
    "the actions changed with the delivered rewards, and not with the rounds that they belong to, as if "
    "the arm just played had earned them",
)


class Redelivered(gym.Wrapper):
    """The wrapper delivers prescribed values, one a round, as those of the round `delay` before.

    Other feedback is equal for all plays: the noise std of the setting and the least cost. The environment is
    of one trial, values are reward and costs of each round, (T, 1 + C), none before `start`, at least
    `delay`.
    """

    def __init__(self, env: gym.Env, values: Floats, delay: int, start: int):
        super().__init__(env)
        self.values, self.delay, self.start = values, delay, start
        setting = env.get_wrapper_attr("setting")
        self.constant = {"feedback_std": setting.noise_std, "feedback_spent": setting.cost_min or 1.0}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play an action, and deliver this round's value as that of the round `delay` before."""
        observation, _, terminated, truncated, info = self.env.step(action)
        shown = _without_feedback(info)
        late = info["t"] >= self.start
        value = self.values[info["t"]] if late else np.zeros_like(self.values[0])
        if late:
            shown["feedback_mask"][self.delay] = True
            shown["feedback_step"][self.delay] = info["t"] - self.delay
            shown["feedback_reward"][self.delay] = value[0]
            for key in self.constant.keys() & shown.keys():
                shown[key][self.delay] = self.constant[key]
        if late and "feedback_cost" in shown:
            shown["cost"] = float(np.maximum(value[1:], 0.0).sum())
            shown["feedback_cost"][self.delay] = value[1:]
        return observation, float(value[0]), terminated, truncated, shown


def check_crediting(env: gym.Env, seed: int, play: Callable[[gym.Env, int], np.ndarray]) -> None:
    """Raise if an agent's actions depend on the delivered rewards, but never on the rounds of these.

    The same rewards are delivered in the same rounds, as those of `max_delay` rounds before, of the round
    itself, or of any between. An agent that credits them to the arm just played acts the same in all cases;
    an agent that reads the round does not. Agents whose actions hardly depend on rewards pass: opposite
    rewards must change the actions in most streams. `play` runs a new agent of a given seed.
    """
    last = env.get_wrapper_attr("setting").max_delay
    arrivals, horizon = _arrivals(env, seed)
    if not len(arrivals):
        return
    opposite = arrivals.max(axis=0) + arrivals.min(axis=0) - arrivals

    @cache
    def actions(stream: int, lag: int, turned: bool = False) -> np.ndarray:
        order = np.random.default_rng(stream).integers(len(arrivals), size=horizon)
        values = (opposite if turned else arrivals)[order]
        return play(Redelivered(env, values, lag, last), stream)

    def depends_on_round(lag: int) -> bool:
        return any(not np.array_equal(actions(i, last), actions(i, lag)) for i in range(STREAMS))

    def depends_on_rewards() -> bool:
        changed = [not np.array_equal(actions(i, last), actions(i, last, True)) for i in range(STREAMS)]
        return sum(changed) > STREAMS / 2

    if depends_on_round(0) or not depends_on_rewards():
        return
    if not any(depends_on_round(lag) for lag in range(1, last)):
        raise AgentCheckError(*LATE)


def _arrivals(env: gym.Env, seed: int) -> tuple[Floats, int]:
    """Return the rewards and costs delivered under uniform plays, (n, 1 + C), and the number of rounds."""
    env.reset(seed=seed)
    env.action_space.seed(seed)
    values, done = [], False
    while not done:
        _, _, terminated, truncated, info = env.step(env.action_space.sample())
        mask = info["feedback_mask"]
        cost = info["feedback_cost"][mask] if "feedback_cost" in info else np.empty((mask.sum(), 0))
        values.append(np.column_stack([info["feedback_reward"][mask], cost]))
        done = terminated or truncated
    return np.concatenate(values), env.get_wrapper_attr("setting").horizon  # a budget may end it earlier


def _without_feedback(info: dict[str, Any]) -> dict[str, Any]:
    of_values = dict.fromkeys(("feedback_reward", "feedback_cost", "feedback_std", "feedback_spent"), 0.0)
    neutral = {"feedback_mask": False, "feedback_step": -1, **of_values}
    kept = {key: np.full_like(info[key], value) for key, value in neutral.items() if key in info}
    return info | kept | ({"cost": 0.0} if "cost" in info else {})
