"""Switches and sizes are checked before a file is read."""

import numpy as np
import pytest

import agents
from agents import Linear, Tuner
from agents.saving.files import FORMATS
from agents.tuning import PreferenceTuner
from bandit_envs import Setting

SAVED = {
    "gpbandits agent": lambda: agents.make("random", Setting(arms=np.eye(3), horizon=5)),
    "gpbandits tuner": lambda: Tuner({"x": Linear(0, 1)}),
    "gpbandits preference tuner": lambda: PreferenceTuner({"x": Linear(0, 1)}),
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("name", "given"), [("trust", "no"), ("max_bytes", None), ("max_bytes", "1")])
def test_switches_and_sizes_of_loading_are_checked(form, name, given, tmp_path):
    saved = SAVED[form]()
    saved.save(tmp_path / "t.json")
    for load in (agents.load, type(saved).load):
        with pytest.raises(ValueError, match=f"{name} must be"):
            load(tmp_path / "t.json", **{name: given})


def test_anywhere_is_a_switch():
    with pytest.raises(ValueError, match="anywhere must be True or False, got 'no'"):
        Tuner({"x": Linear(0, 1)}).recommend(anywhere="no")
