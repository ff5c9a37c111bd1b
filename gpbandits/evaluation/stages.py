"""Agents are checked on these small problems, one for each feature."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF

from bandit_envs.basics.types import Floats
from bandit_envs.laws.functions import GPSample, KnownFunction
from bandit_envs.problem.decisions import Decisions, unit_grid
from bandit_envs.problem.problem import Problem
from bandit_envs.problems import build

SMALL = {"num_arms": 20, "horizon": 24}
OF_FINITE_SETS = ("finite", "delay", "context", "constraint", "change")


def stages(features: Any = None) -> dict[str, Problem]:
    """Return the problems on which an agent is checked.

    Args:
        features: the features that its factory declares, in attributes "finite", "box", "delay", "context",
            "constraint", "change" and "availability"; None is every feature of a finite set.
    """
    handled = (
        OF_FINITE_SETS
        if features is None
        else tuple(name for name in MAKERS if getattr(features, name, False))
    )
    if "finite" not in handled:
        handled = tuple(name for name in handled if name == "box")
    return {name: MAKERS[name]() for name in MAKERS if name in handled}


def _arms() -> Problem:
    return build("gp", SMALL)


def _box() -> Problem:
    """Make a box problem with half the rounds, since a round on a box costs a search."""
    return build("rkhs", SMALL | {"dim": 2, "continuous": True, "horizon": SMALL["horizon"] // 2})


def _delay() -> Problem:
    """Make a problem with rounds without feedback, with several, and feedback that is never delivered."""
    return build("gp", SMALL | {"delay": {"law": "poisson", "mean": 3}, "max_delay": 5})


def _change() -> Problem:
    return build("gp", SMALL | {"changes": {"law": "at", "rounds": [8, 16]}})


def _availability() -> Problem:
    return build("gp", SMALL | {"availability": {"law": "bernoulli", "p": 0.5}})


def _context() -> Problem:
    return _by_hand(contexts=np.array([[0.0], [0.4], [1.0]]))


def _constraint() -> Problem:
    return _by_hand(constraints=(KnownFunction(_cost),), safe_seed=True)


def _by_hand(contexts: Floats | None = None, **laws: Any) -> Problem:
    decisions = Decisions(unit_grid(SMALL["num_arms"]), contexts=contexts)
    return Problem(decisions, GPSample(), RBF(0.2), horizon=SMALL["horizon"], **laws)


def _cost(x: Floats) -> Floats:
    """Return a cost that is feasible on the left 70 %."""
    return x[:, -1] - 0.7


MAKERS = {
    "finite": _arms,
    "box": _box,
    "delay": _delay,
    "context": _context,
    "constraint": _constraint,
    "change": _change,
    "availability": _availability,
}
