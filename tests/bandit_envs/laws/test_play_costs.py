"""What plays and moves cost, and budgets."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from cases import by_hand

from bandit_envs import BanditEnv
from bandit_envs.environment.wrappers import EpisodeRegret
from bandit_envs.laws import play_costs
from bandit_envs.laws.movement import FreeMoves, Movement, Switching, Travel
from bandit_envs.laws.play_costs import LAWS, GPCosts
from bandit_envs.problem.decisions import Decisions, unit_grid
from bandit_envs.problem.setting import Setting, batch_settings
from gpbandits import evaluate

PAID = {name: law for name, law in LAWS.items() if law is not play_costs.Free}
each_law = pytest.mark.parametrize("law", PAID)
SMALL: Any = {"num_arms": 30, "horizon": 200}


def budget_of(law: str, **more: Any) -> dict[str, Any]:
    return {"law": law, "budget": 25.0, **more}


def episode(law: str, seed: int = 0, **keywords: Any) -> list[Any]:
    env = gym.make("GPBandit-Composite-v0", **{**SMALL, "budget": budget_of(law), **keywords})
    env.action_space.seed(seed)
    env.reset(seed=seed)
    steps = []
    while not steps or not (steps[-1][2] or steps[-1][3]):
        steps.append(env.step(env.action_space.sample()))
    return steps


@pytest.mark.long
@each_law
@pytest.mark.parametrize(
    "features", [{}, {"drift": "ornstein-uhlenbeck"}, {"continuous": True, "delay": None}]
)
def test_no_more_is_spent_than_the_budget_and_the_play_that_does_not_fit_ends_the_episode(law, features):
    *steps, last = episode(law, **features)
    assert sum(info["oracle"]["spent"] for *_, info in steps) <= 25.0
    assert all(info["played"] and info["oracle"]["spent"] > 0 for *_, info in steps)
    assert not any(terminated or truncated for _, _, terminated, truncated, _ in steps)
    _, reward, terminated, truncated, info = last
    assert (reward, terminated, truncated) == (0.0, True, False)
    assert not info["played"]
    assert not info["feedback_mask"].any()
    assert info["t"] == len(steps)
    assert info["oracle"]["spent"] == 0.0


@each_law
def test_what_is_published_of_the_costs_bounds_them(law):
    env = gym.make("GPBandit-Budget-v0", budget=budget_of(law, known=True))
    for seed in range(5):
        env.reset(seed=seed)
        setting = env.get_wrapper_attr("setting")
        assert setting.budget == 25.0
        assert setting.known_costs.min() >= setting.cost_min * (1 - 1e-12)
        assert setting.known_costs.max() <= setting.play_costs.most * (1 + 1e-12)


def test_noise_is_on_what_is_seen_and_the_budget_pays_the_truth():
    clear, noisy = (episode("gp", budget=budget_of("gp", noise_std=std), delay=None) for std in (0.0, 0.3))
    assert len(clear) == len(noisy)
    pairs = [(a[-1], b[-1]) for a, b in zip(clear, noisy, strict=True)][:-1]
    for one, other in pairs:
        assert one["oracle"]["spent"] == other["oracle"]["spent"] == one["feedback_spent"][0]
        np.testing.assert_array_equal(one["feedback_reward"], other["feedback_reward"])
    errors = [other["feedback_spent"][0] - other["oracle"]["spent"] for _, other in pairs]
    assert 0.15 < np.std(errors) < 0.5  # of about 35 normals of deviation 0.3


def test_the_rate_is_the_best_reward_a_unit_of_cost():
    env = gym.make("GPBandit-Budget-v0", budget=budget_of("log-gp", known=True))
    env.reset(seed=1)
    trial: Any = env.unwrapped.simulator.trials[0]  # type: ignore[attr-defined]
    expected = (trial.means[0, 0] / trial.play_costs.values).max()
    assert env.step(3)[4]["oracle"]["rate"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("features", [{}, {"drift": "ornstein-uhlenbeck"}])
def test_the_rate_is_the_best_of_the_arms_that_are_there(features):
    few: Any = {"availability": {"law": "bernoulli", "p": 0.1}, "budget": budget_of("gp")}
    env: Any = gym.make("GPBandit-Composite-v0", **few, **SMALL, **features)
    _, info = env.reset(seed=2)
    trial = env.unwrapped.simulator.trials[0]
    for t in range(12):
        mask, at = info["action_mask"].astype(bool), trial.context[t] * 30
        means = trial.means[trial.version[t]][:, at : at + 30]
        cells = mask & (means[1:] <= 0).all(axis=0)
        best = (means[0] / trial.play_costs.values[at : at + 30])[cells].max()
        info = env.step(int(mask.argmax()))[-1]
        assert info["oracle"]["rate"] == max(best, 0.0)


def test_the_step_that_ends_an_episode_tells_the_arms_of_the_round_that_was_not_played():
    env = gym.make("GPBandit-Composite-v0", **SMALL, availability="bernoulli", budget=budget_of("gp"))
    env.action_space.seed(0)
    infos = [env.reset(seed=0)[1]]
    while infos[-1].get("played") or len(infos) == 1:
        infos.append(env.step(env.action_space.sample())[-1])
    np.testing.assert_array_equal(infos[-1]["action_mask"], infos[-2]["action_mask"])


def test_a_missing_arm_is_refused_before_it_is_asked_what_it_costs():
    costs = {"law": "unit", "budget": 1}
    env = BanditEnv("gp", num_arms=30, availability={"law": "bernoulli", "p": 0.3}, budget=costs)
    _, info = env.reset(seed=0)
    *_, info = env.step(int(info["action_mask"].argmax()))
    with pytest.raises(ValueError, match="must be an arm that is available"):
        env.step(int(info["action_mask"].argmin()))
    assert env.step(int(info["action_mask"].argmax()))[2]


def test_a_function_seed_freezes_what_plays_cost():
    env = gym.make("GPBandit-Budget-v0", budget=budget_of("gp", known=True))
    costs = []
    for seed in (1, 2):
        env.reset(seed=seed, options={"function_seed": 7})
        costs.append(env.get_wrapper_attr("setting").known_costs)
    np.testing.assert_array_equal(*costs)


def test_a_step_after_the_budget_is_spent_is_one_clear_error():
    env = gym.make("GPBandit-Budget-v0", budget={"law": "unit", "budget": 2}, disable_env_checker=True)
    env.reset(seed=0)
    assert [env.step(0)[2] for _ in range(2)] == [False, False]
    env.unwrapped.reset(seed=0)
    for _ in range(3):
        env.unwrapped.step(0)
    with pytest.raises(RuntimeError, match="after the budget was spent; call reset"):
        env.unwrapped.step(0)


def test_known_costs_of_a_batch_are_each_trials_own():
    costs = np.array([[1.0, 2.0], [3.0, 4.0]])
    trials = [Setting(arms=np.array([[0.0], [1.0]]), budget=9, known_costs=each) for each in costs]
    batch = batch_settings(trials)
    np.testing.assert_array_equal(batch.known_costs, costs)
    for i, each in enumerate(costs):
        np.testing.assert_array_equal(batch.of_trial(i).known_costs, each)
        np.testing.assert_array_equal(trials[i].of_trial(1).known_costs, each)


ARMS = [3, 3, 7, 7, 7, 0, 24]


def moved(law: Movement, arms: list[int] = ARMS, **laws: Any) -> list[float]:
    env = BanditEnv(by_hand(movement=law, **laws))
    env.reset(seed=0)
    return [env.step(arm)[-1]["oracle"]["moved"] for arm in arms]


def test_a_switch_costs_its_price_travel_the_distance_in_sides_of_the_box_and_the_first_play_nothing():
    assert moved(Switching(0.25)) == [0, 0, 0.25, 0, 0, 0.25, 0.25]
    steps = np.abs(np.diff(np.array(ARMS) / 24.0))
    for unit in (1.0, 1000.0):
        found = moved(Travel(2.0), decisions=Decisions(unit * unit_grid(25)))
        np.testing.assert_allclose(found, [0, *(2.0 * steps)], atol=1e-12)


def test_nothing_else_of_a_run_depends_on_what_moves_cost():
    def rounds(law: Movement) -> list[tuple[Any, ...]]:
        env = BanditEnv(by_hand(movement=law))
        env.reset(seed=0)
        return [(step[1], step[-1]["oracle"]["regret"]) for step in map(env.step, ARMS)]

    assert rounds(Switching(0.25)) == rounds(FreeMoves())


def test_the_law_is_published_even_where_the_model_is_withheld():
    assert by_hand(movement=Switching(0.2), publish_model=False).setting().movement == Switching(0.2)


def test_a_budget_pays_for_plays_and_not_for_moves_and_a_play_that_it_does_not_cover_is_no_move():
    def last(law: Movement) -> dict[str, Any]:
        env = BanditEnv(by_hand(movement=law, play_costs=GPCosts(6.0)))
        env.reset(seed=0)
        return next(info for *_, over, _, info in map(env.step, [0, 24] * 20) if over)

    moving = last(Switching(5.0))
    assert moving["t"] == last(FreeMoves())["t"]
    assert not moving["played"]
    assert moving["oracle"]["moved"] == 0.0


def test_the_total_loss_is_regret_plus_the_cost_of_moves():
    moves = {"num_arms": 20, "horizon": 30, "movement": {"law": "switching", "price": 0.5}}
    result = evaluate("GPBandit-GP-v0", ["gp-ucb", "random"], trials=3, env_kwargs=moves)
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
