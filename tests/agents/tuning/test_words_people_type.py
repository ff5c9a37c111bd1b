"""A tuner takes the words of other libraries: ranges, spellings of goals, names of results."""

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from scipy import stats

import agents
from agents import Categorical, Integer, Linear, Log, PreferenceTuner, Tuner

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
ALL = pytest.mark.parametrize(("given", "kind"), FORMS.values(), ids=FORMS)


@ALL
def test_a_range_of_every_form_is_that_of_its_kind(given, kind, tmp_path):
    theirs, ours = (Tuner({"x": each}, contexts={"c": each}) for each in (given, kind))
    context = {"c": kind.at(0.5)}
    for _ in range(3):
        ticket, parameters = theirs.ask(context=context)
        assert ours.ask(context=context) == (ticket, parameters)
        for tuner in (theirs, ours):
            tuner.tell(ticket, float(ticket))
    theirs.save(tmp_path / "t.json")
    assert agents.load(tmp_path / "t.json").ask(context=context) == ours.ask(context=context)


def test_ranges_of_a_loaded_tuner_and_of_preferences_take_the_forms_too(tmp_path):
    Tuner({"x": (0.0, 1.0)}).save(tmp_path / "t.json")
    wider = Tuner.load(tmp_path / "t.json", parameters={"x": stats.uniform(0, 5)})
    assert wider.plan.parameters.kinds == {"x": Linear(0.0, 5.0)}
    assert PreferenceTuner({"n": (1, 3)}).space.kinds == {"n": Integer(1, 3)}


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


def test_a_tuner_without_a_goal_says_which_it_takes():
    assert repr(Tuner({"x": (0.0, 1.0)})).startswith("Tuner(maximise over x")
    with pytest.raises(ValueError, match="goal must be 'maximise' or 'minimise', got 'smallest'"):
        Tuner({"x": (0.0, 1.0)}, goal="smallest")


def test_the_best_parameters_and_value_have_optunas_names():
    tuner = Tuner({"x": (0.0, 1.0), "kind": ["a", "b"]}, goal="minimize")
    assert tuner.best_params is tuner.best_value is None
    study = optuna.create_study(direction="minimize")
    for _ in range(6):
        ticket, parameters = tuner.ask()
        value = (parameters["x"] - 0.3) ** 2 + (parameters["kind"] == "b")
        tuner.tell(ticket, value)
        spaces = {"x": FloatDistribution(0.0, 1.0), "kind": CategoricalDistribution(("a", "b"))}
        study.add_trial(optuna.create_trial(params=parameters, distributions=spaces, value=value))
    assert tuner.best_params == study.best_params
    assert tuner.best_value == study.best_value
