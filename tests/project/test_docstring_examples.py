"""The examples of docstrings run, and give the values that they show."""

import doctest
import importlib
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import agents
import bandit_envs
from bandit_envs.environment.registration import IDS
from bandit_envs.environment.wrappers import StatisticsObservation
from bandit_envs.problems import data_files
from gpbandits import Results, evaluate

ROOT = Path(__file__).parents[2]
PACKAGES = ("agents", "bandit_envs", "gpbandits")
# What a reader of an example has at hand; modules add their own names.
AT_HAND: dict[str, Any] = {
    "agents": agents,
    "bandit_envs": bandit_envs,
    "evaluate": evaluate,
    "gym": gym,
    "np": np,
    "Results": Results,
}
NEEDS = {  # packages of the examples of a folder or module
    "agents.rl": ("stable_baselines3",),
    "agents.rl.regret": ("tensorboard",),
    "gpbandits.optuna": ("optuna",),
}
SHOWN = re.compile(r"^\s+>>> ", re.MULTILINE)
PLACE = re.compile(r'gym\.make\("(GPBandit-[\w-]+)"')


class OnlyShown(doctest.OutputChecker):
    """A value counts only where the docstring shows one."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return not want or super().check_output(want, got, optionflags)


def modules() -> Iterator[Any]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if SHOWN.search(text):
                name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
                ids = [IDS[each] for each in PLACE.findall(text) if each in IDS]
                files = {file for each in ids for file in data_files(each)}
                marks = [pytest.mark.needs_data(*sorted(files))] if files else []
                marks += [pytest.mark.long] if name.startswith("agents.rl") else []  # they train
                yield pytest.param(name, id=name, marks=marks)


MODULES = list(modules())


def needed(name: str) -> list[str]:
    return [package for of, packages in NEEDS.items() if name.startswith(of) for package in packages]


@pytest.fixture
def model() -> Any:
    """A policy of stable-baselines3, and the environment that it was made for."""
    from stable_baselines3 import PPO

    env = StatisticsObservation(gym.make("GPBandit-GP-v0", horizon=100))
    return PPO("MlpPolicy", env, n_steps=64)


def examples(module: Any) -> list[doctest.DocTest]:
    found = doctest.DocTestFinder(exclude_empty=True).find(module, module.__name__, module)
    return sorted((each for each in found if each.examples), key=lambda each: each.lineno or 0)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run_in_order(name, tmp_path, monkeypatch, request):
    for package in needed(name):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    names = {**AT_HAND, **vars(module), "__name__": "__main__"}
    if name.startswith("agents.rl"):
        model = request.getfixturevalue("model")
        names |= {"model": model, "env": model.get_env(), "PPO": type(model)}
    runner = doctest.DocTestRunner(OnlyShown(), optionflags=doctest.NORMALIZE_WHITESPACE)
    said: list[str] = []
    for each in examples(module):
        each.globs = names
        runner.run(each, out=said.append, clear_globs=False)
    assert runner.tries > 0
    assert not runner.failures, "".join(said)


def test_every_example_of_a_file_is_found():
    for parameter in MODULES:
        (name,) = parameter.values
        if not all(map(find_spec, needed(name))):
            continue
        module = importlib.import_module(name)
        text = Path(str(module.__file__)).read_text(encoding="utf-8")
        found = sum(len(each.examples) for each in examples(module))
        assert found == len(SHOWN.findall(text)), name
