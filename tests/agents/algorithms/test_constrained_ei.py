"""Constrained expected improvement without feasible plays, with certain costs, and under delay."""

import numpy as np
from baseline_cases import NOWHERE, SETTING, feedback, play, started

from agents.algorithms.constrained import constrained_ei
from agents.beliefs.safety import log_feasibility


def test_without_a_feasible_play_the_probability_of_feasibility_is_maximised_alone():
    agent = play(started(constrained_ei(SETTING)), lambda x: x[0], lambda x: np.array([1.0 + x[0], 2.0]), 10)
    _, *costs = agent.beliefs(NOWHERE)
    expected = sum(log_feasibility(*cost) for cost in costs)
    agent.act(NOWHERE)
    assert np.ptp(agent.scores[0] - expected) < 1e-6  # of probabilities that differ by a factor of e^7
    assert np.ptp(expected) > 1.0


def test_first_plays_that_come_late_still_centre_and_scale():
    on_time, late = started(constrained_ei(SETTING, initial=4)), started(constrained_ei(SETTING, initial=4))
    arms, rewards = np.array([3, 9, 20, 28]), np.array([1.0, 4.0, 2.0, 7.0])
    costs = np.column_stack([rewards - 3.0, -rewards])
    for t, arm in enumerate(arms):
        on_time.update(NOWHERE, arm, 0.0, feedback(rewards[t : t + 1], costs[t : t + 1], [t]))
        late.update(NOWHERE, arm, 0.0, feedback([], np.zeros((0, 2)), np.zeros(0, dtype=int)))
    late.update(NOWHERE, 0, 0.0, feedback(rewards, costs, range(4)))
    np.testing.assert_allclose(on_time.objective.centre, [[3.5, 0.5, -3.5]])
    np.testing.assert_allclose(late.beliefs(NOWHERE), on_time.beliefs(NOWHERE), atol=1e-12)
