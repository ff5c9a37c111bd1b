"""Imports point one way, also those by string, and a name in a package is never a function and a module."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import gymnasium as gym
import pytest
from pages import ROOT
from test_style import PACKAGES, sources

import agents
import bandit_envs
import gpbandits
from agents import registry
from agents.registry import BUILT_IN, GROUP
from bandit_envs.environment.registration import IDS

DOTTED = re.compile(rf"({'|'.join(PACKAGES)})(\.\w+)+(:\w+)?")


def modules() -> Iterator[str]:
    """The names of all packages and modules, `__main__` apart, which is a command."""
    for package in PACKAGES:
        yield package
        for module in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            if not module.name.endswith("__main__"):
                yield module.name


def packages() -> list[str]:
    return [name for name in modules() if hasattr(importlib.import_module(name), "__path__")]


def children(package: ModuleType) -> set[str]:
    return {module.name for module in pkgutil.iter_modules(package.__path__)}


def lazy_packages() -> list[str]:
    return [name for name in packages() if hasattr(importlib.import_module(name), "_HOMES")]


def lazy_names(package: str) -> list[str]:
    homes: dict[str, Any] = vars(importlib.import_module(package))["_HOMES"]
    by_module = [name for names in homes.values() if isinstance(names, list) for name in names]
    return by_module or list(homes)


def resolve(path: str) -> Any:
    """What "package.module:name", or "package.module" alone, leads to."""
    module, _, name = path.partition(":")
    found = importlib.import_module(module)
    return getattr(found, name) if name else found


def dotted_strings() -> list[tuple[str, str]]:
    """Every string in the code that looks like a path into one of our packages, with the package it is in."""
    texts = {
        (path.partition("/")[0], node.value)
        for path, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and DOTTED.fullmatch(node.value)
    }
    return sorted((package, text) for package, text in texts if text != GROUP)


def test_every_contract_of_the_import_linter_is_kept():
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-c", code, "--no-cache", "--no-logo"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 broken" in done.stdout


def test_every_agent_of_ours_is_public_under_its_own_name():
    names = [name for written in BUILT_IN.values() for name in written.split()]
    written = {name.replace("-", "_"): registry.resolve_agent(name) for name in names}
    assert set(written) <= set(agents.__all__)
    assert [name for name, factory in written.items() if factory.make.__name__ != name] == []
    assert {name: registry.resolve_agent(getattr(agents, name)) for name in written} == written


@pytest.mark.parametrize("package", [bandit_envs, gpbandits])  # of agents factories alone
def test_public_names_are_completed_before_they_are_imported(package):
    assert set(package.__all__) <= set(dir(package))


@pytest.mark.parametrize("env_id", IDS)
def test_both_entry_points_of_an_environment_lead_to_a_class(env_id):
    spec = gym.spec(env_id)
    for path in (spec.entry_point, spec.vector_entry_point):
        assert isinstance(path, str)
        assert isinstance(resolve(path), type)


@pytest.mark.parametrize("package", lazy_packages())
def test_every_lazy_name_is_public_and_leads_somewhere(package):
    module, names = importlib.import_module(package), lazy_names(package)
    by_registry = registry.by_attribute() if package == "agents" else {}
    assert set(names) <= set(module.__all__) <= {*names, *by_registry}
    assert [name for name in module.__all__ if getattr(module, name, None) is None] == []


@pytest.mark.long
def test_every_string_that_names_a_module_leads_to_it():
    strings = dotted_strings()
    assert len(strings) >= 5
    for _, text in strings:
        resolve(text)


@pytest.mark.parametrize("folder", ["benchmarks", "docs", "examples", "tools"])
def test_every_name_that_a_script_imports_exists(folder):
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
                module = importlib.import_module(node.module or "")
                missing = [each.name for each in node.names if not hasattr(module, each.name)]
                assert [name for name in missing if f"{node.module}.{name}" not in {*modules()}] == [], path


@pytest.mark.long
def test_no_string_names_a_module_of_a_package_above():
    strings = [(package, text, text.split(".")[0]) for package, text in dotted_strings()]
    above = [text for at, text, to in strings if PACKAGES.index(to) > PACKAGES.index(at)]
    assert above == []


@pytest.mark.long
def test_imports_are_relative_inside_agents_and_absolute_elsewhere():
    for path, tree in sources().items():
        inside = path.startswith("agents/")
        for node in ast.walk(tree):
            place = f"{path}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.ImportFrom):
                assert inside or not node.level, f"{place}: relative"
                assert not inside or (node.module or "").split(".")[0] != "agents" or node.level, place
            if isinstance(node, ast.Import) and inside:
                assert [name.name for name in node.names if name.name.split(".")[0] == "agents"] == [], place


@pytest.mark.parametrize("package", lazy_packages())
def test_no_lazy_name_of_a_package_is_that_of_a_module_in_it(package):
    assert {*lazy_names(package)} & children(importlib.import_module(package)) == set()


def test_a_module_is_the_attribute_of_its_package_after_everything_is_imported():
    names = list(modules())
    for name in names:
        importlib.import_module(name)
    for name in names:
        package, _, child = name.rpartition(".")
        if package:
            found = getattr(sys.modules[package], child)
            assert isinstance(found, ModuleType), f"{name} is hidden by {found!r}"
            assert found.__name__ == name
