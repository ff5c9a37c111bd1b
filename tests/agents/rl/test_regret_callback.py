"""Regret and violation in the logger of stable-baselines3, and in the files of TensorBoard."""

from __future__ import annotations

import numpy as np
import pytest

from bandit_envs import BanditEnv, BanditVectorEnv

pytest.importorskip("stable_baselines3", reason="needs the extra `rl`")
from stable_baselines3 import A2C, DQN
from stable_baselines3.common.logger import KVWriter, Logger

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


def test_tensorboard_shows_what_was_written(tmp_path):
    pytest.importorskip("tensorboard", reason="needs the package `tensorboard`")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    rounds = []
    with preserved_generators():
        env = BanditEnv("gp", **SMALL)
        model = A2C("MlpPolicy", env, n_steps=5, device="cpu", seed=0, tensorboard_log=str(tmp_path))
        model.learn(10, callback=RegretCallback(every=1, on_round=rounds.append))
    (folder,) = tmp_path.iterdir()
    events = EventAccumulator(str(folder)).Reload().Scalars("bandit/cumulative_regret")
    assert [event.step for event in events] == list(range(1, 11))
    truth = np.cumsum([seen.regret[0] for seen in rounds])
    assert np.allclose([event.value for event in events], truth, rtol=1e-6)  # float32


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
