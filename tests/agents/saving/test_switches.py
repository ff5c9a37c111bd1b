"""Switches and sizes are checked before a file is read."""

import pytest

import agents
from agents import Linear, Tuner


@pytest.mark.parametrize("load", [agents.load, Tuner.load])
@pytest.mark.parametrize(("name", "given"), [("trust", "no"), ("max_bytes", None), ("max_bytes", "1")])
def test_switches_and_sizes_of_loading_are_checked(load, name, given, tmp_path):
    Tuner({"x": Linear(0, 1)}).save(tmp_path / "t.json")
    with pytest.raises(ValueError, match=f"{name} must be"):
        load(tmp_path / "t.json", **{name: given})


def test_anywhere_is_a_switch():
    with pytest.raises(ValueError, match="anywhere must be True or False, got 'no'"):
        Tuner({"x": Linear(0, 1)}).recommend(anywhere="no")
