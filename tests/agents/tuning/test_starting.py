"""Experiments that somebody else chose and that run: the tuner waits for them like for its own."""

import pytest

import agents
from agents import Categorical, Integer, Linear, Log, Tuner
from agents.saving.files import read, write
from agents.tuning.running import FORM

SPACE = {"rate": Log(1e-5, 1e-1), "depth": Integer(1, 12)}
CHOSEN = {"rate": 1e-3, "depth": 4}


def test_what_runs_elsewhere_is_not_asked_for_too():
    tuner = Tuner({"x": Categorical(["a", "b"])}, agent=("gp-bucb", {"width": 1e3}), standardise=False)
    tuner.start({"x": "b"})
    assert tuner.ask()[1] == {"x": "a"}


def test_an_experiment_that_was_started_and_told_is_one_that_was_added():
    started, added = (Tuner(SPACE, seed=3) for _ in range(2))
    started.tell(started.start(CHOSEN), 0.5)
    added.add(CHOSEN, 0.5)
    assert started.experiments[0][1:] == added.experiments[0][1:]
    assert started.ask()[1] == added.ask()[1]


@pytest.mark.parametrize("agent", [None, "gp-ts"])
def test_a_saved_tuner_knows_which_experiments_it_was_not_asked_for(agent, tmp_path):
    tuner = Tuner(SPACE, agent=agent, seed=1)
    for i in range(6):
        ticket, parameters = tuner.ask() if i % 2 else (tuner.start({**CHOSEN, "depth": i + 1}), CHOSEN)
        tuner.tell(ticket, -parameters["rate"])
    ticket = tuner.start(CHOSEN)
    tuner.save(tmp_path / "tuner.json")
    loaded = agents.load(tmp_path / "tuner.json")
    assert loaded.pending == tuner.pending == {ticket: CHOSEN}
    assert [loaded.ask() for _ in range(3)] == [tuner.ask() for _ in range(3)]


def test_a_file_of_an_earlier_version_holds_what_was_asked_for(tmp_path):
    tuner, file = Tuner(SPACE), tmp_path / "tuner.json"
    ticket, _ = tuner.ask()
    tuner.tell(ticket, 1.0)
    tuner.save(file)
    content = read(file, FORM)
    for each in content["rounds"]:
        del each["asked"]
    write(file, FORM, content)
    assert Tuner.load(file).ask() == tuner.ask()


def test_an_impossible_experiment_is_refused():
    with pytest.raises(ValueError, match="parameters"):
        Tuner({"x": Linear(0, 1)}).start({"x": 2.0})
