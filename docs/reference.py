"""Pages of every public name, environment, agent, law, part and command, made from the registries."""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, is_typeddict

import typer
from docstrings import as_rst, linked, to_pages
from entries import NOTATION, entries
from parts import PARTS, built, laws_by_kind, options
from pictures import portrait
from public import defined, exported, is_code, modules, own_agents, place
from sphinx.util.typing import stringify_annotation

from agents.protocol import demanded
from agents.registry import resolve_agent
from bandit_envs.basics.notebook import brief
from bandit_envs.data.files import find
from bandit_envs.environment.registration import IDS
from bandit_envs.problem.setting import Setting
from bandit_envs.problems import FACTORIES, build, data_files, defaults_of, keywords_of, meanings, sections
from gpbandits.catalogue import documented_keys
from gpbandits.commands import app

# What a setting says of the model of an environment, where it does.
FACTS = (
    *("horizon", "kernel", "noise_std", "noise_bound", "rkhs_bound", "reward_lower_bound", "outcome"),
    *("max_delay", "delay", "num_constraints", "constraint_noise_std", "safe_seed", "budget", "movement"),
)


def write_reference(folder: Path) -> None:
    """Write the pages into a folder; one that has not changed is left, and then not read again."""
    folder.mkdir(exist_ok=True)
    draw_environments(folder / "pictures")
    made = pages()
    for file in folder.glob("*.rst"):
        if file.stem not in made:  # of a module that is gone
            file.unlink()
    for name, page in made.items():
        file = folder / f"{name}.rst"
        if not file.exists() or file.read_text(encoding="utf-8") != page:
            file.write_text(page, encoding="utf-8")


def pages() -> dict[str, str]:
    """The pages by their names: one of each that goes by a name, and one of each package."""
    rooms = "".join(f"   {package}\n" for package in sorted(modules()) if "." in package)
    return {
        "environments": _page("Environments by id", _environments()),
        **{env_id: _page(env_id, _environment(env_id, name)) for env_id, name in IDS.items()},
        "agents-by-name": _page("Agents by name", _agents()),
        "parts": _page("Laws and parts by name", _parts()),
        "commands": _page("Commands", _commands()),
        "rooms": _page(
            "All modules",
            ["For readers of the code: every package.", f".. toctree::\n   :maxdepth: 1\n\n{rooms}"],
        ),
        **{package: _page(f"``{package}``", _package(package)) for package in modules()},
    }


def _page(title: str, blocks: Iterator[str] | list[str]) -> str:
    return f"{title}\n{'=' * len(title)}\n\n" + "\n\n".join(blocks) + "\n"


def _directive(kind: str, name: str, body: str, *options: str) -> str:
    lines = (*(f":{option}" for option in options), "", *body.splitlines())
    return "\n".join([f".. {kind}:: {name}", *(f"   {line}".rstrip() for line in lines)])


def _environments() -> Iterator[str]:
    yield "For looking up one environment: its picture, problem, defaults, and the agents that handle it."
    listed = (f"- :doc:`{env_id} <{env_id}>`: {_first_line(FACTORIES[name])}" for env_id, name in IDS.items())
    yield "\n".join(listed)
    yield ".. toctree::\n   :hidden:\n\n" + "".join(f"   {env_id}\n" for env_id in IDS)


def _environment(env_id: str, name: str) -> Iterator[str]:
    """Show an environment; what needs data files that are not on this machine is left out."""
    made, found = place(FACTORIES[name]), all(map(find, data_files(name)))
    yield "For readers who play this environment: its problem, defaults and agents."
    yield _directive("environment", env_id, f"The problem :py:func:`{made}`.")
    if found:
        yield _directive("image", f"pictures/{env_id}.png", "", f"alt: {env_id}")
        yield "The mean rewards of one trial, and random plays."
    (_, description), *others = sections(name).items()
    yield "\n".join(as_rst(description.splitlines()))
    for heading, text in others:
        yield f"{heading}\n{'-' * len(heading)}\n\n" + "\n".join(as_rst([text]))
    yield "Agents\n------"
    if found:
        setting = build(name, {}).setting()
        best, handling = agents_for(setting)
        call = f'print(evaluate("{env_id}", {best}, trials=5).table())'
        yield "A comparison:"
        yield _directive("code-block", "python", f"from gpbandits import evaluate\n\n{call}")
        yield f"Agents that play it and handle its features: {', '.join(f'``{each}``' for each in handling)}."
        yield "With these defaults the setting gives agents:"
        yield "\n".join(f"- ``{fact}``: ``{brief(value)}``" for fact, value in _told(setting).items())
    values = defaults_of(name) if found else dict.fromkeys(keywords_of(name), "needs the data files")
    yield "Arguments\n---------\n\nThe values are those that this environment has where you give none."
    effects = {keyword: linked(effect) for keyword, effect in meanings(name).items()}
    yield "\n".join(f"- ``{key}={brief(value)}``: {effects[key]}." for key, value in values.items())


def agents_for(setting: Setting) -> tuple[list[str], list[str]]:
    """Return three agents to compare on a problem, and all of ours that play it and handle its features."""
    plain = [each for each in own_agents() if "sb3" not in each and _plays(each, setting)]
    wanted = "gp-agent", "gp-bucb", "gp-ucb", "config", "gp-ucb-cpd", "maxminlcb", "double-ts"
    if setting.outcome is not None:
        wanted = "laplace-ucb", "laplace-ts"
    return [*[each for each in wanted if each in plain][:2], "random"], plain


