"""The page of all algorithms is that of the registry."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path

import pytest

from gpbandits.theory.overlays import BOUNDS

DOCS = Path(__file__).parents[2] / "docs"


def _loaded():
    spec = importlib.util.spec_from_file_location("algorithms_page", DOCS / "algorithms.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


SCRIPT = _loaded()
PAGE = (DOCS / "algorithms.md").read_text(encoding="utf-8")
FACTS = tomllib.loads((DOCS / "algorithms.toml").read_text(encoding="utf-8"))


def test_what_is_assumed_and_proved_is_said_of_every_registered_algorithm_and_of_no_other():
    assert set(FACTS) == SCRIPT.keys()
    assert all(set(fact) == {"assumes", "bound"} and all(fact.values()) for fact in FACTS.values())


def test_the_page_is_what_registry_docstrings_and_code_say():
    assert SCRIPT.page() == PAGE, "run python docs/algorithms.py"


def test_an_entry_has_its_sentence():
    for name in SCRIPT.own_names():
        entry = PAGE.split(f"\n## {name}\n")[1].split("\n## ")[0]
        assert "\nreturn " in entry.split("```text")[1], name


@pytest.mark.parametrize("name", [name for name, bound in BOUNDS.items() if "probability" in bound.assumes])
def test_bounds_of_agents_are_named_where_the_agent_is(name):
    assert f"`{name}`" in PAGE
