"""First questions repeat nothing, and many at once are different."""

import time

import numpy as np
import pytest

from agents import Categorical, Integer, Linear, Log, Tuner

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


@pytest.mark.long
def test_a_thousand_questions_at_once_are_different_and_take_less_than_half_a_minute():
    begun = time.process_time()
    points = np.array(
        [list(each.values()) for _, each in Tuner({"x": Linear(0, 1), "y": Linear(0, 1)}).ask(1000)]
    )
    assert len(np.unique(points.round(9), axis=0)) == 1000
    assert time.process_time() - begun < 60


def test_more_questions_than_fit_beside_each_other_are_different():
    """In one dimension 50 points lie 0.02 apart."""
    points = [each["x"] for _, each in Tuner({"x": Linear(0, 1)}).ask(120)]
    assert len({round(x, 9) for x in points}) == 120
