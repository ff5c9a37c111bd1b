"""A warning of learners whose observations say nothing of a function that is new in every episode."""

import inspect
import sys
import warnings
from typing import Any

import numpy as np
from gymnasium.spaces import Space

from bandit_envs.problem.problem import Problem

LEARNERS = ("stable_baselines3", "sb3_contrib")
LIBRARIES = ("bandit_envs", "agents", "gymnasium", *LEARNERS)  # callers that are not the user
EPISODES = 3  # begun by a learner: with fewer it learns within one, as `evaluate` lets it
REMEDY = (
    "the observation is constant and every episode draws a new function, so that this policy cannot learn "
    "which arm is good: show it the past, with StatisticsObservation (or HistoryObservation for a recurrent "
    'policy; observation="statistics" or "history" in an SB3VectorEnv and train_policy), or freeze the '
    "function, with function_seed=0"
)


def is_blind(problem: Problem, seen: Space) -> bool:
    """Return True if observations of a learner say nothing about a function that is new in every episode."""
    if seen.shape != problem.setting().scaled_contexts.shape[1:] or problem.decisions.num_contexts != 1:
        return False
    if problem.function_seed is not None:
        return False
    first, second = (problem.draw(entropy) for entropy in range(2))
    return not np.array_equal(first.means[0], second.means[0])


def warn_if_blind(problem: Problem, seen: Space) -> None:
    """Warn, at the user's line, if observations have no information; see `is_blind`."""
    if is_blind(problem, seen):
        warnings.warn(REMEDY, UserWarning, stacklevel=_frames_of_libraries() + 1)


class Watched:
    """The episodes that a model of stable-baselines3 begins in an environment are counted, to warn once."""

    def __init__(self) -> None:
        self._begun = 0

    def begin(self, problem: Problem) -> None:
        """Count an episode if a model begins it in `learn`, and warn at the third one if it is blind."""
        if self._begun >= EPISODES or "stable_baselines3" not in sys.modules:
            return
        model = _learner()
        if model is None:
            return
        self._begun += 1
        if self._begun == EPISODES:
            warn_if_blind(problem, model.observation_space)


def _learner() -> Any:
    """Return the model whose `learn` has called, None without one."""
    frame = inspect.currentframe()
    while frame is not None:
        ours = frame.f_globals.get("__name__", "").partition(".")[0] in LEARNERS
        if ours and frame.f_code.co_name in ("_setup_learn", "collect_rollouts"):
            return frame.f_locals.get("self")
        frame = frame.f_back
    return None


def _frames_of_libraries() -> int:
    """Return the number of calls between the user's line and this function's caller, including that."""
    count, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in LIBRARIES:
        count, frame = count + 1, frame.f_back
    return count - 1
