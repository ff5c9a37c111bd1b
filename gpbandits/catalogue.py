"""The catalogue describes every environment and every agent as rows of text."""

import ast
import inspect
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import Any, NamedTuple, is_typeddict

from agents.options import typed_dict_of
from agents.protocol import Features
from agents.registry import names, resolve_agent
from bandit_envs.basics.arguments import hint
from bandit_envs.basics.notebook import brief
from bandit_envs.data.files import find, find_wheel, packages
from bandit_envs.data.runs import Origin, origin_of_table, package_of
from bandit_envs.environment.registration import IDS, near_id
from bandit_envs.problems import (
    FACTORIES,
    build,
    data_files,
    defaults_of,
    example,
    keywords_of,
    meanings,
    sections,
)
from bandit_envs.problems.real import Task, tasks

Rows = list[tuple[str, ...]]
_GIVEN = {"setting", "num_trials"}  # passed by the evaluation, not by the user


class Entry(NamedTuple):
    """An entry holds the name, docstring and tables (title, header, rows) of an environment or agent."""

    name: str
    text: str
    tables: list[tuple[str, tuple[str, ...], Rows]]


def environment(env_id: str) -> Entry:
    """Describe an environment by its docstring, its parts and its keywords; an unknown id is a ValueError."""
    if env_id not in IDS:
        raise ValueError(f"unknown environment {env_id!r}{near_id(env_id)}; `gpbandits envs` lists them")
    problem = IDS[env_id]
    description, *others = sections(problem).items()
    parts = [description[1], *(f"{heading}: {text}" for heading, text in others)]
    code = "".join(f"    {line}\n" for line in example(problem).splitlines())
    text = "\n\n".join([*parts, *([f"Example:\n{code}"] if code else [])])
    header, effects = ("keyword", "default", "meaning"), meanings(problem)
    if any(find(file) is None for file in data_files(problem)):
        unknown = [(keyword, "?", effects[keyword]) for keyword in keywords_of(problem)]
        return Entry(env_id, text, [("Arguments; defaults need the data files", header, unknown)])
    composed = list(build(problem, {}).composed.items())
    known = [(keyword, default, effects[keyword]) for keyword, default in _defaults(defaults_of(problem))]
    return Entry(
        env_id, text, [("Parts by default", ("part", "value"), composed), ("Arguments", header, known)]
    )


def agent(name: str) -> Entry:
    """Describe an agent by its docstring, the features it handles and its keywords."""
    factory = resolve_agent(name)
    keywords = {
        each.name if each.kind is not each.VAR_KEYWORD else f"**{each.name}": each.default
        for each in inspect.signature(factory.make).parameters.values()
        if each.name not in _GIVEN
    }
    handled = [
        (feature, ("yes" if handles else "no") if factory.declares else "not declared, assumed")
        for feature, handles in factory.features._asdict().items()
    ]
    place = f"{factory.make.__module__}.{factory.make.__qualname__}"
    tables: list[tuple[str, tuple[str, ...], Rows]] = [
        ("Features", ("feature", "declared"), handled),
        ("Keywords", ("keyword", "default"), _defaults(keywords)),
    ]
    if (options := typed_dict_of(factory.make)) is not None:
        effects = list(documented_keys(options).items())
        tables.append((f"**options, {options.__name__}", ("option", "effect"), effects))
    text = inspect.getdoc(factory.make) or "No documentation."
    return Entry(name, f"{text}\n\nDefined in {place}.", tables)


def documented_keys(options: type) -> dict[str, str]:
    """Return what the source says of each key of a TypedDict or "", its own before those of its bases."""
    (written,) = ast.parse(inspect.getsource(options)).body
    assert isinstance(written, ast.ClassDef)
    found = {}
    for key, after in zip_longest(written.body, written.body[1:]):
        if isinstance(key, ast.AnnAssign):
            said = ast.literal_eval(after.value) if isinstance(after, ast.Expr) else ""
            found[ast.unparse(key.target)] = " ".join(said.split())
    for base in written.bases:
        above = vars(sys.modules[options.__module__])[ast.unparse(base)]
        found |= documented_keys(above) if is_typeddict(above) else {}
    return found


