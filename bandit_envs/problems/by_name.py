"""Look up problems by name, with their keywords and data files."""

import inspect
from collections.abc import Callable, Collection
from typing import Any

from bandit_envs.basics.arguments import entry, hint, plain, shown
from bandit_envs.problem.problem import Problem
from bandit_envs.problems import benchmarks, hard, long_term, real, recorded, synthetic, table, tuning
from bandit_envs.problems.features import FEATURES, noted_defaults

FACTORIES: dict[str, Callable[..., Problem]] = {
    "gp": synthetic.gp,
    "rkhs": synthetic.rkhs,
    "delayed": synthetic.delayed,
    "contextual": synthetic.contextual,
    "constrained": synthetic.constrained,
    "duel": synthetic.duel,
    "hard": hard.hard,
    "budget": synthetic.budgeted,
    "clicks": synthetic.clicks,
    "piecewise-stationary": synthetic.piecewise_stationary,
    "composite": synthetic.composite,
    "rosenbrock": benchmarks.rosenbrock,
    "hartmann3": benchmarks.hartmann3,
    "hartmann6": benchmarks.hartmann6,
    "branin": benchmarks.branin,
    "ackley": benchmarks.ackley,
    "small-feasible-region": long_term.small_feasible_region,
    "data-rate-allocation": long_term.data_rate_allocation,
    "intel-temperature": recorded.intel_temperature,
    "cmu-light": recorded.cmu_light,
    "logistic-tuning": tuning.logistic_tuning,
    "cnn-tuning": tuning.cnn_tuning,
    "svm-tuning": tuning.svm_tuning,
    "multi-task-svm": tuning.multi_task_svm,
    "growing-data-svm": tuning.growing_data_svm,
    "real": real.real,
    "table": table.table,
}

SWITCHES = ("delay", "context", "changes", "constraints")  # keywords that False switches off, as None does

# Prefixes of the names of data files; other problems need no data.
DATA_OF = {"intel-temperature": "intel_temperature", "cmu-light": "cmu_light", "multi-task-svm": "tst_svm/"}

# Presets pass their keywords to the factory of their module whose defaults they change.
GENERAL = (synthetic.synthetic, benchmarks.benchmark, long_term.long_term, recorded.sensors)
PRESET_OF: dict[Callable[..., Problem], Callable[..., Problem]] = {
    factory: general
    for general in GENERAL
    for factory in FACTORIES.values()
    if factory.__module__ == general.__module__
}


class UnknownKeywordError(TypeError, ValueError):
    """Report a keyword that the problem does not take: a TypeError as in Python, and our ValueError.

    Its message has Python's phrase "unexpected keyword argument": loaders that pass keywords of their own,
    such as TorchRL's, make an environment again without those that are refused in these words.
    """


def build(problem: str | Problem, keywords: dict[str, Any]) -> Problem:
    """Return the named problem with the given keyword arguments, or a `Problem` unchanged."""
    if isinstance(problem, Problem):
        if keywords:
            raise UnknownKeywordError(
                f"a Problem got an unexpected keyword argument {next(iter(keywords))!r}; it takes none"
            )
        return problem
    if not isinstance(problem, str) or problem not in FACTORIES:
        raise ValueError(f"unknown problem {shown(problem)}; choose one of {', '.join(FACTORIES)}")
    unknown = [key for key in keywords if key not in keywords_of(problem)]
    if unknown:
        allowed = keywords_of(problem)
        close = hint(unknown[0], allowed)
        raise UnknownKeywordError(
            f"{problem!r} got an unexpected keyword argument {unknown[0]!r}{close}; "
            f"it takes {', '.join(allowed)}"
        )
    with entry(f"problem {problem!r}"):
        return FACTORIES[problem](**plain(_switched(keywords, keywords_of(problem))))


def _switched(keywords: dict[str, Any], allowed: Collection[str]) -> dict[str, Any]:
    """Return keywords in which False, which TOML has, is None; without a context there is one alone."""
    off = {key for key in SWITCHES if keywords.get(key) is False}
    single = {"num_contexts": 1} if "context" in off and "num_contexts" in allowed else {}
    return {**single, **keywords, **dict.fromkeys(off)}


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
