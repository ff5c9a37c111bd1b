"""What a tuner is told and accepts: values, noise, numbers of any library, what was set, corrections."""

from __future__ import annotations

import decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from players import ask_and_tell
from scipy import stats

import agents
from agents import Categorical, Integer, Linear, Log, PreferenceTuner, Tuner

SPACE = {"x": Linear(0, 1)}
NONE = {
    "text": "2",
    "bytes": b"2",
    "bool": True,
    "numpy bool": np.True_,
    "complex": 2j,
    "list": [2.0],
    "array of one": np.array([2.0]),
    "none": None,
    "too large": 10**400,
}


@pytest.mark.parametrize("value", [1.1e307, -1.7e308])
def test_values_that_cannot_be_scaled_are_refused(value):
    tuner = Tuner(SPACE)
    with pytest.raises(ValueError, match=r"value must be at most 1e\+307 in size; .* call fail"):
        tuner.tell(tuner.ask()[0], value)


def test_an_agent_that_has_no_copy_recommends_nothing():
    pytest.importorskip("optuna")
    tuner = Tuner(SPACE, agent="optuna-tpe")
    for value in range(6):
        tuner.tell(tuner.ask()[0], float(value))
    with pytest.raises(ValueError, match="agent 'optuna-tpe' cannot be copied, so it recommends nothing"):
        tuner.recommend()


def test_values_and_costs_that_are_not_scaled_must_have_squares():
    tuner = Tuner(SPACE, standardise=False)
    with pytest.raises(ValueError, match=r"value must be at most 1e\+140 in size"):
        tuner.tell(tuner.ask()[0], -1e300)
    limited = Tuner(SPACE, constraints=["heat"])
    with pytest.raises(
        ValueError, match=r"costs\['heat'\] must be a finite number of at most 1e\+140 in size"
    ):
        limited.tell(limited.ask()[0], 1.0, costs={"heat": 1e300})


@pytest.mark.parametrize("value", NONE.values(), ids=NONE)
def test_what_is_no_number_is_refused_and_leaves_the_ticket_pending(value):
    tuner = Tuner(SPACE, agent="random")
    ticket, _ = tuner.ask()
    with pytest.raises(ValueError, match=r"value must be a finite number; .* call fail"):
        tuner.tell(ticket, value)
    with pytest.raises(ValueError, match="value must be a finite number; an experiment without one"):
        tuner.add({"x": 0.5}, value)
    with pytest.raises(ValueError, match="what f returns must be a number"):
        tuner.optimise(lambda x: value, 1)
    assert list(tuner.pending) == [ticket]


PARAMETERS = {"x": Linear(0.0, 1.0)}
PLACES = (0.1, 0.35, 0.6, 0.9)


def told(stds: list[float | None], agent: Any = ("gp-ucb", {}), **options: Any) -> Tuner:
    """A tuner with two results at each of four places, with these deviations in turn."""
    tuner = Tuner(PARAMETERS, agent=agent, noise_std=0.3, num_arms=11, **options)
    for i, place in enumerate(PLACES):
        for j in range(2):
            tuner.add({"x": place}, (1.0 if j else -1.0) + i, std=stds[j])
    return tuner


@pytest.mark.parametrize("agent", [("gp-ucb", {}), ("gp-ucb", {"refit_every": 2}), None])
@pytest.mark.parametrize("num_arms", [11, 2])  # a finite set and a box
def test_the_mean_is_drawn_to_the_results_that_are_precise(agent, num_arms):
    above, below = (told(stds, agent).recommend() for stds in ([3.0, 0.03], [0.03, 3.0]))
    assert above.mean > below.mean + 0.5
    assert above.std < told([3.0, 3.0], agent).recommend().std


def test_deviations_as_they_are_assumed_change_nothing():
    alike, said = told([None, None]).recommend(), told([0.3, 0.3]).recommend()
    assert said.mean == pytest.approx(alike.mean, abs=1e-9)
    assert said.std == pytest.approx(alike.std, abs=1e-9)


@pytest.mark.parametrize("std", [0.0, -1.0, float("nan"), float("inf"), 1e-200, 1e200, "0.1"])
def test_an_impossible_deviation_is_named_and_leaves_the_ticket_pending(std):
    tuner = Tuner(PARAMETERS)
    ticket, _ = tuner.ask()
    with pytest.raises(ValueError, match="std must be None or a positive number"):
        tuner.tell(ticket, 1.0, std=std)
    assert ticket in tuner.pending


