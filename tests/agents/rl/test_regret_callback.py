"""Learners in their own loop: regret in the logger, and a warning where they see nothing."""

from __future__ import annotations

import warnings

import gymnasium as gym
import numpy as np
import pytest

from bandit_envs import BanditEnv, BanditVectorEnv
from bandit_envs.environment.envs import spaces_of
from bandit_envs.environment.observations import is_blind
from bandit_envs.environment.wrappers import EpisodeRegret, HistoryObservation, StatisticsObservation
from bandit_envs.problems import build

pytest.importorskip("stable_baselines3", reason="needs the extra `rl`")
from stable_baselines3 import A2C, DQN
from stable_baselines3.common.logger import KVWriter, Logger

from agents import train_policy
from agents.agent.generators import preserved_generators
from agents.rl.regret import RegretCallback
from agents.rl.vector import SB3VectorEnv

SMALL = {"num_arms": 8, "horizon": 6, "num_constraints": 1, "function_seed": 0}
STEPS = 14


class Kept(KVWriter):
    """Keeps what is written."""

    def __init__(self):
        self.written: list[tuple[int, dict]] = []

    def write(self, key_values, key_excluded, step=0):
        self.written.append((step, dict(key_values)))

    def close(self):
        pass


def learn(env, learner=A2C, total=STEPS, log_interval=100, **options):
    """Rounds that the callback saw, and what the logger wrote."""
    kept, rounds = Kept(), []
    keywords = {"n_steps": 5} if learner is A2C else {"learning_starts": 4}
    with preserved_generators():
        model = learner("MlpPolicy", env, device="cpu", seed=0, **keywords)
        model.set_logger(Logger(None, [kept]))
        model.learn(total, RegretCallback(on_round=rounds.append, **options), log_interval)
    return rounds, kept.written


@pytest.mark.parametrize("learner", [A2C, DQN])
def test_every_round_is_written_with_its_regret_and_violation(learner):
    rounds, written = learn(BanditEnv("gp", **SMALL), learner, every=1)
    ours = [values for _, values in written if "bandit/regret" in values]
    assert len(ours) == len(rounds) >= STEPS
    assert [seen.round for seen in rounds] == list(range(1, len(rounds) + 1))
    for key in ("regret", "violation"):
        truth = np.array([getattr(seen, key)[0] for seen in rounds])
        assert truth.any()
        assert np.allclose([values[f"bandit/{key}"] for values in ours], truth, rtol=1e-12)
        total = [values[f"bandit/cumulative_{key}"] for values in ours]
        assert np.allclose(total, truth.cumsum(), rtol=1e-12)


def test_without_a_period_the_algorithm_decides_and_means_are_written():
    env = SB3VectorEnv(BanditVectorEnv("gp", 2, **SMALL, autoreset_mode="SameStep"))
    rounds, written = learn(env, total=20, log_interval=1)
    (step, values), *_ = [each for each in written if "bandit/regret" in each[1]]
    assert (step, len(rounds)) == (10, 10)
    assert np.isclose(values["bandit/regret"], np.mean([seen.regret for seen in rounds[:5]]), rtol=1e-12)
    assert [seen.regret.shape for seen in rounds] == [(2,)] * 10


@pytest.mark.parametrize("anew", [True, False])
def test_sums_and_history_are_those_since_the_training_began(anew):
    env = SB3VectorEnv(BanditVectorEnv("gp", 2, **SMALL, autoreset_mode="SameStep"))
    kept, rounds = Kept(), []
    with preserved_generators():
        model = A2C("MlpPolicy", env, device="cpu", seed=0, n_steps=5)
        model.set_logger(Logger(None, [kept]))
        callback = RegretCallback(every=1, on_round=rounds.append)
        model.learn(20, callback, 100)
        model.learn(20, callback, 100, reset_num_timesteps=anew)
    steps, regret = callback.history
    expected = [seen.regret.mean() for seen in rounds[10 if anew else 0 :]]
    np.testing.assert_array_equal(steps, 2 * np.arange(1, len(expected) + 1))
    np.testing.assert_allclose(regret, expected, rtol=1e-12)
    written = [values["bandit/cumulative_regret"] for _, values in kept.written if "bandit/regret" in values]
    assert np.isclose(written[-1], np.sum(expected), rtol=1e-12)


def test_regret_that_is_hidden_is_asked_for():
    with pytest.raises(ValueError, match='info must have "oracle"'):
        learn(BanditEnv("gp", **SMALL, oracle=False))


BLINDED = {"num_arms": 8, "horizon": 5}


def bare(**keywords):
    return gym.make("GPBandit-GP-v0", **BLINDED, **keywords)


def short_learn(env, callback=None):
    with preserved_generators():
        A2C("MlpPolicy", env, n_steps=2, device="cpu").learn(4, callback=callback or RegretCallback())


def naive(env, episodes=4):
    with preserved_generators():
        A2C("MlpPolicy", env, n_steps=2, device="cpu").learn(episodes * BLINDED["horizon"])


BLIND = {
    "a vector environment": lambda: SB3VectorEnv(
        BanditVectorEnv("gp", 2, **BLINDED, autoreset_mode="SameStep")
    ),
    "a callback": lambda: short_learn(bare()),
    "a naive call": lambda: naive(bare()),
    "training": lambda: train_policy(
        "GPBandit-GP-v0", "ppo", total_timesteps=4, observation="none", num_envs=2, env_kwargs=BLINDED
    ),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("where", BLIND)
def test_a_blind_learner_is_warned_of_once_with_the_remedy_at_the_line_of_the_caller(where):
    with pytest.warns(UserWarning, match="constant.*show it the past, with StatisticsObservation") as caught:
        BLIND[where]()
    assert [each.filename for each in caught] == [__file__]


SEEING = {
    "statistics": lambda: short_learn(StatisticsObservation(bare())),
    "history": lambda: short_learn(HistoryObservation(EpisodeRegret(bare()))),
    "frozen": lambda: short_learn(bare(function_seed=0)),
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
