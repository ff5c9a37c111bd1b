"""Asking for several experiments at once is asking for one after another."""

import numpy as np
import pytest

from agents import Categorical, Integer, Linear, Tuner

SPACES = {
    "box": {"x": Linear(0, 1), "y": Linear(0, 1)},
    "set": {"n": Integer(1, 9), "kind": Categorical(["a", "b"])},
}


def value(parameters):
    return sum(each for each in parameters.values() if not isinstance(each, str))


def informed(space, agent=None, **options):
    tuner = Tuner(SPACES[space], agent=agent, seed=5, **options)
    for i, (ticket, parameters) in enumerate(tuner.ask(7)):
        if i % 3 == 2:
            tuner.fail(ticket)
        else:
            tuner.tell(ticket, value(parameters), dict.fromkeys(tuner.plan.constraints, -1.0))
    return tuner


@pytest.mark.sampled(4)
@pytest.mark.parametrize("agent", [None, "gp-ts", "random", "constrained-ei"])
@pytest.mark.parametrize("space", SPACES)
def test_n_at_once_are_n_one_by_one(space, agent):
    options = {"constraints": ["cost"]} if agent == "constrained-ei" else {}
    together, alone = (informed(space, agent, **options) for _ in range(2))
    batch = together.ask(4)
    assert batch == [alone.ask() for _ in range(4)]
    assert together.pending == alone.pending == dict(batch)
    assert together.ask() == alone.ask()


def test_pending_experiments_keep_a_batch_apart():
    """Without them the four questions of an agent that is certain of its answer would be one and the same."""
    batch = informed("box").ask(4)
    points = np.array([list(parameters.values()) for _, parameters in batch])
    distances = np.abs(points[:, None] - points).max(axis=2) + np.eye(4)
    assert distances.min() > 1e-3


def test_a_batch_goes_on_after_a_file(tmp_path):
    tuner = informed("box")
    tuner.ask(3)
    tuner.save(tmp_path / "t.json")
    loaded = Tuner.load(tmp_path / "t.json")
    assert loaded.pending == tuner.pending
    assert loaded.ask(2) == tuner.ask(2)


def test_one_is_a_question_and_a_list_of_one_is_a_list():
    tuner, other = informed("set"), informed("set")
    assert tuner.ask(1) == [other.ask()]


def test_a_context_may_stand_first_or_second():
    context = {"size": 2}
    first, second, third = (
        Tuner(SPACES["set"], contexts={"size": Integer(1, 3)}, seed=1, agent="gp-ucb") for _ in range(3)
    )
    assert first.ask(context) == second.ask(context=context) == third.ask(1, context)[0]
    assert first.experiments[0].context == context


@pytest.mark.parametrize("n", [0, -1, 2.0, "3", True])
def test_n_that_is_no_number_of_experiments_is_refused(n):
    tuner = Tuner(SPACES["set"])
    with pytest.raises(ValueError, match="n must be None or a positive integer"):
        tuner.ask(n)
    assert not tuner.experiments


def test_more_than_may_run_are_refused_as_a_whole():
    tuner = Tuner(SPACES["set"], max_pending=3)
    with pytest.raises(RuntimeError, match="n is 4, and max_pending is 3; ask for fewer"):
        tuner.ask(4)
    tuner.ask(2)
    with pytest.raises(RuntimeError, match="2 experiments are pending, 2 more are asked for"):
        tuner.ask(2)
    assert list(tuner.pending) == [0, 1]
    tuner.ask(1)
