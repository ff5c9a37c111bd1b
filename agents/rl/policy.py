"""A pretrained policy: its weights, its observations and actions, and the data of its training."""

from __future__ import annotations

import json
import os
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bandit_envs.basics.extras import from_extra
from bandit_envs.environment.observations import make_summary
from bandit_envs.problem.setting import Setting

from ..generators import preserved_generators
from .algorithms import find_algorithm
from .bridge import BridgeEnv
from .plays import Plays
from .recipe import Recipe

FORMAT = 1
# Exceptions of torch and json for other or truncated files.
UNREADABLE = pickle.UnpicklingError, RuntimeError, LookupError, TypeError, ValueError, EOFError, OSError


@dataclass(frozen=True, eq=False)
class Policy:
    """Frozen weights with their description; `save` and `load` keep both in one file.

    Args:
        algorithm: name of the algorithm that trained it.
        options: of its constructor that shape the network, such as "policy_kwargs"; JSON-able.
        box: True if it plays points of [-1, 1]^d, False for arms.
        observation: see `bandit_envs.environment.observations.make_summary`.
        training: environment, length and seed of the training; JSON-able.
        weights: state of the network, name -> tensor.
    """

    algorithm: str
    options: dict[str, Any]
    box: bool
    observation: Any
    training: dict[str, Any]
    weights: dict[str, Any]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one file."""
        with from_extra("rl", "trained policies"):
            import torch
        description = {name: value for name, value in vars(self).items() if name != "weights"}
        torch.save({"format": FORMAT, "description": json.dumps(description), "weights": self.weights}, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Policy:
        """Read a file of `save`. Files hold only numbers and text; none can run code."""
        with from_extra("rl", "trained policies"):
            import torch
        if not Path(path).is_file():
            raise ValueError(
                f"path must be a file that Policy.save wrote; there is none at {os.fspath(path)!r}"
            )
        try:
            content = torch.load(path, weights_only=True)
            description = json.loads(content["description"])
            if content["format"] == FORMAT:
                return Policy(**description, weights=content["weights"])
        except UNREADABLE as error:
            raise ValueError(
                f"{os.fspath(path)!r} is damaged or not a file that Policy.save wrote"
            ) from error
        raise ValueError(f"{os.fspath(path)!r} has format {content['format']}, not {FORMAT}; train it again")

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


def _never(question: Any) -> Any:
    raise RuntimeError("a frozen policy does not learn")
