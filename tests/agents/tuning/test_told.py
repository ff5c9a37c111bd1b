"""What counts as the value of an experiment is the same for `tell`, `add` and `optimise`."""

import decimal
import fractions
import math

import numpy as np
import pytest

from agents import Linear, Tuner
from agents.tuning.history import as_number

SPACE = {"x": Linear(0, 1)}
NUMBERS = {
    "int": 2,
    "float": 2.0,
    "numpy": np.float32(2),
    "array": np.array(2),
    "decimal": decimal.Decimal(2),
    "fraction": fractions.Fraction(2),
}
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


@pytest.mark.parametrize("value", NUMBERS.values(), ids=NUMBERS)
def test_numbers_of_any_library_are_values(value):
    told, added, returned = (Tuner(SPACE, agent="random") for _ in range(3))
    told.tell(told.ask()[0], value)
    added.add({"x": 0.5}, value)
    returned.optimise(lambda x: value, 1)
    for tuner in (told, added, returned):
        assert type(tuner.best.value) is float
        assert tuner.best.value == 2.0


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


def test_numbers_that_are_none_are_numbers_first():
    assert as_number(math.inf) == math.inf
    assert math.isnan(as_number(np.float64("nan")))
