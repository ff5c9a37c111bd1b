"""Models that a user trained with stable-baselines3, as agents whose weights are frozen."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gymnasium import spaces

from bandit_envs.basics.arguments import from_extra, require, shown
from bandit_envs.environment.observations import SUMMARIES, make_summary
from bandit_envs.problem.setting import Setting

from ..protocol import handles
from .bridge import Plays
from .policy import PretrainedAgent
from .recipe import find_algorithm

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

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

TRAINED = "a trained model of stable-baselines3, or the path of a file of its save"


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
    options = {"observation": observation, "deterministic": deterministic}
    found = _loaded(model) if isinstance(model, str | os.PathLike) else model
    require(hasattr(found, "policy") and hasattr(found, "observation_space"), "model", TRAINED, model)
    return sb3_model, {"model": found, **options}


@handles("delay", "context", "box", "outcome")
def sb3_model(
    setting: Setting,
    model: str | os.PathLike[str] | Any,
    *,
    observation: Any = None,
    deterministic: bool = False,
) -> PretrainedAgent:
    """Trained model of stable-baselines3 with frozen weights; options as `agents.from_sb3`."""
    found = _loaded(model) if isinstance(model, str | os.PathLike) else model
    require(hasattr(found, "policy") and hasattr(found, "observation_space"), "model", TRAINED, model)
    normalised = getattr(found.get_vec_normalize_env(), "norm_obs", False)
    expected = (
        "trained without VecNormalize(norm_obs=True), whose statistics are not in the model: train it on"
    )
    require(not normalised, "model", f"{expected} VecNormalize(env, norm_obs=False)", model)
    return PretrainedAgent(setting, TrainedModel.of(found, setting, observation), deterministic)


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A model with what it was trained to see and to play; see `PretrainedAgent`."""

    model: Any
    observation: Any
    box: bool

    @classmethod
    def of(cls, model: Any, setting: Setting, observation: Any) -> TrainedModel:
        """Return the model of a setting whose spaces fit, or raise a ValueError that names both sizes."""
        box = isinstance(model.action_space, spaces.Box)
        played = Plays(setting, box).space
        fits = played.shape == model.action_space.shape
        fits = fits and getattr(played, "n", None) == getattr(model.action_space, "n", None)
        require(fits, "model", f"trained to play {played}, as the setting has", model.action_space)
        return cls(model, _observation_of(model, setting, observation), box)

    def unit(self, setting: Setting) -> float:
        """Return 1: environments and wrappers show rewards as they are."""
        return 1.0

    def network(self, setting: Setting) -> Any:
        """Return the policy of stable-baselines3."""
        self.model.policy.set_training_mode(False)
        return self.model.policy


def _observation_of(model: Any, setting: Setting, given: Any) -> Any:
    """Return the given observation, or the only named one of the model's size."""
    tried = [given] if given is not None else [n for n in SUMMARIES if n == "none" or not setting.aggregated]
    sizes = [make_summary(each, setting).space.shape for each in tried]
    fitting = [each for each, size in zip(tried, sizes, strict=True) if size == model.observation_space.shape]
    offered = ", ".join(f"{size} of {shown(each)}" for each, size in zip(tried, sizes, strict=True))
    expected = f"what the model was trained to see, {model.observation_space.shape}; there is {offered}"
    require(len(fitting) == 1, "observation", expected, given)
    return fitting[0]


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
            algorithm = _algorithm_of(json.loads(archive.read("data")))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        require(False, "model", f"a file that a model's save wrote ({error})", os.fspath(path))
        raise
    learner: Any = find_algorithm(algorithm).load()
    return learner.load(file, device="cpu")


def _algorithm_of(saved: Mapping[str, Any]) -> str:
    """Return the name of the algorithm that a file describes."""
    module = saved["policy_class"]["__module__"]
    named = [name for (policy, key), name in SAVED.items() if policy == module and (not key or key in saved)]
    if not named:
        raise ValueError(f"unknown policy of {module}; load the model yourself and give the object")
    return named[0]