@pytest.mark.parametrize(
    "plan",
    [
        {"agent": "gp-ucb-sdf"},
        {"agent": "random"},
        {"constraints": ["cost"]},
        {"agent": "gp-agent", "constraints": ["cost"]},
    ],
)
def test_an_agent_that_takes_all_noise_alike_refuses_it(plan):
    tuner = Tuner(PARAMETERS, **plan)
    costs = dict.fromkeys(plan.get("constraints", ()), 0.0)
    with pytest.raises(ValueError, match=r'std must be None under constraints.*"gp-bucb"'):
        tuner.add({"x": 0.5}, 1.0, costs, std=0.1)


KINDS_OF_NUMBERS = {"Fraction": Fraction, "float32": np.float32, "int64": np.int64}


@pytest.mark.parametrize("number", KINDS_OF_NUMBERS.values(), ids=KINDS_OF_NUMBERS)
def test_numbers_of_any_library_are_kept_and_saved(number, tmp_path):
    space = {
        "rate": Linear(number(0), number(3)),
        "step": Log(number(1), number(8)),
        "count": Integer(int(number(1)), 4),
        "kind": Categorical([number(1), number(2)]),
    }
    tuner = Tuner(space, noise_std=number(1), cost_budget=number(9), clock=number(5))
    known = {"rate": number(1), "step": number(2), "count": 2, "kind": number(2)}
    tuner.add(known, number(1), std=number(1), spent=number(1), time=number(0))
    ticket = tuner.start(known, time=number(1))
    tuner.tell(ticket, number(2), spent=number(1))
    tuner.save(tmp_path / "t.json")
    loaded = agents.load(tmp_path / "t.json")
    assert loaded.experiments == tuner.experiments
    assert loaded.ask(time=2.0) == tuner.ask(time=2.0)


SCALARS = {
    "float": float,
    "float32": np.float32,
    "array": np.array,
    "decimal": decimal.Decimal,
    "fraction": Fraction,
    "torch": lambda value: pytest.importorskip("torch").tensor(value),
}


@pytest.mark.parametrize("number", SCALARS.values(), ids=SCALARS)
def test_parameters_take_every_number_that_values_may_be_and_whole_ones_for_integers(number):
    space = {"n": Integer(number(1), number(9)), "x": Linear(number(0), number(4)), "k": Categorical([1, 7])}
    tuner = Tuner(space, agent="random")
    tuner.add({"n": number(7.0), "x": number(2), "k": number(7)}, number(1))
    (told,) = tuner.experiments
    assert told.parameters == {"n": 7, "x": 2, "k": 7}
    assert type(told.parameters["n"]) is int
    with pytest.raises(ValueError, match="an integer"):
        tuner.add({"n": number(7.5), "x": 2, "k": 7}, 1)
    tuner.tell(tuner.ask()[0], number(2))
    tuner.optimise(lambda n, x, k: number(3), 1)
    assert [(each.value, type(each.value)) for each in tuner.experiments] == [(i, float) for i in (1, 2, 3)]


@pytest.mark.parametrize("agent", [None, "gp-ei"])
def test_parameters_may_be_constant(agent):
    constants = {"a": Linear(2, 2), "b": Integer(3, 3), "c": Categorical(["only"]), "d": Log(4, 4)}
    tuner = Tuner({**constants, "x": Linear(-1, 1)}, agent=agent)
    best = tuner.optimise(lambda a, b, c, d, x: -((x - 0.3) ** 2), 15)
    assert all(
        each.parameters | {"x": 0} == {"a": 2, "b": 3, "c": "only", "d": 4, "x": 0}
        for each in tuner.experiments
    )
    assert best.value > -0.01
    only = Tuner(constants, agent=agent)
    only.optimise(lambda **_: 1.0, 3)
    assert only.recommend().parameters == {"a": 2, "b": 3, "c": "only", "d": 4}


