"""Models of agents that estimate prior means from their own plays."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.problem.setting import Setting

from .model import Model
from .options import ModelOptions


def centred_model(setting: Setting, **options: Unpack[ModelOptions]) -> Model:
    """Return the model of an agent whose prior means come from its own plays.

    Args:
        setting: what is published.
        **options: of the model, but for `prior_mean`.
    """
    _require_absent(options, "prior_mean")
    taken: ModelOptions = {**options, "prior_mean": 0.0}
    return Model.of(setting, **taken)


def unlearnt_model(setting: Setting, **options: Unpack[ModelOptions]) -> Model:
    """Return the same of an agent that learns no hyperparameters either, and holds no arm."""
    _require_absent(options, "refit_every")
    taken: ModelOptions = {**options, "refit_every": None}
    return once_model(setting, **taken)


def once_model(setting: Setting, **options: Unpack[ModelOptions]) -> Model:
    """Return the same of an agent that holds no arm."""
    if (repeat := options.get("repeat", 1.0)) != 1.0:
        raise ArgumentError("repeat", f"must be 1, got {repeat!r}: this agent has no index to hold")
    return centred_model(setting, **options)


def _require_absent(options: ModelOptions, name: str) -> None:
    given = options.get(name)
    if given is not None and np.any(np.asarray(given) != 0.0):
        raise ValueError(f"{name} must be left out: this agent centres and scales by its own plays")