def _plays(agent: str, setting: Setting) -> bool:
    """Return whether an agent handles all features of a setting, sees no truth, and can be made for it."""
    entry = resolve_agent(agent)
    if entry.features.privileged or entry.lacking(demanded(setting)):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of agents that another suits better
            entry(setting)
    except ModuleNotFoundError:  # of another library, which the page names all the same
        return True
    except ValueError:  # it needs a safe seed, or plays pairs of arms
        return False
    return True


def _told(setting: Setting) -> dict[str, Any]:
    """Return what an environment with its defaults publishes of its model; a kernel of None is none."""
    facts = {fact: getattr(setting, fact) for fact in FACTS}
    return {fact: value for fact, value in facts.items() if value is not None or fact == "kernel"}


def draw_environments(folder: Path) -> None:
    """Draw each environment whose data is on this machine and whose picture is not there yet."""
    folder.mkdir(exist_ok=True)
    for env_id, name in IDS.items():
        file = folder / f"{env_id}.png"
        if file.exists() or not all(map(find, data_files(name))):
            continue
        file.write_bytes(portrait(env_id)._repr_png_() or b"")


def _agents() -> Iterator[str]:
    yield NOTATION
    for name, text in entries():
        yield _directive("agent", name, text)


def _parts() -> Iterator[str]:
    yield "For readers who write a problem or an agent: every law and part by its name, with its options."
    for kind, registry in {**laws_by_kind(), **PARTS}.items():
        yield f"{kind}\n{'-' * len(kind)}"
        for name, made in registry.items():
            said = [f":py:obj:`{place(each)}`: {_first_line(each)}" for each in built(made)]
            taken = (
                [f"Options: {_signature(given)}."] if kind in PARTS and (given := options(kind, made)) else []
            )
            yield _directive("part", f"{kind}: {name}", "\n\n".join([*said, *taken]))


def _signature(given: Mapping[str, Any]) -> str:
    return ", ".join(
        f"``{name}{'' if at is inspect.Parameter.empty else f'={at!r}'}``" for name, at in given.items()
    )


def _commands() -> Iterator[str]:
    yield "For readers at a terminal: every command with its options and defaults."
    group: Any = typer.main.get_command(app)
    for name, command in group.commands.items():
        given = [p for p in command.params if p.param_type_name == "argument"]
        usage = " ".join(["gpbandits", name, *(str(p.name).upper() for p in given)])
        about = to_pages((command.help or "").replace("`", "``"))
        yield _directive("command", f"gpbandits {name}", f"Usage: ``{usage}``\n\n{about}")
        yield f".. program:: gpbandits {name}"
        for option in command.params:
            spelt = ", ".join(option.opts) if option not in given else str(option.name).upper()
            about = to_pages((option.help or "").replace("`", "``"))
            yield _directive("option", spelt, about + _default(option.default))


def _default(value: Any) -> str:
    """What an option is where it is left out."""
    return (
        ""
        if value is None or value is False or callable(value)
        else f" Default: ``{getattr(value, 'value', value)}``."
    )


def _package(package: str) -> Iterator[str]:
    """What the package exports, and what its modules have that goes by a name; else what they are for."""
    yield f"For readers who import from ``{package}``."
    public = {module: {**exported(module), **defined(module)} for module in modules()[package]}
    for module, names in public.items():
        if module == package:
            yield f".. automodule:: {module}"
        elif names:
            yield f"``{module}``\n{'-' * (len(module) + 4)}\n\n.. automodule:: {module}"
        yield from (_entry(f"{module}.{name}", made) for name, made in sorted(names.items()))
    if not any(public.values()):
        yield "It has no public name. Its modules:"
        inner = [module for module in public if module != package]
        yield "\n".join(f"- ``{each}``: {_first_line(importlib.import_module(each))}" for each in inner)


def _first_line(made: Any) -> str:
    """What a module or a class says of itself in one line."""
    return linked((made.__doc__ or "").strip().partition("\n")[0])


def _entry(path: str, made: Any) -> str:
    """The documentation of a name, or where it is documented."""
    if inspect.ismodule(made):
        return f":py:mod:`{made.__name__}`"
    module, _, name = path.rpartition(".")
    if not is_code(made):
        return _directive(
            "py:data", name, _members(made), f"module: {module}", f"type: {type(made).__name__}"
        )
    if is_typeddict(made) and place(made) == path:
        return _directive("py:class", name, _options(made), f"module: {module}")
    kind = "class" if inspect.isclass(made) else "function"
    if place(made) == path:
        return _directive(f"auto{kind}", path, "", *["members:"] * (kind == "class"))
    about = f"Documented as :py:obj:`{place(made)}`."
    return _directive(f"py:{kind}", name, about, f"module: {module}", "no-index-entry:")


def _options(made: type) -> str:
    """What a set of options says of itself and of each, those of its bases too, with its type."""
    written = made.__annotations__
    said = [
        _directive("py:attribute", key, linked(effect), f"type: {_type(written[key])}")
        for key, effect in documented_keys(made).items()
    ]
    return "\n\n".join([linked(inspect.getdoc(made) or ""), *said])


def _type(annotation: Any) -> str:
    """A type as its source has it, or as it is where its module evaluates annotations."""
    evaluated = stringify_annotation(annotation, "smart").replace("~", "")
    return getattr(annotation, "__forward_arg__", evaluated)


def _members(made: Any) -> str:
    """What a registry has, by name; of anything else, its value."""
    if isinstance(made, Mapping):
        return "Names: " + ", ".join(f"``{name}``" for name in made)
    if isinstance(made, tuple) and all(map(inspect.ismodule, made)):
        return ", ".join(f":py:mod:`{module.__name__}`" for module in made)
    value = stringify_annotation(made, "smart").replace("~", "") if hasattr(made, "__args__") else made
    return f"Value: ``{value}``"
