"""Docstrings in a terminal of any width."""

import pytest

from agents.registry import names, resolve_agent
from bandit_envs.environment.registration import IDS
from gpbandits.catalogue import agent, environment
from gpbandits.commands.terminal import filled

INSTALLED = [name for name in names() if not resolve_agent(name).missing]


@pytest.mark.long
@pytest.mark.parametrize("width", [60, 80, 140])
def test_what_is_documented_fits_and_keeps_its_words(width):
    for name in (*INSTALLED, *IDS):
        text = (environment(name) if name in IDS else agent(name)).text
        found = filled(text, width)
        assert found.split() == text.split(), name
        too_long = [line for line in found.splitlines() if len(line) > width]
        assert all(">>>" in line or " " not in line.strip() for line in too_long), name


def test_code_and_formulas_stay_as_they_are():
    text = "One\ntwo.\n\n    f(x) =\n    g(x)\n\nExample:\n    >>> a\n    b"
    assert filled(text, 80) == text.replace("One\ntwo", "One two")


def test_an_item_hangs_under_its_name():
    text = "Args:\n    first: of\n        two lines.\n    second, third: " + "word " * 20
    lines = filled(text, 40).splitlines()
    assert lines[1] == "    first: of two lines."
    assert lines[2].startswith("    second, third: word")
    assert all(line.startswith("        word") for line in lines[3:])
