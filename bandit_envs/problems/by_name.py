"""Look up problems by name, with their keywords and data files."""

import inspect
from collections.abc import Callable
from typing import Any

from bandit_envs.basics.arguments import entry, hint, shown
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.benchmarks import ackley, benchmark, branin, hartmann3, hartmann6, rosenbrock
from bandit_envs.problems.features import FEATURES, noted_defaults
from bandit_envs.problems.hard import hard
from bandit_envs.problems.long_term import data_rate_allocation, long_term, small_feasible_region
from bandit_envs.problems.real import real
from bandit_envs.problems.recorded import cmu_light, intel_temperature
from bandit_envs.problems.synthetic import (
    budgeted,
    clicks,
    composite,
    constrained,
    contextual,
    delayed,
    duel,
    gp,
    piecewise_stationary,
    rkhs,
    synthetic,
)
from bandit_envs.problems.tuning import (
    cnn_tuning,
    growing_data_svm,
    logistic_tuning,
    multi_task_svm,
    svm_tuning,
)

FACTORIES: dict[str, Callable[..., Problem]] = {
    "gp": gp,
    "rkhs": rkhs,
    "delayed": delayed,
    "contextual": contextual,
    "constrained": constrained,
    "duel": duel,
    "hard": hard,
    "budget": budgeted,
    "clicks": clicks,
    "piecewise-stationary": piecewise_stationary,
    "composite": composite,
    "rosenbrock": rosenbrock,
    "hartmann3": hartmann3,
    "hartmann6": hartmann6,
    "branin": branin,
    "ackley": ackley,
    "small-feasible-region": small_feasible_region,
    "data-rate-allocation": data_rate_allocation,
    "intel-temperature": intel_temperature,
    "cmu-light": cmu_light,
    "logistic-tuning": logistic_tuning,
    "cnn-tuning": cnn_tuning,
    "svm-tuning": svm_tuning,
    "multi-task-svm": multi_task_svm,
    "growing-data-svm": growing_data_svm,
    "real": real,
}

# Prefixes of the names of data files; other problems need no data.
DATA_OF = {"intel-temperature": "intel_temperature", "cmu-light": "cmu_light", "multi-task-svm": "tst_svm/"}

# Presets pass their keywords to the factory whose defaults they change.
PRESET_OF: dict[Callable[..., Problem], Callable[..., Problem]] = {
    **dict.fromkeys((gp, rkhs, delayed, contextual, constrained, budgeted, duel), synthetic),
    **dict.fromkeys((piecewise_stationary, composite, clicks), synthetic),
    **dict.fromkeys((rosenbrock, hartmann3, hartmann6, branin, ackley), benchmark),
    **dict.fromkeys((small_feasible_region, data_rate_allocation), long_term),
}


class UnknownKeywordError(TypeError, ValueError):
    """Report a keyword that the problem does not take: a TypeError as in Python, and our ValueError."""


def build(problem: str | Problem, keywords: dict[str, Any]) -> Problem:
    """Return the named problem with the given keyword arguments, or a `Problem` unchanged."""
    if isinstance(problem, Problem):
        if keywords:
            raise UnknownKeywordError(f"a Problem takes no further keywords, got {', '.join(keywords)}")
        return problem
    if not isinstance(problem, str) or problem not in FACTORIES:
        raise ValueError(f"unknown problem {shown(problem)}; choose one of {', '.join(FACTORIES)}")
    unknown = [key for key in keywords if key not in keywords_of(problem)]
    if unknown:
        allowed = keywords_of(problem)
        close = hint(unknown[0], allowed)
        raise UnknownKeywordError(
            f"unknown keyword {unknown[0]!r} for {problem!r}{close}; it takes {', '.join(allowed)}"
        )
    with entry(f"problem {problem!r}"):
        return FACTORIES[problem](**keywords)


def data_files(problem: str) -> list[str]:
    """Return the data files that a named problem needs, as `bandit_envs.data.find` takes them."""
    from bandit_envs.data.files import sources

    return [file for file in sources() if problem in DATA_OF and file.startswith(DATA_OF[problem])]


def keywords_of(problem: str) -> list[str]:
    """Return the keyword arguments that a named problem takes."""
    return list(_of_factory(problem))


def defaults_of(problem: str) -> dict[str, Any]:
    """Return the keyword arguments of a named problem with their defaults; it makes the problem once."""
    with noted_defaults() as own:
        build(problem, {})
    return {key: own.get(key, default) for key, default in _of_factory(problem).items()}


def _of_factory(problem: str) -> dict[str, Any]:
    factory = FACTORIES[problem]
    own = inspect.signature(PRESET_OF.get(factory, factory)).parameters.values()
    taken = {p.name: p.default for p in own if p.kind is p.KEYWORD_ONLY and p.name != "name"}
    return taken | FEATURES
