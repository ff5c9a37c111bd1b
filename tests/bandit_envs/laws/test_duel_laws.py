"""Duels: who wins, what it costs, which features compose with them, and who is refused."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from cases import Case
from gymnasium.vector import AutoresetMode
from scipy.special import expit, logit
from vector_pairs import pair, play_both, same

import agents
import bandit_envs
from bandit_envs import Setting
from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.environment.wrappers import HistoryObservation, StatisticsObservation
from bandit_envs.problems import build
from gpbandits import evaluate

DUEL = "GPBandit-Duel-v0"


def utilities(env):
    """The utilities less the largest, f - f*, of the trial."""
    return logit(env.unwrapped.simulator.trials[0].means[0][0])


def test_a_trial_has_the_utilities_of_the_same_function_as_single_arms():
    duel = build("duel", {}).draw(5)
    plain = build("gp", {"num_arms": 30}).draw(5)
    f = plain.means[0][0]
    np.testing.assert_allclose(logit(duel.means[0][0]), f - f.max(), rtol=0, atol=1e-10)


@pytest.mark.long
def test_the_first_arm_wins_as_often_as_the_logistic_law_says():
    env = gym.make(DUEL, num_arms=2, length_scale=0.1, horizon=4000)
    env.reset(seed=3)
    f = utilities(env)
    won = [env.step(np.array([0, 1]))[4]["feedback_reward"][0] for _ in range(4000)]
    p = expit(f[0] - f[1])
    assert abs(p - 0.5) > 0.1  # else the sides could be exchanged
    assert abs(np.mean(won) - p) < 4 * np.sqrt(p * (1 - p) / 4000)


def test_the_same_number_decides_a_round_whatever_pair_is_played():
    first, second = (gym.make(DUEL, horizon=60) for _ in range(2))
    for env in (first, second):
        env.reset(seed=1)
    f = utilities(first)
    best, worst = f.argmax(), f.argmin()
    for _ in range(60):  # the best beats the worst wherever it beats itself
        even = first.step(np.array([best, best]))[4]["feedback_reward"][0]
        easy = second.step(np.array([best, worst]))[4]["feedback_reward"][0]
        assert easy >= even


def test_regret_is_the_average_of_both_arms_and_strong_and_weak_are_the_ends():
    env = gym.make(DUEL, horizon=20)
    env.reset(seed=2)
    f = utilities(env)
    for x, y in np.random.default_rng(0).integers(30, size=(20, 2)):
        truth = env.step(np.array([x, y]))[4]["oracle"]
        each = expit(f.max() - f[[x, y]]) - 0.5
        assert truth["regret"] == pytest.approx(each.mean(), abs=1e-12)
        assert truth["strong_regret"] == pytest.approx(each.max(), abs=1e-12)
        assert truth["weak_regret"] == pytest.approx(each.min(), abs=1e-12)
        assert truth["regret"] == pytest.approx(truth["optimum"] - truth["mean"], abs=1e-12)


def test_the_best_arm_of_each_context_has_no_regret():
    env = gym.make(DUEL, num_contexts=4, horizon=40)
    env.reset(seed=0)
    trial = env.unwrapped.simulator.trials[0]
    best = trial.means[0][0].reshape(4, 30).argmax(axis=1)
    for t in range(40):
        arm = best[trial.context[t]]
        assert env.step(np.array([arm, arm]))[4]["oracle"]["regret"] == 0.0


@pytest.mark.sampled(4)
@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize(
    "keywords",
    [{}, {"num_contexts": 3, "delay": {"law": "poisson", "mean": 3}}, {"num_segments": 3}],
    ids=["plain", "contexts and delays", "changes"],
)
def test_the_vector_form_equals_its_singles(keywords, mode):
    ours, theirs = pair(Case(DUEL, {"horizon": 12, **keywords}), mode)
    same(ours.reset(seed=4), theirs.reset(seed=4))
    assert play_both(ours, theirs, mode, 30) >= 3


def test_results_have_strong_and_weak_regret_and_keep_them_in_files(tmp_path):
    result = evaluate(DUEL, ["random"], trials=3, env_kwargs={"horizon": 25})
    thinned = evaluate(DUEL, ["random"], trials=3, env_kwargs={"horizon": 25}, checkpoints=[5, 25])
    strong, weak = (result.running(f"{side}_regret")["random"] for side in ("strong", "weak"))
    np.testing.assert_allclose((strong + weak) / 2, result.regret["random"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(thinned.running("weak_regret")["random"], weak[:, [4, 24]], rtol=1e-12)
    path = tmp_path / "duels.parquet"
    result.save(path)
    again = type(result).load(path)
    np.testing.assert_array_equal(again.running("strong_regret")["random"], strong)
    assert result.actions["random"].shape == (3, 25, 2)
    assert not evaluate("GPBandit-GP-v0", ["random"], trials=1, env_kwargs={"horizon": 3}).held("weak_regret")


def test_the_history_shows_both_arms_and_who_won():
    env = HistoryObservation(gym.make(DUEL, horizon=10))
    env.reset(seed=0)
    seen, *_, info = env.step(np.array([0, 29]))
    np.testing.assert_allclose(seen, [0, -1, 1, -1, 1, info["feedback_reward"][0], 1, 0.1], rtol=1e-6)
    assert env.observation_space.contains(seen)


def test_cells_of_single_plays_are_refused():
    with pytest.raises(ArgumentError, match="in duels: an outcome is of a pair"):
        StatisticsObservation(gym.make(DUEL))


@pytest.mark.parametrize("name", ["gp-ucb", "gp-ts-sdf", "sb3-ppo", "optuna-tpe", "bandit-oco"])
def test_agents_of_single_arms_are_refused_with_the_reason(name):
    with pytest.raises(ValueError, match="a duel says only who won"):
        agents.make(name, build("duel", {}))


@pytest.mark.parametrize(
    ("keywords", "match"),
    [
        ({"continuous": True}, "continuous must be"),
        ({"constraints": {"law": "gp"}}, "constraints must be left out of duels"),
        ({"corruption": "random"}, "corruption must be left out of duels"),
        ({"availability": {"law": "bernoulli"}}, "availability must be left out of duels"),
        ({"budget": 10}, "budget must be left out of duels"),
        ({"aggregated": True}, "aggregated must be left out of duels"),
        ({"delay": {"law": "by-reward", "mean": 2}}, "delay must be left out of duels"),
        ({"delay": {"law": "by-arm", "base": {"law": "poisson", "mean": 2}}}, "delay must be left out"),
        ({"noise_std": 0.1}, "noise_std must be left out of duels: who wins is random by itself"),
        ({"noise": "uniform"}, "noise must be left out of duels"),
        ({"duel": 1}, "duel must be True or False"),
    ],
)
def test_what_does_not_fit_duels_is_refused(keywords, match):
    with pytest.raises(ValueError, match=match):
        bandit_envs.make(DUEL, **keywords)


@pytest.mark.parametrize("action", [3, [3], [1, 2, 3], [0.5, 1.0], [-1, 0], [0, 30]])
def test_an_action_that_is_no_pair_of_arms_is_an_error(action):
    env = gym.make(DUEL).unwrapped
    env.reset(seed=0)
    with pytest.raises(ValueError, match="action must be "):
        env.step(action)


def test_a_setting_of_duels_has_arms():
    with pytest.raises(ArgumentError, match="duel must be False on a box"):
        Setting(low=np.zeros(1), high=np.ones(1), duel=True)


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_a_picture_marks_both_arms(mode):
    env = gym.make(DUEL, render_mode=mode, num_arms=9, dim=2, delay={"law": "poisson", "mean": 2})
    env.reset(seed=0)
    for pair_ in ([0, 8], [4, 4]):
        env.step(np.array(pair_))
    assert len(env.render()) > 0
