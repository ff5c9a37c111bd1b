"""Policies trained beforehand, by `train_policy` or by the user, and the agents that play them."""

from __future__ import annotations

import json
import os
import pickle
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from bandit_envs.basics.arguments import from_extra, require, shown, written_as
from bandit_envs.basics.files import check_path, held, sweep_beside, whole_file
from bandit_envs.basics.types import Floats
from bandit_envs.environment.observations import SUMMARIES, make_summary
from bandit_envs.problem.setting import Setting

from ..agent.generators import preserved_generators
from ..options import require_reset
from ..protocol import BaseAgent, handles, states_propensities
from ..saving.files import PATIENCE, WAIT
from .bridge import BridgeEnv, Plays, published_unit
from .learner import one_word
from .recipe import Recipe, find_algorithm

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

FORMAT = 1
# Exceptions of torch and json for other or truncated files.
UNREADABLE = pickle.UnpicklingError, RuntimeError, LookupError, TypeError, ValueError, EOFError, OSError


@dataclass(frozen=True, eq=False)
class Policy:
    """Frozen weights with their description; `save` and `load` keep both in one file."""

    algorithm: str  # name of the algorithm that trained it
    options: dict[str, Any]  # of its constructor that shape the network, such as "policy_kwargs"; JSON-able
    box: bool  # True if it plays points of [-1, 1]^d, False for arms
    observation: Any  # see `bandit_envs.environment.observations.make_summary`
    training: dict[str, Any]  # environment, length and seed of the training; JSON-able
    weights: dict[str, Any] = field(repr=False)  # state of the network, name -> tensor

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one file, whole or not at all.

        Raises:
            ValueError: the file is of another kind, or another process is writing it.
        """
        with from_extra("rl", "trained policies"):
            import torch
        check_path("path", path)
        description = {name: value for name, value in vars(self).items() if name != "weights"}
        content = {"format": FORMAT, "description": json.dumps(description), "weights": self.weights}
        with written_as({"file": "path"}), held(path, WAIT, seconds=PATIENCE):
            fresh = not os.path.exists(path) or not os.path.getsize(path) or _is_policy(path)
            require(fresh, "path", "new, or a file that Policy.save wrote", os.fspath(path))
            sweep_beside(path)
            with whole_file(path) as file:
                torch.save(content, file)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Policy:
        """Read a file of `save`. Files hold only numbers and text; none can run code."""
        with from_extra("rl", "trained policies"):
            import torch
        check_path("path", path)
        name = os.fspath(path)
        if not Path(path).is_file():
            raise ValueError(f"path must be a file that Policy.save wrote; there is none at {name!r}")
        try:
            content = torch.load(path, weights_only=True)
            description = json.loads(content["description"])
            if content["format"] == FORMAT:
                return Policy(**description, weights=content["weights"])
        except UNREADABLE as error:
            raise ValueError(f"{name!r} is damaged or not a file that Policy.save wrote") from error
        raise ValueError(f"{name!r} has format {content['format']}, not {FORMAT}; train it again")

    def unit(self, setting: Setting) -> float:
        """Return the published prior std, in which rewards were seen in the training."""
        return published_unit(setting) or 1.0

    def network(self, setting: Setting) -> Any:
        """Return the policy of stable-baselines3 with these weights, for a setting whose spaces fit."""
        recipe = Recipe(find_algorithm(self.algorithm), self.options, self.box, self.observation)
        space = make_summary(self.observation, setting).space
        with preserved_generators():  # weights are drawn before they are replaced
            network = recipe.model(BridgeEnv(space, Plays(setting, self.box).space, _never)).policy
        try:
            network.load_state_dict(self.weights)
        except RuntimeError as error:
            raise ValueError(
                f"the policy was trained on {self.training['environment']} with {self.training['env_kwargs']}"
                ", where observations or actions have another size; play it there, or train one here"
            ) from error
        network.set_training_mode(False)
        return network


def _is_policy(path: str | os.PathLike[str]) -> bool:
    try:
        Policy.load(path)
    except ValueError:
        return False
    return True


def _never(question: Any) -> Any:
    raise RuntimeError("a frozen policy does not learn")


class PretrainedAgent(BaseAgent):
    """Agent with the frozen weights of a `Policy`, or of an object like it; it plays the mode or a draw."""

    track = "pretrained"
    holds_choice = True

    def __init__(self, setting: Setting, policy: Any, deterministic: bool = False):
        self.setting, self.policy, self.deterministic = setting, policy, deterministic
        self._network = policy.network(setting)
        self._plays = Plays(setting, policy.box)
        self._summary = make_summary(policy.observation, setting)
        self._summary.unit = policy.unit(setting)
        self._started = False

    def reset(self, seed: int) -> None:
        import torch

        self._draws = torch.Generator().manual_seed(one_word(seed)).get_state()
        self._memory: Any = None  # of a recurrent network
        self._summary.begin()
        self._action: Any = None  # of the round in progress, once it is drawn
        self._started, self._first = True, True

    def act(self, observation: Floats) -> Any:
        require_reset(self._started)
        if self._action is None:  # otherwise the round has not been played: return the same action
            self._action = self._plays(self._draw(observation))
        return self._action

    def propensity(self, observation: Floats, action: Any) -> float | None:
        """Return the probability of the arm; None on boxes, of memories and masks, and of the mode."""
        distribution = getattr(self._network, "get_distribution", None)
        if self.deterministic or self.policy.box or self._memory is not None or distribution is None:
            return None
        tensor, _ = self._network.obs_to_tensor(self._summary.vector(observation))
        return distribution(tensor).distribution.probs[0, int(action)].item()

    def update(self, observation: Floats, action: Any, reward: Any, info: dict[str, Any]) -> None:
        require_reset(self._started)
        self._summary.note(action, info)
        self._action = None

    def _draw(self, observation: Floats) -> Any:
        import torch

        seen, first = self._summary.vector(observation), np.array([self._first])
        outer = torch.get_rng_state()  # the network draws from the global generator
        torch.set_rng_state(self._draws)
        action, self._memory = self._network.predict(seen, self._memory, first, self.deterministic)
        self._draws, self._first = torch.get_rng_state(), False
        torch.set_rng_state(outer)
        return action


@states_propensities
@handles("delay", "context", "box", "outcome")
def pretrained(
    setting: Setting, path: str | os.PathLike[str], *, deterministic: bool = False
) -> PretrainedAgent:
    """Pretrained policy of `train_policy`, with frozen weights.

    Args:
        path: a file written by `Policy.save`.
        deterministic: True plays the most likely action, False a draw.
    """
    with from_extra("rl", "pretrained policies"):
        return PretrainedAgent(setting, Policy.load(path), deterministic)


# The module of a saved model's policy, and a key that the algorithms of the same policy lack.
SAVED = {
    ("stable_baselines3.dqn.policies", ""): "dqn",
    ("stable_baselines3.sac.policies", ""): "sac",
    ("stable_baselines3.td3.policies", ""): "td3",
    ("sb3_contrib.qrdqn.policies", ""): "qr-dqn",
    ("sb3_contrib.common.recurrent.policies", ""): "recurrent-ppo",
    ("sb3_contrib.common.maskable.policies", ""): "maskable-ppo",
    ("stable_baselines3.common.policies", "clip_range"): "ppo",
    ("stable_baselines3.common.policies", "cg_max_steps"): "trpo",
    ("stable_baselines3.common.policies", ""): "a2c",
}


def from_sb3(
    model: BaseAlgorithm | str | os.PathLike[str], *, observation: Any = None, deterministic: bool = False
) -> tuple[Any, dict[str, Any]]:
    """Return an agent for `evaluate` that plays a trained model of stable-baselines3 or sb3-contrib.

    Its weights are frozen, and tables mark it as trained before (‡). In studies it has the name
    "agents.rl:sb3_model", with the path as its option `model`.

        >>> both = {"mine": agents.from_sb3(model), "GP-UCB": "gp-ucb"}
        >>> result = evaluate("GPBandit-GP-v0", both, trials=2, env_kwargs={"horizon": 50})

    Args:
        model: an object, or the path of a file of its `save`. Loading a file runs code that it holds: load
            only files that you trust.
        observation: what the model was trained to see: "none" for the environment's own observation,
            "history" for `HistoryObservation`, "statistics" for `StatisticsObservation`, or {"kind":
            "statistics", "bins": 20}. Default: the one that has the model's size.
        deterministic: True plays the most likely action, False a draw.
    """
    return sb3_model, {"model": _trained(model), "observation": observation, "deterministic": deterministic}


@handles("delay", "context", "box", "outcome")
def sb3_model(
    setting: Setting,
    model: str | os.PathLike[str] | Any,
    *,
    observation: Any = None,
    deterministic: bool = False,
) -> PretrainedAgent:
    """Trained model of stable-baselines3 with frozen weights; options as `agents.from_sb3`."""
    found = _trained(model)
    normalised = getattr(found.get_vec_normalize_env(), "norm_obs", False)
    without = "trained without VecNormalize(norm_obs=True), whose statistics are not in the model"
    require(not normalised, "model", f"{without}: train it on VecNormalize(env, norm_obs=False)", model)
    box, size = isinstance(found.action_space, spaces.Box), found.observation_space.shape
    played = Plays(setting, box).space
    fits = played.shape == found.action_space.shape
    fits = fits and getattr(played, "n", None) == getattr(found.action_space, "n", None)
    require(fits, "model", f"trained to play {played}, as the setting has", found.action_space)
    known = [name for name in SUMMARIES if name == "none" or not setting.aggregated]
    offers = known if observation is None else [observation]
    tried = [(each, make_summary(each, setting).space.shape) for each in offers]
    fitting = [each for each, its in tried if its == size]
    offered = ", ".join(f"{its} of {shown(each)}" for each, its in tried)
    expected = f"what the model was trained to see, {size}; there is {offered}"
    require(len(fitting) == 1, "observation", expected, observation)
    return PretrainedAgent(setting, TrainedModel(found, fitting[0], box), deterministic)


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A model with what it was trained to see and to play; see `PretrainedAgent`."""

    model: Any
    observation: Any
    box: bool

    def unit(self, setting: Setting) -> float:
        """Return 1: environments and wrappers show rewards as they are."""
        return 1.0

    def network(self, setting: Setting) -> Any:
        """Return the policy of stable-baselines3."""
        self.model.policy.set_training_mode(False)
        return self.model.policy


