"""Names that people type: what `gpbandits` offers, and what wrong ones are answered with."""

import re
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import pytest

import bandit_envs
import gpbandits
from agents.registry import features, names
from bandit_envs.environment.registration import IDS, near_id

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("package", "further"),
    [(gpbandits, ["__version__"]), (bandit_envs, [])],
    ids=["gpbandits", "bandit_envs"],
)
def test_dir_shows_public_names_alone_in_a_fresh_process_and_all_can_be_had(package, further):
    code = f"import {package.__name__} as it; print(*dir(it)); [getattr(it, each) for each in dir(it)]"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert shown == sorted([*package.__all__, *further])


def test_every_public_name_is_on_one_page():
    page = (ROOT / "docs" / "guides" / "names.md").read_text(encoding="utf-8")
    assert [name for name in gpbandits.__all__ if not re.search(rf"`[^`]*\b{name}\b[^`]*`", page)] == []


@pytest.mark.parametrize("asked", [(), ("delay",), ("constraint", "change")], ids=str)
def test_agents_are_listed_by_what_they_handle(asked):
    listed = gpbandits.list_agents(*asked)
    assert set(listed) <= set(names())
    assert len(listed) == len(names()) if not asked else "random" in listed
    assert all(getattr(features(name), feature) for name in listed for feature in asked)


def test_an_unknown_feature_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match=r"unknown feature 'delays' \(did you mean 'delay'"):
        gpbandits.list_agents("delays")


@pytest.mark.parametrize(("env_id", "problem"), IDS.items())
def test_an_id_is_found_by_its_middle_and_by_the_name_of_its_problem(env_id, problem):
    middle = env_id.removeprefix("GPBandit-").partition("-v")[0]
    for text in (middle, middle.lower(), problem, f"{middle[:-1]}"):
        assert near_id(text) == f" (did you mean {env_id!r}?)" or len(middle) < 4


def test_a_wrong_id_and_a_short_option_are_answered_with_what_is_meant():
    with pytest.raises(gym.error.NameNotFound, match="did you mean 'GPBandit-Composite-v0'"):
        gpbandits.evaluate("composit", ["random"], trials=1)
    with pytest.raises(ValueError, match=r"unknown option 'beta' .* \(did you mean 'beta_scale'"):
        gpbandits.evaluate("GPBandit-GP-v0", {"mine": ("gp-ucb", {"beta": 2.0})}, trials=1)
