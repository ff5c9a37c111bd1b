"""What learners see of an episode: the last rounds, or statistics of all of them."""

import gymnasium as gym
import numpy as np
import pytest
from cases import by_hand
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_for_sb3

import bandit_envs  # noqa: F401 (registers the ids)
from bandit_envs import BanditEnv, Setting
from bandit_envs.environment.envs import FIRST, TrainingSeeds
from bandit_envs.environment.observations import make_summary
from bandit_envs.environment.wrappers import HistoryObservation, StatisticsObservation
from bandit_envs.laws import delays
from bandit_envs.problem.decisions import Decisions

WRAPPERS = [HistoryObservation, StatisticsObservation, lambda env: StatisticsObservation(env, bins=3)]
PLACES = Decisions(np.linspace(0, 10, 21)[:, None], np.array([[0.0], [1.0], [3.0]]))
CONTEXTS = by_hand(decisions=PLACES, delay=delays.PoissonDelay(2.0), max_delay=6)


def rounds(env, seed=0):
    """Context, action, its place in [-1, 1], the observation after it, and info, of a random episode."""
    observation, _ = env.reset(seed=seed)
    env.action_space.seed(seed)
    arms, done, seen = env.get_wrapper_attr("setting").arms, False, []
    while not done:
        action = env.action_space.sample()
        following, _, _, done, info = env.step(action)
        place = 2 * (arms[action] - arms.min(axis=0)) / np.ptp(arms, axis=0) - 1
        seen.append((observation[:1], int(action), place, following, info))
        observation = following
    return seen


@pytest.mark.long
@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version:UserWarning")  # as it should be
@pytest.mark.filterwarnings("ignore:.*Box observation space (maximum|minimum) value:UserWarning")  # rewards
def test_both_checkers_have_nothing_to_say(wrapper):
    for make in (lambda: BanditEnv(CONTEXTS), lambda: BanditEnv("rkhs", dim=2, continuous=True, horizon=30)):
        check_env(wrapper(make()), skip_render_check=True)
        check_for_sb3(wrapper(make()))


def test_history_is_the_last_play_the_last_reward_and_the_play_that_earned_it():
    played, credited, reward = [], np.zeros(1), 0.0
    for t, (_, _, place, seen, info) in enumerate(rounds(HistoryObservation(BanditEnv(CONTEXTS)))):
        played.append(place)
        for slot in np.flatnonzero(info["feedback_mask"])[:1]:  # slot 0 is the latest play
            credited, reward = played[t - slot], info["feedback_reward"][slot]
        news = float(info["feedback_mask"].any())
        np.testing.assert_allclose(seen[1:], [*place, *credited, reward, news, (t + 1) / 40], atol=1e-6)


def test_statistics_count_and_average_what_each_cell_has_paid_in_the_context_in_force():
    paid: dict[tuple[float, int], list[float]] = {}
    plays = []
    for t, (context, action, _, seen, info) in enumerate(
        rounds(StatisticsObservation(BanditEnv(CONTEXTS), bins=5))
    ):
        plays.append((float(context[0]), min(int(action / 20 * 5 + 1e-9), 4)))
        for slot in np.flatnonzero(info["feedback_mask"]):
            paid.setdefault(plays[t - slot], []).append(info["feedback_reward"][slot])
        here = [paid.get((float(seen[0]), cell), []) for cell in range(5)]
        counts = [np.log1p(len(values)) / np.log1p(40) for values in here]
        means = [np.mean(values) if values else 0.0 for values in here]
        np.testing.assert_allclose(seen[1:], [*counts, *means, (t + 1) / 40], atol=1e-6)
    assert len(paid) > 10


def test_nothing_is_left_of_the_episode_before():
    for wrapper in WRAPPERS:
        env = wrapper(BanditEnv(CONTEXTS))
        first, _ = env.reset(seed=3)
        rounds(env, seed=4)
        again, _ = env.reset(seed=3)
        np.testing.assert_array_equal(first, again)
        assert not again[1:].any()


@pytest.mark.parametrize("wrapper", WRAPPERS[:2])
def test_its_spec_makes_the_same_environment_again(wrapper):
    env = wrapper(gym.make("GPBandit-GP-v0", num_arms=10, horizon=6))
    again = gym.make(type(env.spec).from_json(env.spec.to_json()))
    assert again.observation_space == env.observation_space
    np.testing.assert_array_equal(again.reset(seed=1)[0], env.reset(seed=1)[0])


def test_on_a_box_the_place_is_the_action():
    env = HistoryObservation(BanditEnv("rkhs", dim=2, continuous=True, horizon=5))
    env.reset(seed=0)
    seen = env.step(np.array([0.25, -0.5], dtype=np.float32))[0]
    np.testing.assert_allclose(seen[1:5], [0.25, -0.5, 0.25, -0.5])


@pytest.mark.parametrize(
    ("observation", "message"),
    [
        ("everything", "observation must be one of none, history, statistics"),
        (3, "observation must be one of"),
        ({"kind": "history", "bins": 3}, "observation must be without bins for 'history'"),
        ({"kind": "statistics", "bins": 0}, "bins must be a positive integer, got 0"),
        ({"kind": "statistics", "bins": 70}, "bins must be small enough for 4096 cells in 2 dimensions, got"),
    ],
)
def test_bad_input_gets_one_clear_error(observation, message):
    with pytest.raises(ValueError, match=message):
        make_summary(observation, Setting(low=np.zeros(2), high=np.ones(2)))


def test_training_seeds_are_those_of_no_evaluation():
    plain, shifted = BanditEnv("gp", num_arms=10), TrainingSeeds(BanditEnv("gp", num_arms=10))

    def function(env, seed):
        env.reset(seed=seed)
        return env.unwrapped.simulator.trials[0].means

    np.testing.assert_array_equal(function(shifted, 7), function(plain, FIRST + 7))
    assert not np.array_equal(function(shifted, 7), function(plain, 7))
    shifted.reset(seed=7)
    first = function(shifted, None)
    shifted.reset(seed=7)
    np.testing.assert_array_equal(function(shifted, None), first)