def _trained(model: str | os.PathLike[str] | Any) -> Any:
    found = _loaded(model) if isinstance(model, str | os.PathLike) else model
    expected = "a trained model of stable-baselines3, or the path of a file of its save"
    require(hasattr(found, "policy") and hasattr(found, "observation_space"), "model", expected, model)
    return found


def _loaded(path: str | os.PathLike[str]) -> BaseAlgorithm:
    """Return the model of a file, whose algorithm follows from the description in it."""
    places = [Path(path), Path(f"{os.fspath(path)}.zip")]  # as stable-baselines3 looks
    file = next((place for place in places if place.is_file()), None)
    missing = "the path of a file that a model's save wrote (no file is there: call `model.save` first)"
    require(file is not None, "model", missing, os.fspath(path))
    assert file is not None
    with from_extra("rl", "trained models"):
        import stable_baselines3 as _  # noqa: F401
    try:
        with zipfile.ZipFile(file) as archive:
            saved = json.loads(archive.read("data"))
        module = saved["policy_class"]["__module__"]
        named = [name for (at, key), name in SAVED.items() if at == module and (not key or key in saved)]
        if not named:
            raise ValueError(f"unknown policy of {module}; load the model yourself and give the object")
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        require(False, "model", f"a file that a model's save wrote ({error})", os.fspath(path))
        raise
    learner: Any = find_algorithm(named[0]).load()
    return learner.load(file, device="cpu")
