"""Learners of stable-baselines3 in everybody's loop: reproducible, honest, with late rewards credited."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from gymnasium import spaces
from learner_cases import SMALL, actions, play
from sb3_contrib import RecurrentPPO
from stable_baselines3 import A2C, DDPG, DQN, SAC

import agents
from agents.agent.generators import preserved_generators
from agents.rl.bridge import Plays
from agents.rl.recipe import ALGORITHMS
from agents.rl.vector import AttributedReplayBuffer
from bandit_envs import BanditEnv, Setting
from bandit_envs.problem.feedback import delivery
from bandit_envs.problems import build
from gpbandits.evaluation import check_agent, evaluate
from gpbandits.evaluation.rehearsal import stages


@pytest.mark.parametrize("delay", [None, {"law": "conversions", "base": {"law": "poisson", "mean": 2}}])
def test_learners_play_clicks_and_are_marked_where_they_are_late_alone(delay):
    place = {**SMALL, "delay": delay}
    result = evaluate("GPBandit-Clicks-v0", ["sb3-dqn", "gp-ucb"], trials=1, env_kwargs=place)
    assert 0.0 < result.regret["sb3-dqn"][0, -1] < SMALL["horizon"]  # in probability
    assert len(np.unique(result.actions["sb3-dqn"])) > 1
    assert "gp-ucb" in result.unfit  # takes clicks for values with Gaussian noise
    assert ("sb3-dqn" in result.unfit) == (delay is not None)


def test_a_learner_for_boxes_plays_the_nearest_arm_of_a_finite_set():
    setting = Setting(arms=np.array([[0.0, 0.0], [10.0, 0.1], [10.0, 1.0]]))
    plays = Plays(setting, box=True)
    assert [plays(np.array(point)) for point in ([-1.0, -1.0], [1.0, -0.9], [1.0, 0.9])] == [0, 1, 2]
    assert plays(np.array([0.9, 0.3])) == 2  # by features scaled alike, not by the one of large numbers
    assert Plays(setting, box=False)(np.int64(2)) == 2


@pytest.mark.parametrize("learner", [DDPG, RecurrentPPO, type("Mine", (SAC,), {}), type("Mine", (DQN,), {})])
def test_a_class_plays_what_the_algorithm_that_it_extends_plays(learner):
    assert actions(("agents.rl:sb3", {"algorithm": learner}), trials=1, horizon=10).shape == (1, 10)


@pytest.mark.long
def test_a_learner_leaves_no_folder_behind(monkeypatch, tmp_path):
    monkeypatch.setenv("SB3_LOGDIR", str(tmp_path / "logs"))
    evaluate("GPBandit-GP-v0", ["sb3-a2c"], trials=1, env_kwargs={"horizon": 6, "num_arms": 4})
    assert not list(tmp_path.iterdir())


def test_seeds_of_the_learner_and_of_the_environment_are_apart():
    env = BanditEnv("gp", **SMALL)
    env.reset(seed=0)
    setting, plays = env.setting, []
    for env_seed, agent_seed in ((0, 0), (0, 1), (1, 0)):
        observation, _ = env.reset(seed=env_seed)
        agent = agents.make("sb3-dqn", setting, exploration_fraction=1.0, exploration_final_eps=1.0)
        with preserved_generators():
            agent.reset(agent_seed)
            plays.append(play(env, agent, observation))
    assert plays[0] == plays[2]  # exploration is the agent's, whatever the environment draws
    assert plays[0] != plays[1]


def test_the_global_generators_and_threads_of_the_process_are_left_as_they_were():
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    legacy = np.random.get_state()[1].copy()  # noqa: NPY002
    actions("sb3-a2c", trials=1)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    np.testing.assert_array_equal(np.random.get_state()[1], legacy)  # noqa: NPY002


def test_the_learner_never_sees_the_oracle():
    seen = []

    class Curious(A2C):
        def _update_info_buffer(self, infos, dones=None):
            seen.extend(infos)
            super()._update_info_buffer(infos, dones)

    env = BanditEnv("constrained", **SMALL)
    observation, _ = env.reset(seed=0)
    agent = agents.sb3(env.setting, Curious)
    with preserved_generators():
        agent.reset(0)
        play(env, agent, observation)  # a loop of one's own, whose info has the oracle
    assert len(seen) == SMALL["horizon"] - 1
    assert {key for info in seen for key in info} == {
        *("t", "feedback_mask", "feedback_step", "feedback_reward", "cost", "feedback_cost"),
        "TimeLimit.truncated",
    }


@pytest.mark.parametrize("name", [name for name, each in ALGORITHMS.items() if not each.masks])
def test_a_learner_that_sees_no_masks_is_refused_by_name_where_arms_may_be_missing(name):
    volatile = build("gp", {**SMALL, "availability": {"law": "bernoulli", "p": 0.4}})
    with pytest.raises(ValueError, match='algorithm must be "maskable-ppo" where arms may be missing'):
        agents.sb3(volatile.setting(), name)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_preset_can_be_made_and_the_library_is_left_alone(name):
    setting = Setting(arms=np.eye(3), horizon=30)
    assert agents.sb3(setting, name).recipe.options["gamma"] == 0.0
    assert agents.sb3(setting, name, preset="library").recipe.options == {}
    assert agents.sb3(setting, name, gamma=0.5).recipe.options["gamma"] == 0.5
    late = Setting(arms=np.eye(3), horizon=30, max_delay=3)
    assert agents.sb3(late, name).recipe.options["gamma"] == 0.8


BOX = {"num_arms": 12, "horizon": 40, "continuous": True}


WITH_LATE_REWARDS_OR_CONTEXTS = {name: stages()[name] for name in ("delay", "context")}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["sb3-a2c", "sb3-sac", "sb3-td3"])
def test_boxes_are_played_as_boxes(name):
    plays = actions(name, trials=1, **BOX)
    assert plays.shape == (1, 40, 1)
    assert np.abs(plays).max() <= 1.0
    assert len(np.unique(plays)) > 10


def test_the_horizon_is_the_length_of_training_so_that_schedules_mean_something():
    class Watched(DQN):
        rates: list[tuple[int, float]] = []  # noqa: RUF012 (a record across instances)

        def train(self, gradient_steps, batch_size=100):
            super().train(gradient_steps, batch_size)
            self.rates.append((self._total_timesteps, self.exploration_rate))

    options = {"exploration_fraction": 0.5, "learning_starts": 1, "train_freq": 1, "buffer_size": 40}
    agent = ("agents.rl:sb3", {"algorithm": Watched, **options})
    assert actions(agent, trials=1).shape == (1, 40)
    totals, rates = zip(*Watched.rates, strict=True)
    assert set(totals) == {40}
    np.testing.assert_allclose(rates[:18], 1 - 0.95 * np.arange(2, 20) / 20, atol=1e-9)
    assert rates[-1] == pytest.approx(0.05)


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["sb3-a2c", *(pytest.param(name, marks=pytest.mark.long) for name in ("sb3-dqn", "sb3-td3"))]
)
def test_a_trial_is_the_same_whatever_surrounds_it(name):
    three = actions(name, trials=3)
    alone = evaluate("GPBandit-RKHS-v0", [name], trials=1, first_trial=2, env_kwargs=SMALL)
    np.testing.assert_array_equal(three[2], alone.actions[name][0])
    among = evaluate("GPBandit-RKHS-v0", ["sb3-ppo", name, "gp-ts"], trials=3, env_kwargs=SMALL)
    np.testing.assert_array_equal(three, among.actions[name])


@pytest.mark.long
@pytest.mark.parametrize("name", ["a2c", "sac"])
@pytest.mark.parametrize("observation", ["none", "history", {"kind": "statistics", "bins": 4}])
def test_every_adapter_passes_the_conformance_suite(name, observation):
    check_agent((f"sb3-{name}", {"observation": observation}), WITH_LATE_REWARDS_OR_CONTEXTS)


def test_a_name_in_place_of_the_setting_is_refused_with_what_evaluate_takes():
    with pytest.raises(ValueError, match=r"setting must be a Setting; `evaluate` gives it to \(agents.sb3, "):
        agents.sb3("PPO")


def test_a_learner_that_is_told_which_action_earned_a_late_reward_needs_no_discount():
    late = Setting(arms=np.eye(3), horizon=30, max_delay=3)
    assert agents.sb3(late, "dqn", attribute=True).recipe.options["gamma"] == 0.0


def test_a_delayed_reward_is_credited_to_the_action_that_earned_it():
    buffer = AttributedReplayBuffer(10, spaces.Box(0, 1, (1,)), spaces.Discrete(9), "cpu")
    arrivals = [{}, {}, {0: 0.5}, {3: 3.5, 1: 1.5}, {}]  # the reward of round 2 never arrives
    for t, arrived in enumerate(arrivals):
        earned = np.array([*arrived.values()], dtype=float)
        info = delivery(t, np.array([*arrived], dtype=int), earned, np.empty((len(earned), 0)), 3)
        place = np.array([[t / 10]], dtype=np.float32)
        buffer.add(place, place, np.array([t]), earned.sum(keepdims=True), np.array([False]), [info])
    assert buffer.size() == 3
    played = buffer.actions[:3, 0, 0]
    assert sorted(played.tolist()) == [0, 1, 3]
    np.testing.assert_allclose(buffer.rewards[:3, 0], played + 0.5, atol=1e-7)
    np.testing.assert_allclose(buffer.observations[:3, 0, 0], played / 10, atol=1e-7)


def test_costs_are_credited_with_the_rewards_they_came_with():
    space = spaces.Box(0, 1, (1,))
    buffer = AttributedReplayBuffer(10, space, spaces.Discrete(9), "cpu", penalty=2.0)
    zeros, no = np.zeros((1, 1), dtype=np.float32), np.array([False])
    for t, cost in enumerate((0.25, -0.25)):
        info = delivery(t, np.array([t]), np.ones(1), np.full((1, 2), cost), 3)
        buffer.add(zeros, zeros, np.array([0]), np.zeros(1), no, [info])
    assert buffer.rewards[:2, 0].tolist() == [1.0 - 2.0 * 0.5, 1.0]


@pytest.mark.long
def test_without_delay_attribution_changes_nothing():
    plain, attributed = (actions(("sb3-dqn", {"attribute": attribute})) for attribute in (False, True))
    np.testing.assert_array_equal(plain, attributed)


def test_attribution_needs_a_replay_buffer():
    with pytest.raises(ValueError, match="attribute=True needs a replay buffer, which A2C has not; use dqn"):
        agents.make("sb3-a2c", Setting(arms=np.eye(2)), attribute=True)


@pytest.mark.long
@pytest.mark.parametrize("name", ["sb3-dqn", "sb3-qr-dqn", "sb3-sac", "sb3-td3"])
def test_attribution_runs_even_where_nothing_ever_arrives(name):
    lost = {"law": "constant", "rounds": 2, "lost": 1.0}
    agent = (name, {"attribute": True, "learning_starts": 2})
    assert actions(agent, trials=1, environment="GPBandit-GP-v0", delay=lost).shape == (1, 40)
