"""The entries of the agents are those of the registry, and their examples run."""

import re
import sys
from pathlib import Path

import pytest
from agent_cases import of_each_shape

from agents.registry import resolve_agent
from gpbandits import evaluate
from gpbandits.theory.overlays import BOUNDS

pytest.importorskip("sphinx", reason="needs the extra `docs`")
sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
from entries import NOTATION, entries, example, facts, key
from mathml import as_mathml
from public import own_agents
from reference import pages

LIBRARIES = {"agents.rl", "agents.optimisers"}


def test_what_is_assumed_and_proved_is_said_of_every_registered_algorithm_and_of_no_other():
    assert set(facts()) == {key(name) for name in own_agents()}
    assert all(fact["assumes"] and fact["bound"] for fact in facts().values())


def test_every_algorithm_of_ours_has_a_formula_and_all_its_options():
    said = dict(entries())
    for name in own_agents():
        made = resolve_agent(name).make
        is_ours = made.__module__.rpartition(".")[0] not in LIBRARIES
        assert (".. math::" in said[name]) == is_ours, name
        options = set(getattr(made, "__kwdefaults__", None) or {}) - {"num_trials"}
        assert [option for option in options if f"``{option}=" not in said[name]] == [], name


def test_every_formula_of_the_entries_is_written_as_mathml():
    formulas = [fact["formula"] for fact in facts().values() if "formula" in fact]
    formulas += re.findall(":math:`([^`]*)`", NOTATION)
    assert all(as_mathml(formula, "block").startswith("<math") for formula in formulas)


def test_a_command_without_mathml_is_an_error_and_not_printed():
    with pytest.raises(ValueError, match="no MathML for a command of the formula"):
        as_mathml(r"\unheardof{x}", "inline")


@pytest.mark.parametrize("name", of_each_shape(own_agents()))
def test_the_example_of_an_entry_runs(name):
    if resolve_agent(name).missing:
        pytest.skip("needs a package")
    assert "random" in str(eval(example(name), {"evaluate": evaluate}))


@pytest.mark.parametrize("name", [name for name, bound in BOUNDS.items() if "probability" in bound.assumes])
def test_bounds_of_agents_are_named_where_the_agent_is(name):
    assert any(f"`{name}`" in fact["bound"] for fact in facts().values())


@pytest.mark.long
def test_every_page_of_the_reference_can_be_made():
    made = pages()
    assert {"environments", "agents-by-name", "parts", "commands", "gpbandits", "agents"} <= set(made)
    assert all(page.count("\n") > 4 for page in made.values())
