"""Aggregated feedback: the sum of what arrives, and nothing of whose it is."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from agent_cases import of_each_shape
from cases import BY_HAND
from vector_pairs import same

import agents
from bandit_envs import BanditEnv, Problem
from gpbandits import evaluate

AGGREGATED = {name: replace(problem, aggregated=True) for name, problem in BY_HAND.items()}
LATE = {"horizon": 30, "num_arms": 9, "delay": {"law": "poisson", "mean": 3}}


def rounds(problem: Problem) -> list[dict]:
    env = BanditEnv(problem)
    _, first = env.reset(seed=4)
    env.action_space.seed(2)
    found, ended = [first], False
    while not ended:
        _, reward, terminated, truncated, info = env.step(env.action_space.sample())
        found.append(info | {"reward": reward})
        ended = terminated or truncated
    return found


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", BY_HAND)
def test_the_one_slot_holds_the_sum_of_what_arrives(name):
    for whole, told in zip(rounds(BY_HAND[name])[1:], rounds(AGGREGATED[name])[1:], strict=True):
        assert told["feedback_step"].tolist() == [-1]
        assert told["feedback_mask"].tolist() == [told.get("played", True)]
        assert told["feedback_reward"].tolist() == [told["reward"]] == [whole["reward"]]
        if "feedback_cost" in whole:
            np.testing.assert_allclose(
                told["feedback_cost"], whole["feedback_cost"].sum(axis=0)[None], rtol=1e-12, atol=1e-15
            )
            assert told["cost"] == pytest.approx(np.maximum(told["feedback_cost"], 0.0).sum())
        if "feedback_spent" in whole:
            assert told["feedback_spent"] == pytest.approx(whole["feedback_spent"].sum(), rel=1e-12)
            assert told["feedback_spent"].shape == (1,)
        same(told["oracle"], whole["oracle"])
        assert told.keys() == whole.keys()


def test_deviations_of_the_noise_are_not_told():
    env = gym.make("GPBandit-GP-v0", **LATE, noise={"law": "by-arm", "std": 0.1}, aggregated=True)
    _, info = env.reset(seed=0)
    assert "feedback_std" not in info
    assert "feedback_std" not in env.step(0)[4]


@pytest.mark.parametrize("name", of_each_shape(agents.names()))
def test_agents_that_need_to_know_whose_it_is_are_refused(name):
    handled = agents.features(name).aggregated
    if handled:
        result = evaluate("GPBandit-GP-v0", [name], trials=2, env_kwargs=LATE | {"aggregated": True})
        assert result.regret[name].shape == (2, 30)
    else:
        env = gym.make("GPBandit-GP-v0", **LATE, aggregated=True)
        env.reset(seed=0)
        with pytest.raises(ValueError, match="must publish which rounds"):
            agents.make(name, env)
