"""What a tuner accepts it can save, and sizes that cannot be are refused before anything is made of them."""

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
