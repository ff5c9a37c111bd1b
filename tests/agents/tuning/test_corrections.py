"""What was really set is told, and what was told wrongly is corrected, in the tuner and in its file."""

import pytest
from players import ask_and_tell

import agents
from agents import Integer, Linear, Tuner

SPACE = {"x": Linear(0, 1, step=0.25), "n": Integer(1, 9)}


def informed(rounds=7, **options):
    tuner = Tuner(SPACE, seed=1, **options)
    ask_and_tell(tuner, lambda parameters: parameters["x"] - 0.1 * parameters["n"], rounds)
    return tuner


def test_what_was_really_set_is_what_is_learnt_from():
    tuner = informed()
    first, second = tuner.ask(2)
    really = {"x": 0.31, "n": 12}  # between steps, and outside
    tuner.tell(first[0], 5.0, parameters=really)
    assert tuner.experiments[first[0]].parameters == really
    assert tuner.experiments[first[0]].value == 5.0
    assert list(tuner.pending) == [second[0]]
    same = informed(0)
    for each in tuner.experiments:
        if each.state == "told":
            same.add(each.parameters, each.value)
    same.start(tuner.pending[second[0]])
    told, known = tuner.recommend(), same.recommend()
    assert told.parameters == known.parameters
    assert told.mean == pytest.approx(known.mean, abs=0.05)  # their first values set other scales


def test_a_function_may_return_what_was_set():
    tuner = Tuner(SPACE, agent="random")
    tuner.optimise(lambda x, n: {"value": x, "parameters": {"x": x + 0.01, "n": n}}, 3)
    assert all((each.parameters["x"] - 0.01) % 0.25 == pytest.approx(0.0) for each in tuner.experiments)


@pytest.mark.parametrize("agent", [None, "gp-ts", "random"])
def test_a_corrected_value_is_as_if_it_had_been_told_at_first(agent):
    wrong, right = Tuner(SPACE, agent=agent), Tuner(SPACE, agent=agent)
    points = [{"x": 0.25 * (i % 5), "n": i + 1} for i in range(6)]
    for i, point in enumerate(points):
        wrong.add(point, 1e4 if i == 2 else -1.0 * i)
        right.add(point, -1.0 * i)
    wrong.correct(None, -2.0, row=2)
    assert wrong.experiments == right.experiments
    if agent != "random":
        told, known = wrong.recommend(), right.recommend()
        assert told.parameters == known.parameters
        assert told.mean == pytest.approx(known.mean, abs=0.01)  # fits of a kernel start from other points


def test_the_file_is_corrected_too_and_not_by_one_that_lacks_the_correction(tmp_path):
    file, tuner = tmp_path / "t.json", informed()
    tuner.save(file)
    old = agents.load(file)
    tuner.correct(3, 0.7, parameters={"x": 0.5, "n": 2})
    tuner.correct(3, 0.8)
    tuner.save(file)
    loaded = agents.load(file)
    assert (loaded.experiments[3].value, loaded.experiments[3].parameters) == (0.8, {"x": 0.5, "n": 2})
    assert loaded.ask() == tuner.ask()
    with pytest.raises(ValueError, match="experiments that saving would lose"):
        old.save(file)
    loaded.ask()
    loaded.save(file)


@pytest.mark.parametrize(
    ("ticket", "options", "message"),
    [
        (99, {}, "ticket must be that of an experiment with a value, got 99"),
        ("2", {}, "ticket must be that of"),
        (7, {}, "an experiment to correct must have a value"),
        (None, {}, "row must be given where ticket is None"),
        (2, {"row": 2}, "row must be given where ticket is None"),
        (None, {"row": 40}, "an experiment to correct must have a value"),
        (2, {"parameters": {"x": 0.5}}, "parameters must be exactly"),
        (2, {"std": -1.0}, "std must be"),
    ],
)
def test_what_cannot_be_corrected_is_refused_and_changes_nothing(ticket, options, message):
    tuner = informed()
    tuner.ask()  # ticket 7 is pending
    before = tuner.experiments
    with pytest.raises(ValueError, match=message):
        tuner.correct(ticket, 1.0, **options)
    assert tuner.experiments == before


@pytest.mark.parametrize("late", [False, True])
def test_a_tuner_that_was_told_what_was_set_goes_on_after_a_file(late, tmp_path):
    tuner = informed()
    questions = tuner.ask(3 if late else 1)
    tuner.tell(questions[0][0], 1.0, parameters={"x": 0.3, "n": 4})
    questions = [tuner.ask() for _ in range(2)]
    assert questions[0][1] != questions[1][1]
    tuner.save(tmp_path / "t.json")
    loaded = agents.load(tmp_path / "t.json")
    assert loaded.experiments == tuner.experiments
    assert loaded.ask() == tuner.ask()


def test_impossible_parameters_leave_the_ticket_pending():
    tuner = informed(0)
    ticket, _ = tuner.ask()
    with pytest.raises(ValueError, match=r"parameters\['n'\] must be an integer"):
        tuner.tell(ticket, 1.0, parameters={"x": 0.5, "n": 1.5})
    assert list(tuner.pending) == [ticket]
