"""Costs of moves: what is charged, in which unit, beside which other features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import IN_CONTEXTS, by_hand

from bandit_envs import BanditEnv
from bandit_envs.environment.wrappers import EpisodeRegret
from bandit_envs.laws.movement import FreeMoves, Movement, Switching, Travel
from bandit_envs.laws.play_costs import GPCosts
from bandit_envs.problem.decisions import Decisions, unit_grid
from bandit_envs.problems import build
from gpbandits import evaluate

ARMS = [3, 3, 7, 7, 7, 0, 24]


def moved(law: Movement, arms: list[int] = ARMS, **laws: Any) -> list[float]:
    env = BanditEnv(by_hand(movement=law, **laws))
    env.reset(seed=0)
    return [env.step(arm)[-1]["oracle"]["moved"] for arm in arms]


def test_a_switch_costs_its_price_and_the_first_play_nothing():
    assert moved(Switching(0.25)) == [0, 0, 0.25, 0, 0, 0.25, 0.25]


def test_travel_costs_the_distance_in_sides_of_the_box():
    steps = np.abs(np.diff(np.array(ARMS) / 24.0))
    np.testing.assert_allclose(moved(Travel(2.0)), [0, *(2.0 * steps)], atol=1e-12)


def test_travel_does_not_depend_on_the_units_of_the_features():
    wide = Decisions(1000.0 * unit_grid(25))
    np.testing.assert_allclose(moved(Travel(2.0), decisions=wide), moved(Travel(2.0)), atol=1e-12)


def test_nothing_else_of_a_run_depends_on_what_moves_cost():
    def rounds(law: Movement) -> list[tuple[Any, ...]]:
        env = BanditEnv(by_hand(movement=law))
        env.reset(seed=0)
        return [(step[1], step[-1]["oracle"]["regret"]) for step in map(env.step, ARMS)]

    assert rounds(Switching(0.25)) == rounds(FreeMoves())


def test_moves_are_free_by_default_and_then_not_in_the_truth():
    env = BanditEnv(by_hand())
    assert "moved" not in env.reset(seed=0)[1]["oracle"]
    assert env.setting.movement is None


def test_the_law_is_published_even_where_the_model_is_withheld():
    assert by_hand(movement=Switching(0.2), publish_model=False).setting().movement == Switching(0.2)


def test_a_budget_pays_for_plays_and_not_for_moves():
    def plays(law: Movement) -> int:
        env = BanditEnv(by_hand(movement=law, play_costs=GPCosts(6.0)))
        env.reset(seed=0)
        return next(t for t in range(40) if env.step(t % 25)[2])

    assert plays(Switching(5.0)) == plays(FreeMoves())


def test_a_play_that_the_budget_does_not_cover_is_no_move():
    env = BanditEnv(by_hand(movement=Switching(5.0), play_costs=GPCosts(6.0)))
    env.reset(seed=0)
    last = next(info for *_, over, _, info in map(env.step, [0, 24] * 20) if over)
    assert not last["played"]
    assert last["oracle"]["moved"] == 0.0


def test_contexts_are_refused_with_the_reason():
    with pytest.raises(ValueError, match=r"movement must be the law .none. with several contexts, which"):
        by_hand(movement=Switching(0.2), decisions=IN_CONTEXTS)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"law": "switching", "price": 0}, r'movement\["price"\] must be positive, got 0'),
        ({"law": "flight"}, r'movement\["law"\] must be one of none, switching, travel'),
    ],
)
def test_a_wrong_law_is_named(spec, message):
    with pytest.raises(ValueError, match=message):
        build("gp", {"movement": spec})


def test_the_total_loss_is_regret_plus_the_cost_of_moves():
    result = evaluate(
        "GPBandit-GP-v0",
        ["gp-ucb", "random"],
        trials=3,
        env_kwargs={"num_arms": 20, "horizon": 30, "movement": {"law": "switching", "price": 0.5}},
    )
    for label in result.agents:
        switches = (np.diff(result.actions[label], axis=1) != 0).cumsum(axis=1)
        np.testing.assert_allclose(result.moved[label][:, 1:], 0.5 * switches)
        total = result.regret[label] + result.moved[label]
        np.testing.assert_allclose(result.total_loss[label], total)
    assert "regret and moves" in result.table().header


def test_the_score_of_an_episode_has_the_cost_of_its_moves():
    env = EpisodeRegret(BanditEnv(by_hand(movement=Switching(0.25), horizon=7)))
    env.reset(seed=0)
    last = [env.step(arm)[-1] for arm in ARMS][-1]
    assert last["episode"]["moved"] == pytest.approx(0.75)
