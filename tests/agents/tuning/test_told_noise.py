"""Results that are told with the deviation of their noise count for as much as they tell."""

from __future__ import annotations

from typing import Any

import pytest

import agents
from agents import Linear, Tuner

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


def test_it_is_told_of_pending_tickets_and_kept_in_a_file(tmp_path):
    tuner = Tuner(PARAMETERS, noise_std=0.3, seed=1)
    tickets = [tuner.ask()[0] for _ in range(3)]
    for ticket in tickets:
        tuner.tell(ticket, float(ticket), std=0.1 * (1 + ticket) if ticket else None)
    tuner.ask()
    tuner.save(tmp_path / "tuner.json")
    again = agents.load(tmp_path / "tuner.json")
    assert again.ask() == tuner.ask()
    assert again.recommend() == tuner.recommend()


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
