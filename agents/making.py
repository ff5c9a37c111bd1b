"""Agents by name, for a setting or an object that has one."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from bandit_envs.basics.arguments import ArgumentError, shown
from bandit_envs.problem.problem import Problem
from bandit_envs.problem.setting import Setting

from .saving.recorded import Saving, recorded


def make(name: str, setting: Any, num_trials: int | None = None, **options: Any) -> Saving:
    """Return an agent, which `save` writes to a file and `agents.load` makes again.

    Args:
        name: one of `names()`, or a class path "package.module:Class".
        setting: a `Setting`, an environment (after its reset), or a `Problem`.
        num_trials: B for one agent of B trials, or None for a single trial.
        **options: of the agent.
    """
    return recorded(name, setting_of(setting), num_trials, options)


def compose(setting: Any, num_trials: int | None = None, **parts: Any) -> Saving:
    """Return a Gaussian-process agent of the given parts, with defaults for the others.

    It equals `make("gp-agent", setting, **parts)`, which takes named parts and the user's own.

    Args:
        setting, num_trials: as for `make`.
        **parts: `rule`, `width`, `belief`, `objective` or `constraint`, `restart`, `incumbent`, and the
            options of the model; see `agents.algorithms.composed.gp_agent`.
    """
    return make("gp-agent", setting, num_trials, **parts)


def setting_of(source: Any) -> Setting:
    """Return the published setting of an environment, single or vector, or of a problem."""
    if isinstance(source, Setting):
        return source
    if isinstance(source, Problem):
        return source.setting()
    if isinstance(source, gym.Env | gym.vector.VectorEnv):
        begun: Any = source.unwrapped
        facts = getattr(getattr(begun, "problem", None), "trial_facts", ())
        if facts and any(trial is None for trial in begun.simulator.trials):
            missing = f"say {' and '.join(facts)}, which its first reset draws"
            raise ArgumentError(
                "setting", f"must {missing}, got {shown(begun)}; call env.reset(seed=...) first"
            )
    if isinstance(source, gym.Env) and source.has_wrapper_attr("setting"):
        return source.get_wrapper_attr("setting")
    found = getattr(source, "setting", None)
    remedy = "environments of other packages have none: write Setting(arms=..., horizon=...)"
    if found is None:
        complaint = f"must be a Setting, a bandit or a Problem, got {shown(source)}; {remedy}"
        raise ArgumentError("setting", complaint)
    return found
