"""The wrapper that reports an episode's regret."""

import gymnasium as gym
import pytest
from cases import COSTS, by_hand
from gymnasium.wrappers import RecordEpisodeStatistics
from stable_baselines3.common.monitor import Monitor

from bandit_envs import BanditEnv
from bandit_envs.environment.wrappers import CostReturned, EpisodeRegret
from bandit_envs.laws import delays

CONSTRAINED = by_hand(constraints=COSTS, delay=delays.PoissonDelay(2), horizon=15)


def episode(env, seed=0):
    env.reset(seed=seed)
    env.action_space.seed(seed)
    infos, rewards, done = [], [], False
    while not done:
        _, reward, terminated, truncated, info = env.step(env.action_space.sample())
        infos.append(info)
        rewards.append(reward)
        done = terminated or truncated
    return infos, rewards


def test_the_last_info_of_an_episode_has_the_sums_over_the_episode():
    env = EpisodeRegret(BanditEnv(CONSTRAINED))
    for seed in (0, 1):  # the second episode starts from zero
        infos, rewards = episode(env, seed)
        assert all("episode" not in info for info in infos[:-1])
        score = infos[-1]["episode"]
        assert set(score) == {"r", "l", "t", "regret", "violation"}
        assert score["r"] == pytest.approx(sum(rewards), abs=1e-12)
        assert score["l"] == 15
        assert score["t"] >= 0
        for key in ("regret", "violation"):
            assert score[key] == pytest.approx(sum(info["oracle"][key] for info in infos), abs=1e-12)
            assert type(score[key]) is float


def test_what_plays_cost_and_what_an_attacker_spends_are_told_apart():
    """The play that does not fit into the budget ends the episode, and is not made."""
    both = {"corruption": {"law": "random", "budget": 2.0}, "budget": {"law": "gp", "budget": 8}}
    infos, rewards = episode(EpisodeRegret(BanditEnv("gp", num_arms=20, horizon=60, **both)))
    score, plays = infos[-1]["episode"], [info["oracle"] for info in infos[:-1]]
    assert not infos[-1]["played"]
    assert score["l"] == len(plays) == len(infos) - 1
    assert score["r"] == pytest.approx(sum(rewards))
    assert score["spent"] == pytest.approx(sum(abs(each["corruption"]) for each in plays))
    assert score["paid"] == pytest.approx(sum(each["spent"] for each in plays))
    assert 0 < score["spent"] <= 2.0 < 6.0 < score["paid"] <= 8.0
    behind = sum(each["rate"] * each["spent"] - each["mean"] for each in plays)
    assert score["budget_regret"] == pytest.approx(behind)
    assert score["regret"] == pytest.approx(sum(each["regret"] for each in plays))


@pytest.mark.parametrize("inner", [RecordEpisodeStatistics, Monitor])
def test_the_score_adds_to_that_of_a_wrapper_inside(inner):
    infos, rewards = episode(EpisodeRegret(inner(BanditEnv("gp", num_arms=10, horizon=5))))
    assert set(infos[-1]["episode"]) == {"r", "l", "t", "regret"}
    assert infos[-1]["episode"]["r"] == pytest.approx(sum(rewards))


def test_it_ends_with_the_time_limit_too():
    env = EpisodeRegret(gym.make("GPBandit-GP-v0", num_arms=10, max_episode_steps=4))
    infos, _ = episode(env)
    assert infos[-1]["episode"]["l"] == len(infos) == 4


def test_its_spec_makes_the_same_environment_again():
    spec = EpisodeRegret(gym.make("GPBandit-GP-v0", num_arms=10, horizon=6), stats_key="score").spec
    assert spec is not None
    again = gym.make(type(spec).from_json(spec.to_json()))
    infos, _ = episode(again)
    assert infos[-1]["score"]["l"] == 6


def test_an_environment_without_the_truth_is_refused_with_the_remedy():
    env = EpisodeRegret(BanditEnv("gp", num_arms=10, oracle=False))
    with pytest.raises(ValueError, match="make the environment with oracle=True"):
        env.reset()


def test_safe_rl_libraries_get_the_cost_as_the_third_of_six():
    env = CostReturned(BanditEnv(CONSTRAINED))
    env.reset(seed=0)
    for arm in range(15):
        observation, reward, cost, terminated, truncated, info = env.step(arm)
        assert cost == info["cost"]
        assert type(cost) is float
        assert (terminated, truncated) == (False, arm == 14)
        assert observation.shape == (1,)
        assert isinstance(reward, float)


def test_without_constraints_there_is_no_cost_to_return():
    env = CostReturned(BanditEnv("gp", num_arms=10, horizon=5))
    env.reset(seed=0)
    with pytest.raises(ValueError, match="make an environment with constraints"):
        env.step(0)
