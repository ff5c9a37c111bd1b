"""The registered agents by what they are, asked of them: a new one is tested on arrival."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cache
from inspect import signature
from itertools import cycle
from typing import Any

import numpy as np
import pytest

import agents
from agents.acquisition.randomised import EIMS, PIMS
from agents.acquisition.rules import Thompson
from agents.algorithms import duel_phases, duels
from agents.registry import resolve_agent
from bandit_envs import Setting
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws.delays import PoissonDelay
from gpbandits import evaluate

SETTING = Setting(arms=np.linspace(0, 1, 20)[:, None], horizon=10, kernel=make_kernel("rbf"))

# What some agents ask for.
WITH_ALL = replace(
    SETTING,
    **{"max_delay": 2, "delay": PoissonDelay(1.0), "num_constraints": 1, "constraint_prior_std": 1.0},
    **{"safe_seed": [3], "lipschitz": [9.0]},
)
BOX = Setting(low=np.zeros(1), high=np.ones(1), horizon=10, kernel=make_kernel("rbf"))


# Options with which an agent that chooses another model by itself is composed of parts.
OF_PARTS: dict[str, dict[str, Any]] = {"gp-agent": {"rule": "ucb"}}


def on_a_line(num_arms: int, **told: Any) -> Setting:
    """Arms on a line, a model with an RBF kernel and noise of 0.1, and what else is told."""
    arms = np.linspace(0, 1, num_arms)[:, None]
    return Setting(arms=arms, **{"kernel": make_kernel("rbf"), "noise_std": 0.1, **told})


def batch_as_singles(place: Any, spec: Any, trials: int = 2, **env_kwargs: Any) -> np.ndarray:
    """Return what an agent plays in a batch of trials, (B, T), once it is what it plays in single ones."""
    alone, given = resolve_agent(spec), {"trials": trials, "env_kwargs": env_kwargs}
    batch, singles = (
        evaluate(place, {"it": agent}, **given).actions["it"]
        for agent in (alone, lambda setting: alone(setting))
    )
    np.testing.assert_array_equal(batch, singles)
    return batch


def takes(name: str, **options: Any) -> bool:
    try:
        agents.make(name, SETTING, **options)
    except ValueError:
        return False
    return True


def installed(name: str, *marks: Any) -> Any:
    """A case of an agent, skipped where a package that it needs is not installed."""
    missing = resolve_agent(name).missing
    return pytest.param(name, marks=[*marks, pytest.mark.skipif(bool(missing), reason=f"needs {missing}")])


def seed_for(name: str) -> dict[str, bool]:
    """Keywords of a problem with costs that let an agent play it: some need a safe seed."""
    return {"safe_seed": True} if agents.features(name).seed else {}


def told_for(name: str, slope: float = 20.0) -> dict[str, Any]:
    """Options without which an agent cannot be made where the model is withheld."""
    slopes = {"lipschitz": [slope]} if takes(name, lipschitz=[slope]) else {}
    named = signature(resolve_agent(name).make).parameters
    chances = {"chances": [0.5, 0.3, 0.2]} if "chances" in named else {}
    return slopes | chances


def draws_functions(name: str) -> bool:
    """Whether what it plays hangs on a draw, which depends on how the posterior is represented."""
    return isinstance(getattr(_made(name, SETTING), "rule", None), Thompson | PIMS | EIMS)


@cache
def shape(name: str) -> tuple[Any, ...]:
    """Return what agents of the same factory shape share.

    It is the class of the agent on a finite set and on a box, the features of problems that it handles, and
    whether it draws functions.
    """
    handled = agents.features(name)
    features = (handled.delay, handled.context, handled.constraint, handled.change)
    return type(_made(name, WITH_ALL)), type(_made(name, BOX)), features, draws_functions(name)


def _made(name: str, setting: Setting) -> Any:
    try:
        return resolve_agent(name)(setting)
    except ValueError:  # it plays no boxes
        return None


def of_each_shape(cases: Iterable[Any]) -> list[Any]:
    """Mark cases of agents as further ones, but for the first of each factory shape.

    Those of the most frequent shapes are typical. Learners of other libraries play one trial after another
    and take their time: all of them are long.

    Args:
        cases: names, or tuples of a name and more; among them shapes are counted for each "more" by itself.
    """
    met: set[Any] = set()
    marked = []
    for case in cases:
        name, *more = case if isinstance(case, tuple) else (case,)
        marks = [*installed(name).marks]
        if not resolve_agent(name).batched:
            marks.append(pytest.mark.long)
        elif (kind := (shape(name), repr(more))) in met:
            marks.append(pytest.mark.further)
        else:
            met.add(kind)
            marks += [pytest.mark.typical] if shape(name) in frequent_shapes() else []
        marked.append(pytest.param(name, *more, marks=marks))
    return marked


@cache
def frequent_shapes() -> set[Any]:
    return {each for each, _ in Counter(map(shape, BATCHED)).most_common(6)}


def representatives(names: Iterable[str]) -> list[str]:
    first: dict[Any, str] = {}
    for name in names:
        first.setdefault(shape(name), name)
    return list(first.values())


def with_each(names: Iterable[str], others: Collection[Any]) -> list[Any]:
    """Return cases: the first name of each factory shape with all others, further names with one in turn."""
    names = list(names)
    first = set(representatives(name for name in names if resolve_agent(name).batched))
    return of_each_shape(
        (name, other)
        for i, name in enumerate(names)
        for j, other in enumerate(others)
        if name in first or (i + j) % len(others) == 0
    )


def in_turn(cases: Iterable[Any], others: Collection[Any]) -> list[Any]:
    """Return cases with one of the others in turn, for what breaks by an agent or by one of them alone."""
    tuples = (case if isinstance(case, tuple) else (case,) for case in cases)
    return of_each_shape((*case, other) for case, other in zip(tuples, cycle(others), strict=False))


OF_DUELS = {duels.__name__, duel_phases.__name__}
DUELLING = [name for name in agents.names() if resolve_agent(name).make.__module__ in OF_DUELS]
OF_ARMS = [name for name in agents.names() if name not in DUELLING]  # they choose single arms
EACH = [installed(name) for name in OF_ARMS]
# The others, learners of other libraries, play their trials one after another.
BATCHED = [name for name in OF_ARMS if resolve_agent(name).batched]
GAUSSIAN = [name for name in BATCHED if takes(name, form="pairs")]  # they keep a posterior
LEARNING = [name for name in GAUSSIAN if takes(name, refit_every=4)]  # they learn its hyperparameters
REPEATING = [name for name in GAUSSIAN if takes(name, repeat=2.0)]  # they can hold an arm
EXACT = [name for name in GAUSSIAN if not draws_functions(name)]
# They read what comes back; `random` looks at nothing, and a privileged one at more than that.
LISTENING = [name for name in BATCHED if name != "random" and not agents.features(name).privileged]