def _defaults(keywords: Mapping[str, Any]) -> Rows:
    rows = []
    for name, value in keywords.items():
        default = "must be given" if value is inspect.Parameter.empty else brief(value)
        rows.append((name, "see the text" if name.startswith("**") else default))
    return rows


def environment_rows() -> list[tuple[str, ...]]:
    """Return (id, problem, number of arms, horizon, has a box form, data) of each environment."""
    return [(env_id, *_problem_row(problem)) for env_id, problem in IDS.items()]


def task_rows() -> list[tuple[str, ...]]:
    """Return (task, family, pairs of context and arm, source, licence, on this machine) of each real task."""
    rows = []
    for name, task in tasks().items():
        package = package_of(task.tables[0]) if task.tables else None
        if task.problem:
            found = "yes" if all(map(find, data_files(task.problem))) else "a download"
        elif package is None:
            found = "ships with the suite"
        else:
            found = "yes" if find_wheel(package) else f"a download of {packages()[package].megabytes:g} MB"
        rows.append((name, task.family, str(task.points), *source_of(task), found))
    return rows


def origin_of(task: Task) -> Origin:
    """Return who measured what a real task plays."""
    return origin_of_table(task.problem or task.tables[0])


def source_of(task: Task) -> tuple[str, str]:
    """Return the authors of a real task's measurements, with DOI and package, and their licence."""
    origin, package = origin_of(task), package_of(task.tables[0]) if task.tables else None
    said = [origin.authors, *([f"doi:{origin.doi}"] if origin.doi else [])]
    said += [f"in {package} {packages()[package].version}"] if package else []
    return ", ".join(said), origin.licence


def list_agents(*handles: str) -> list[str]:
    """Return the names of agents, ours and those of installed packages, of which each handles some features.

    Args:
        *handles: features, such as "delay" and "constraint"; none lists all. Agents that declare nothing are
            then left out.

    Example:
        >>> assert "gp-bucb" in list_agents("delay")
    """
    require_features(handles)
    found = {name: resolve_agent(name) for name in names()} if handles else dict.fromkeys(names())
    return [x for x, each in found.items() if each is None or (each.declares and not each.lacking(handles))]


def agent_rows() -> list[tuple[str, ...]]:
    """Return (name, algorithm, features handled) of each registered agent."""
    rows = []
    for name in names():
        try:
            factory = resolve_agent(name)
        except Exception as error:  # one broken package must not hide the other agents
            rows.append((name, f"cannot be loaded: {error}", ""))
            continue
        handled = factory.features._asdict() if factory.declares else {}
        rows.append((name, first_line(factory.make), ", ".join(each for each in handled if handled[each])))
    return rows


def require_features(asked: Sequence[str]) -> None:
    """Raise unless all of these are names of features."""
    if unknown := [each for each in asked if each not in Features._fields]:
        known = ", ".join(Features._fields)
        raise ValueError(
            f"unknown feature {unknown[0]!r}{hint(unknown[0], Features._fields)}; it is one of {known}"
        )


def first_line(documented: object) -> str:
    """Return the first line of a docstring without its full stop."""
    return (documented.__doc__ or "").strip().partition("\n")[0].removesuffix(".")


def _problem_row(name: str) -> tuple[str, ...]:
    summary = first_line(FACTORIES[name])
    files = data_files(name)
    if any(find(file) is None for file in files):
        return (summary, "?", "?", "no", "downloaded at first use")
    problem, box = build(name, {}), "no"
    with suppress(ValueError):
        box = "yes" if build(name, {"continuous": True}).decisions.continuous else "no"
    size = str(len(problem.decisions.arms)), str(problem.horizon)
    return (summary, *size, box, "found" if files else "not needed")
