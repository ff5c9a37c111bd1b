"""First questions repeat nothing, and many at once are different."""

import numpy as np
import pytest

from agents import Categorical, Integer, Linear, Log, Tuner
from agents.box.search import sobol
from agents.tuning.feasibility import FeasibilityFilter, beside, runs
from agents.tuning.space import Space

CONTINUOUS = {"x": Linear(0, 1), "rate": Log(1e-5, 1e-1)}


def first(space, seed, tell, number=5, **options):
    tuner, asked = Tuner(space, seed=seed, **options), []
    for _ in range(number):
        ticket, parameters = tuner.ask()
        if tell == "told":
            tuner.tell(ticket, 1.0, {"c": -1.0} if options.get("constraints") else None)
        elif tell == "failed" and ticket < 2:
            tuner.fail(ticket)
        asked.append(parameters)
    return asked


@pytest.mark.parametrize("tell", ["told", "pending"])
@pytest.mark.parametrize("extra", [{}, {"k": Categorical(["a", "b"])}])
def test_first_plays_differ_in_every_continuous_coordinate(tell, extra):
    for seed in range(8):
        asked = first({**CONTINUOUS, **extra}, seed, tell)
        for name in CONTINUOUS:
            assert len({each[name] for each in asked}) == 5


SETS = {
    "choices": ({"k": Categorical(["a", "b", "c"])}, 3),
    "integers": ({"n": Integer(1, 5)}, 5),
    "both": ({"n": Integer(1, 2), "k": Categorical(["a", "b"])}, 4),
    "more than arms": ({"n": Integer(1, 9)}, 5),
}


@pytest.mark.parametrize("tell", ["told", "pending", "failed"])
@pytest.mark.parametrize(("space", "number"), SETS.values(), ids=SETS)
def test_first_plays_of_a_set_are_different(space, number, tell):
    for seed in range(6):
        asked = first(space, seed, tell, number, num_arms=4 if space == SETS["more than arms"][0] else 1024)
        assert len({tuple(each.values()) for each in asked}) == number


def test_more_questions_than_fit_beside_each_other_are_different():
    """In one dimension 50 points lie 0.02 apart."""
    points = [each["x"] for _, each in Tuner({"x": Linear(0, 1)}).ask(90)]
    assert len({round(x, 9) for x in points}) == 90


def test_beside_many_there_is_still_another_point():
    """As many as would have been asked for at once in two dimensions, without their agent."""
    space, taken = Space("parameters", {"x": Linear(0, 1), "y": Linear(0, 1)}), np.full((1, 2), 0.5)
    feasibility = FeasibilityFilter(space)
    for number in range(1, 3000):
        if number % 500 == 0 or number < 3:
            found = beside(
                taken[0],
                taken,
                feasibility.around(taken[0], max(1024, 2 << number.bit_length())),
                feasibility,
            )
            assert found is not None
            assert not runs(found, taken)
        taken = np.vstack([taken, sobol(2, 4096)[number]])
