"""Uniform rounds come when |uniform|^2 <= xi^2 |history|."""

import math

import numpy as np
import pytest

from agents.restarts.on_alarm import ForcedExploration, uniform_rounds


def letters(schedule, rounds):
    return ["".join(row) for row in np.where([schedule.advance() for _ in range(rounds)], "U", "G").T]


def test_the_first_rounds_are_the_papers():
    assert letters(ForcedExploration(2), 10) == ["UUUUGGUGGU"] * 2


@pytest.mark.parametrize("xi_squared", [0, 1, 3, 0.25, 7])
def test_every_round_is_uniform_exactly_where_the_inequality_holds(xi_squared):
    schedule, uniform = ForcedExploration(1, xi_squared), 0
    for history in range(5000):
        assert schedule.due[0] == (uniform**2 <= xi_squared * history)
        uniform += int(schedule.advance()[0])
    assert uniform == uniform_rounds(5000, xi_squared)
    assert abs(uniform - math.sqrt(xi_squared * 5000)) <= 1.0


def test_ties_are_uniform_for_every_count():
    # At |history| = 3 k^2 and |uniform| = 3 k both sides are 9 k^2; a rounded sqrt(3) decides some otherwise.
    schedule = ForcedExploration(1)
    for k in range(1, 2000):
        schedule.explored[:], schedule.played[:] = 3 * k, 3 * k**2
        assert schedule.due[0]
        schedule.played[:] -= 1
        assert not schedule.due[0]


def test_without_forced_exploration_one_round_is_uniform():
    assert letters(ForcedExploration(1, 0), 6) == ["UGGGGG"]


def test_a_restarted_trial_begins_again_and_the_others_go_on():
    schedule = ForcedExploration(3)
    letters(schedule, 5)
    schedule.restart(np.array([0, 2]))
    assert letters(schedule, 5) == ["UUUUG", "GUGGU", "UUUUG"]


@pytest.mark.parametrize("xi_squared", [-1, math.nan, math.inf, "3", True])
def test_a_wrong_xi_is_named(xi_squared):
    with pytest.raises(ValueError, match="xi_squared"):
        ForcedExploration(1, xi_squared)
