"""Late rewards and costs are credited to the plays that earned them."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces
from learner_cases import actions

import agents
from agents.rl.vector import AttributedReplayBuffer
from bandit_envs import Setting


def info_of(t, arrivals, slots=4, cost=None):
    info = {
        "t": t,
        "feedback_mask": np.zeros(slots, dtype=bool),
        "feedback_step": np.full(slots, -1),
        "feedback_reward": np.zeros(slots),
    }
    for played, reward in arrivals.items():
        slot = t - played
        info["feedback_mask"][slot], info["feedback_step"][slot] = True, played
        info["feedback_reward"][slot] = reward
    return info | ({"feedback_cost": np.full((slots, 2), cost)} if cost is not None else {})


def test_a_delayed_reward_is_credited_to_the_action_that_earned_it():
    buffer = AttributedReplayBuffer(10, spaces.Box(0, 1, (1,)), spaces.Discrete(9), "cpu")
    arrivals = [{}, {}, {0: 0.5}, {3: 3.5, 1: 1.5}, {}]  # the reward of round 2 never arrives
    for t, arrived in enumerate(arrivals):
        place = np.array([[t / 10]], dtype=np.float32)
        summed = np.array([sum(arrived.values())])
        buffer.add(place, place, np.array([t]), summed, np.array([False]), [info_of(t, arrived)])
    assert buffer.size() == 3
    played = buffer.actions[:3, 0, 0]
    assert sorted(played.tolist()) == [0, 1, 3]
    np.testing.assert_allclose(buffer.rewards[:3, 0], played + 0.5, atol=1e-7)
    np.testing.assert_allclose(buffer.observations[:3, 0, 0], played / 10, atol=1e-7)


def test_costs_are_credited_with_the_rewards_they_came_with():
    space = spaces.Box(0, 1, (1,))
    buffer = AttributedReplayBuffer(10, space, spaces.Discrete(9), "cpu", penalty=2.0)
    zeros, no = np.zeros((1, 1), dtype=np.float32), np.array([False])
    buffer.add(zeros, zeros, np.array([0]), np.zeros(1), no, [info_of(0, {0: 1.0}, cost=0.25)])
    buffer.add(zeros, zeros, np.array([0]), np.zeros(1), no, [info_of(1, {1: 1.0}, cost=-0.25)])
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
