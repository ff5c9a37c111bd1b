"""A warning for training of a policy whose observations do not identify the function."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
from gymnasium import Space

from bandit_envs.environment.envs import spaces_of
from bandit_envs.problem.problem import Problem

LIBRARIES = (__name__.partition(".")[0], "stable_baselines3", "sb3_contrib")  # callers that are not the user
REMEDY = (
    "the observation is constant and every episode draws a new function, so that this policy cannot learn "
    "which arm is good: show it the past, with StatisticsObservation (or HistoryObservation for a recurrent "
    'policy; observation="statistics" or "history" in an SB3VectorEnv and train_policy), or freeze the '
    "function, with function_seed=0"
)


def is_blind(problem: Problem, seen: Space) -> bool:
    """Return True if observations of a learner say nothing about a function that is new in every episode."""
    bare = seen.shape == spaces_of(problem)[0].shape
    return bare and problem.decisions.num_contexts == 1 and _draws_functions(problem)


def warn_if_blind(problem: Problem, seen: Space) -> None:
    """Warn, at the user's line, if observations have no information; see `is_blind`."""
    if is_blind(problem, seen):
        warnings.warn(REMEDY, UserWarning, stacklevel=_frames_of_libraries() + 1)


def _frames_of_libraries() -> int:
    """Return the number of calls between the user's line and this function's caller, including that."""
    count, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in LIBRARIES:
        count, frame = count + 1, frame.f_back
    return count - 1


def _draws_functions(problem: Problem) -> bool:
    """Return True if two trials have different functions."""
    if problem.function_seed is not None:
        return False
    first, second = (problem.draw(entropy) for entropy in range(2))
    return not np.array_equal(first.means[0], second.means[0])
