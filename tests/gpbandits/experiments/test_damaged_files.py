"""Files of agents and tuners that were cut off, edited, or are something else are refused with a reason."""

import json

import numpy as np
import pytest

import agents
from agents import Linear, Tuner
from agents.saving import read, write
from bandit_envs import Setting


@pytest.fixture
def tuner_file(tmp_path):
    tuner = Tuner({"x": Linear(0, 1)}, constraints=["c"])
    tuner.tell(tuner.ask()[0], 1.0, {"c": 0.5})
    tuner.ask()
    tuner.save(tmp_path / "tuner.json")
    return tmp_path / "tuner.json"


def edited(file, change):
    """Change the content of a file, and sign it anew."""
    form = json.loads(file.read_text())["format"]
    content = read(file, form)
    change(content)
    write(file, form, content)


DAMAGE = {
    "no plan": lambda c: c.pop("plan"),
    "no arguments": lambda c: c["plan"].clear(),
    "no rounds": lambda c: c.update(rounds=3),
    "strange rounds": lambda c: c.update(rounds=[{"a": 1}]),
    "value": lambda c: c["rounds"][0].update(arrivals=[[0, "one", [0.5]]]),
    "infinity": lambda c: c["rounds"][0].update(arrivals=[[0, 1.0, ["inf"]]]),
    "costs": lambda c: c["rounds"][0].update(arrivals=[[0, 1.0, []]]),
    "parameters": lambda c: c["rounds"][0].update(parameters={"x": "left"}),
    "names": lambda c: c["rounds"][0].update(parameters={"y": 0.5}),
    "round": lambda c: c["rounds"][0].update(arrivals=[[5, 1.0, [0.5]]]),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_tuner_is_refused(damage, tuner_file):
    edited(tuner_file, damage)
    with pytest.raises(ValueError, match=r"damaged|must be|must name|argument 2 is shorter"):
        agents.load(tuner_file)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_file_that_was_cut_off_is_refused(share, tuner_file):
    text = tuner_file.read_text()
    tuner_file.write_text(text[: int(share * len(text))])
    with pytest.raises(ValueError, match="path must lead to a file written by save"):
        agents.load(tuner_file)


@pytest.mark.parametrize(
    "damage",
    [lambda c: c.pop("made"), lambda c: c.pop("events"), lambda c: c.update(events=["reset", "dance"])],
)
def test_a_damaged_agent_is_refused(damage, tmp_path):
    agent = agents.make("gp-ei", Setting(low=np.zeros(1), high=np.ones(1)))
    agent.reset(0)
    agent.save(tmp_path / "agent.json")
    edited(tmp_path / "agent.json", damage)
    with pytest.raises(ValueError, match="is damaged, or was edited"):
        agents.load(tmp_path / "agent.json")
