"""A policy that cannot see which function it plays: a warning with the remedy, and only there."""

from __future__ import annotations

import warnings

import gymnasium as gym
import pytest

from bandit_envs import BanditVectorEnv
from bandit_envs.environment.envs import spaces_of
from bandit_envs.environment.observations import is_blind
from bandit_envs.environment.wrappers import EpisodeRegret, HistoryObservation, StatisticsObservation
from bandit_envs.problems import build

pytest.importorskip("sb3_contrib", reason="needs the extra `rl`")
from stable_baselines3 import A2C

from agents import train_policy
from agents.agent.generators import preserved_generators
from agents.rl.regret import RegretCallback
from agents.rl.vector import SB3VectorEnv

SMALL = {"num_arms": 8, "horizon": 5}


def bare(**keywords):
    return gym.make("GPBandit-GP-v0", **SMALL, **keywords)


def learn(env, callback=None):
    with preserved_generators():
        A2C("MlpPolicy", env, n_steps=2, device="cpu").learn(4, callback=callback or RegretCallback())


def naive(env, episodes=4):
    with preserved_generators():
        A2C("MlpPolicy", env, n_steps=2, device="cpu").learn(episodes * SMALL["horizon"])


BLIND = {
    "a vector environment": lambda: SB3VectorEnv(
        BanditVectorEnv("gp", 2, **SMALL, autoreset_mode="SameStep")
    ),
    "a callback": lambda: learn(bare()),
    "a naive call": lambda: naive(bare()),
    "training": lambda: train_policy(
        "GPBandit-GP-v0", "ppo", total_timesteps=4, observation="none", num_envs=2, env_kwargs=SMALL
    ),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("where", BLIND)
def test_a_blind_learner_is_warned_of_once_with_the_remedy_at_the_line_of_the_caller(where):
    with pytest.warns(UserWarning, match="constant.*show it the past, with StatisticsObservation") as caught:
        BLIND[where]()
    assert [each.filename for each in caught] == [__file__]


SEEING = {
    "statistics": lambda: learn(StatisticsObservation(bare())),
    "history": lambda: learn(HistoryObservation(EpisodeRegret(bare()))),
    "frozen": lambda: learn(bare(function_seed=0)),
    "statistics, called naively": lambda: naive(StatisticsObservation(bare())),
    "frozen, called naively": lambda: naive(bare(function_seed=0)),
    "one episode alone": lambda: naive(bare(), episodes=1),
}


@pytest.mark.parametrize("what", SEEING)
def test_a_learner_that_sees_something_is_not_warned_of(what):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SEEING[what]()


PLAIN = {
    "new functions": ("gp", {}, True),
    "under a budget": ("gp", {"budget": 3.0}, True),
    "on a box": ("gp", {"continuous": True}, True),
    "frozen": ("gp", {"function_seed": 0}, False),
    "contexts": ("gp", {"num_contexts": 3}, False),
    "always the same": ("rosenbrock", {}, False),
}


@pytest.mark.parametrize("name", PLAIN)
def test_a_constant_observation_of_new_functions_is_blind(name):
    problem_name, keywords, blind = PLAIN[name]
    problem = build(problem_name, {"horizon": 5, **keywords})
    assert is_blind(problem, spaces_of(problem)[0]) is blind