FORMS = {
    "range": ((0.0, 1.0), Linear(0.0, 1.0)),
    "range of mixed numbers": ((0, 1.0), Linear(0, 1.0)),
    "range of numpy": ((np.float64(0.5), np.float32(2)), Linear(0.5, 2.0)),
    "range of whole numbers": ((1, 12), Integer(1, 12)),
    "choices": (["adam", "sgd", None], Categorical(["adam", "sgd", None])),
    "choices of numpy": (np.array([16, 32]), Categorical([16, 32])),
    "uniform": (stats.uniform(1, 2), Linear(1.0, 3.0)),
    "loguniform": (stats.loguniform(1e-5, 1e-1), Log(1e-5, 1e-1)),
    "randint": (stats.randint(2, 6), Integer(2, 5)),
    "float": (FloatDistribution(-1.0, 3.0), Linear(-1.0, 3.0)),
    "float with a step": (FloatDistribution(0.0, 1.0, step=0.25), Linear(0.0, 1.0, step=0.25)),
    "log float": (FloatDistribution(1e-5, 1e-1, log=True), Log(1e-5, 1e-1)),
    "int": (IntDistribution(-3, 9), Integer(-3, 9)),
    "int with a step": (IntDistribution(2, 18, step=4), Integer(2, 18, step=4)),
    "log int": (IntDistribution(1, 512, log=True), Integer(1, 512, log=True)),
    "categorical": (CategoricalDistribution(("a", None, 3)), Categorical(["a", None, 3])),
    "kind": (Log(1, 2), Log(1, 2)),
}


@pytest.mark.parametrize(("given", "kind"), FORMS.values(), ids=FORMS)
def test_a_range_of_every_form_is_that_of_its_kind(given, kind):
    plan = Tuner({"x": given}, contexts={"c": given}).plan
    assert (plan.parameters.kinds, plan.contexts.kinds) == ({"x": kind}, {"c": kind})


REFUSED = {
    "three": ((1, 2, 3), r"a range \(low, high\), or a list of choices, got \(1, 2, 3\)"),
    "texts": (("adam", "sgd"), r"low and high of a parameter must be finite numbers"),
    "reversed": ((2.0, 1.0), "low <= high"),
    "text": ("uniform", "a range .low, high., a list of choices, one of Linear, Log, Integer, Categorical"),
    "normal": (stats.norm(), "uniform, loguniform or randint of scipy.stats.*, got 'a norm of scipy.stats'"),
    "one value": (stats.randint(3, 4), "a lower and a higher end"),
    "no choice": ([], "at least one"),
}


@pytest.mark.parametrize(("given", "message"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("what", ["parameters", "contexts"])
def test_other_forms_are_refused_by_the_name_of_their_parameter(what, given, message):
    spaces = {"parameters": {"y": (0.0, 1.0)}, what: {"x": given}}
    with pytest.raises(ValueError, match=rf"{what}\['x'\].*{message}"):
        Tuner(**spaces)


@pytest.mark.parametrize("spelling", ["minimise", "minimize", "maximise", "maximize"])
def test_goals_have_both_spellings_and_one_meaning(spelling, tmp_path):
    tuner = Tuner({"x": (0.0, 1.0)}, goal=spelling, agent="random")
    best = tuner.optimize(lambda x: x, 8)
    chosen = min if spelling.startswith("min") else max
    assert best.value == chosen(each.value for each in tuner.experiments)
    tuner.save(tmp_path / "t.json")
    assert repr(agents.load(tmp_path / "t.json")) == repr(tuner)
    assert repr(tuner).startswith(f"Tuner({spelling[:5]}ise over x")


def test_ranges_of_a_loaded_tuner_and_of_preferences_take_the_forms_too(tmp_path):
    Tuner({"x": (0.0, 1.0)}).save(tmp_path / "t.json")
    wider = Tuner.load(tmp_path / "t.json", parameters={"x": stats.uniform(0, 5)})
    assert wider.plan.parameters.kinds == {"x": Linear(0.0, 5.0)}
    assert PreferenceTuner({"n": (1, 3)}).space.kinds == {"n": Integer(1, 3)}


def test_the_best_parameters_and_value_have_optunas_names():
    tuner = Tuner({"x": (0.0, 1.0)}, goal="minimize", agent="random")
    assert tuner.best_params is tuner.best_value is None
    best = tuner.optimise(lambda x: x, 6)
    assert (tuner.best_params, tuner.best_value) == (best.parameters, best.value)


STEPPED = {"x": Linear(0, 1, step=0.25), "n": Integer(1, 9)}


def informed(rounds=7, **options):
    tuner = Tuner(STEPPED, seed=1, **options)
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
    tuner = Tuner(STEPPED, agent="random")
    tuner.optimise(lambda x, n: {"value": x, "parameters": {"x": x + 0.01, "n": n}}, 3)
    assert all((each.parameters["x"] - 0.01) % 0.25 == pytest.approx(0.0) for each in tuner.experiments)


@pytest.mark.parametrize("agent", [None, "gp-ts", "random"])
def test_a_corrected_value_is_as_if_it_had_been_told_at_first(agent):
    wrong, right = Tuner(STEPPED, agent=agent), Tuner(STEPPED, agent=agent)
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
