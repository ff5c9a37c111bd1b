"""What a tuner accepts it can save, and sizes that cannot be are refused before anything is made of them."""

import decimal
from fractions import Fraction

import numpy as np
import pytest

import agents
from agents import Categorical, Integer, Linear, Log, Tuner

NUMBERS = {"Fraction": Fraction, "float32": np.float32, "int64": np.int64}


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
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


TOO_LARGE = 10**12
REFUSED = {
    "ask": (lambda tuner: tuner.ask(TOO_LARGE), "n must be at most"),
    "context of a run": (lambda tuner: tuner.optimise(lambda x: x, 1, context=5), "context must be"),
    "num_arms": (lambda _: Tuner({"x": Linear(0, 1)}, num_arms=TOO_LARGE), "num_arms must be"),
    "budget": (lambda _: Tuner({"x": Linear(0, 1)}, budget=TOO_LARGE), "budget must be"),
    "complex value": (lambda tuner: tuner.optimise(lambda x: 1j, 1), "what f returns must be"),
    "value in words": (lambda tuner: tuner.optimise(lambda x: "3", 1), "what f returns must be"),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call(Tuner({"x": Linear(0, 1)}))
