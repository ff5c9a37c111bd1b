"""A tuner says when no further experiment is worth its price."""

import numpy as np
import pytest
from players import ask_and_tell

from agents import Linear, Tuner

BOX = {"x": Linear(0, 1), "y": Linear(0, 1)}
KG = "knowledge-gradient"


def loss(x, y, rng=np.random.default_rng(0)):  # noqa: B008 (each test makes its own)
    return (x - 0.3) ** 2 + (y - 0.6) ** 2 + 0.01 * rng.standard_normal()


def told(unit=1.0, rounds=12, seed=0, **options):
    rng = np.random.default_rng(seed)
    tuner = Tuner(BOX, goal="minimise", seed=seed, **options)
    ask_and_tell(tuner, lambda parameters: unit * loss(**parameters, rng=rng), rounds)
    return tuner


def test_a_high_price_ends_and_a_low_one_goes_on_and_both_give_the_numbers():
    tuner = told()
    dear, cheap = tuner.may_stop(price=10.0), tuner.may_stop(price=1e-9)
    assert dear
    assert not cheap
    assert "no play is worth its price of 10: the best expected gain is" in dear.reason
    assert dear.parameters in [each.parameters for each in tuner.experiments]


def test_asking_whether_to_stop_and_recommending_change_nothing():
    asked, other = told(rounds=9), told(rounds=9)
    for price in (1e-6, 1.0):
        asked.may_stop(price=price)
        asked.recommend(anywhere=True)
    assert asked.ask()[1] == other.ask()[1]


def test_the_first_values_estimate_scales():
    tuner = told(rounds=4)
    answer = tuner.may_stop(price=1e9)
    assert not answer
    assert "4 of the first 5 values" in answer.reason


@pytest.mark.long
def test_optimise_ends_once_no_experiment_is_worth_its_price():
    tuner = Tuner(BOX, goal="minimise", seed=1)
    tuner.optimise(lambda x, y: loss(x, y, np.random.default_rng(3)), 40, price=0.002)
    assert 5 <= len(tuner.experiments) < 40
    assert tuner.may_stop(price=0.002)


def test_the_rule_of_a_tuner_is_saved_with_it(tmp_path):
    tuner = told(stopping=(KG, {"price": 0.002}), rounds=8)
    tuner.save(tmp_path / "it.json")
    again = Tuner.load(tmp_path / "it.json")
    assert again.may_stop() == tuner.may_stop()


def constrained(rule, rounds, seed=0, unit=1.0):
    """A tuner of x(1 - x) under x <= 0.4, after so many experiments."""
    tuner = Tuner({"x": Linear(0, 1)}, constraints=["far"], seed=seed, stopping=rule)
    for _ in range(rounds):
        ticket, parameters = tuner.ask()
        x = parameters["x"]
        tuner.tell(ticket, unit * x * (1 - x), {"far": x - 0.4})
    return tuner


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_a_constrained_tuner_stops_and_what_it_recommends_keeps_costs_and_promise(seed):
    """Parameters that break a cost, the better ones here, kept it from stopping."""
    rule = ("regret-bound", {"eps": 0.02, "delta": 0.1})
    answers = (constrained(rule, rounds, seed).may_stop() for rounds in range(6, 31))
    found = next(answer.parameters for answer in answers if answer)
    assert found is not None
    x = found["x"]
    assert x <= 0.4
    assert 0.24 - x * (1 - x) <= 0.02


def test_a_constrained_tuner_is_not_asked_before_its_agents_first_plays_are_finished():
    """Scales of value and costs are of five, though one parameter alone asks for three."""
    tuner = constrained(("knowledge-gradient", {"price": 1e9}), 4)
    answer = tuner.may_stop()
    assert not answer
    assert "first experiments" in answer.reason
    ticket, _ = tuner.ask()
    tuner.fail(ticket)
    assert tuner.may_stop()  # one that failed is not awaited


def test_a_plateau_is_of_values_whose_costs_were_kept():
    """The last five values do not keep the cost, and are better than all that do."""
    tuner = Tuner({"x": Linear(0, 1)}, constraints=["far"], seed=0, stopping="plateau")
    for x in (0.1, 0.2, 0.3, 0.35, 0.39, 0.5, 0.55, 0.6, 0.65, 0.7):
        tuner.add({"x": x}, x, costs={"far": x - 0.4})
    assert tuner.may_stop()


def test_rules_name_means_as_the_tuner_does():
    rng, tuner = np.random.default_rng(0), Tuner(BOX, seed=0, stopping=("gittins", {"price": 1e-3}))
    ask_and_tell(tuner, lambda parameters: 500.0 - loss(**parameters, rng=rng), 12)
    named = float(tuner.may_stop().reason.rpartition("the best mean ")[2].split()[0].rstrip(","))
    assert named == pytest.approx(500.0, abs=0.15)  # a unit of the agent is larger


@pytest.mark.parametrize(
    ("options", "words"),
    [({"agent": "random"}, "no model of its own"), ({"contexts": {"z": Linear(0, 1)}}, "contexts")],
)
def test_a_tuner_that_cannot_say_explains_why(options, words):
    tuner = Tuner({"x": Linear(0, 1)}, **options)
    given = {"context": {"z": 0.5}} if "contexts" in options else {}
    for x in (0.1, 0.5, 0.9):
        tuner.add({"x": x}, x, **given)
    with pytest.raises(ValueError, match=words):
        tuner.may_stop(price=1.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"agent": "random"}, "stopping must be left out"),
        ({"contexts": {"z": Linear(0, 1)}}, "stopping must be left out"),
        ({"stopping": "patience"}, "stopping must be one of knowledge-gradient, .*got 'patience'"),
        ({"stopping": ("gap", {"eps": -1.0})}, "eps"),
    ],
)
def test_a_rule_is_refused_when_the_tuner_is_made_where_it_could_never_answer(options, words):
    with pytest.raises(ValueError, match=words):
        Tuner({"x": Linear(0, 1)}, **{"stopping": "plateau", **options})
