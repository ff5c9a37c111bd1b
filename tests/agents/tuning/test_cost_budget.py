"""A tuner whose experiments cost something."""

from __future__ import annotations

from typing import Any

import pytest

from agents import Linear, Tuner

SPACE = {"x": Linear(0.0, 1.0)}


def run(unit: float = 1.0, agent: Any = None, rounds: int = 10, slope: float = 9.0) -> Tuner:
    """Experiments that cost ten times as much on the right, where nothing is better."""
    tuner = Tuner(SPACE, agent=agent, cost_budget=30 * unit, num_arms=50, seed=1)
    for _ in range(rounds):
        if tuner.left <= 0:  # type: ignore[operator]
            break
        ticket, values = tuner.ask()
        x = values["x"]
        tuner.tell(ticket, min(x, 1 - x), spent=unit * (1.0 + slope * x))
    return tuner


@pytest.mark.parametrize("agent", [None, "ratio-ucb", ("pbgi", {"halving": True})])
def test_the_unit_of_the_costs_does_not_matter_and_the_budget_ends_the_questions(agent):
    tuner, other = run(agent=agent), run(unit=1024.0, agent=agent)
    asked = [each.parameters["x"] for each in tuner.experiments]
    assert asked == [each.parameters["x"] for each in other.experiments]
    assert tuner.left == 30 - sum(each.spent for each in tuner.experiments)  # type: ignore[misc]
    while tuner.left > 0:  # type: ignore[operator]
        tuner.tell(tuner.ask()[0], 0.0, spent=7.0)
    with pytest.raises(RuntimeError, match="the cost_budget of 30 is spent"):
        tuner.ask()


def test_what_experiments_cost_changes_what_is_asked_next():
    steep, flat = run(rounds=7), run(rounds=7, slope=0.0)
    asked, others = ([each.parameters["x"] for each in tuner.experiments] for tuner in (steep, flat))
    assert asked[:5] == others[:5]  # the first ones are uniform
    assert asked[5:] != others[5:]


def test_a_saved_tuner_goes_on_with_what_was_spent(tmp_path):
    tuner = run(rounds=4)
    tuner.save(tmp_path / "tuner.json")
    loaded = Tuner.load(tmp_path / "tuner.json")
    assert loaded.left == tuner.left
    assert loaded.experiments == tuner.experiments
    assert loaded.ask() == tuner.ask()


def test_what_experiments_cost_is_told_where_there_is_a_budget_and_nowhere_else():
    counted, free = Tuner(SPACE, cost_budget=5.0), Tuner(SPACE)
    with pytest.raises(ValueError, match="spent must be the cost of the experiment, positive"):
        counted.tell(counted.ask()[0], 1.0)
    with pytest.raises(ValueError, match="spent must be None without a cost_budget"):
        free.tell(free.ask()[0], 1.0, spent=2.0)
    with pytest.raises(ValueError, match="cost_budget must be None or positive"):
        Tuner(SPACE, cost_budget=-1.0)
