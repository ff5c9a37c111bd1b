"""Models of stable-baselines3 that a user trained take part in `evaluate`, from an object and from a file."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from sb3_contrib import TRPO, RecurrentPPO
from stable_baselines3 import A2C, DQN, PPO, SAC
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import agents
from bandit_envs import BanditEnv
from bandit_envs.environment.wrappers import HistoryObservation, StatisticsObservation
from gpbandits import check_agent, evaluate

FEW = {"num_arms": 8, "horizon": 12}
SHORT = {"n_steps": 12, "device": "cpu", "seed": 0}


def seen(wrapper=lambda env: env, **keywords):
    return wrapper(gym.make("GPBandit-GP-v0", **FEW | keywords))


def trained(learner, env, policy="MlpPolicy", **options):
    return learner(policy, env, **options).learn(24)


MODELS = {
    "ppo": lambda: trained(PPO, seen(StatisticsObservation, function_seed=0), batch_size=12, **SHORT),
    "trpo": lambda: trained(TRPO, seen(HistoryObservation), batch_size=12, **SHORT),
    "a2c": lambda: trained(A2C, seen(function_seed=0), **SHORT),
    "dqn": lambda: trained(DQN, seen(function_seed=0), seed=0),
    "sac": lambda: trained(SAC, seen(HistoryObservation, continuous=True), seed=0),
    "recurrent-ppo": lambda: trained(
        RecurrentPPO, seen(HistoryObservation), "MlpLstmPolicy", batch_size=12, **SHORT
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", MODELS)
def test_a_model_and_its_file_play_the_same_and_are_marked(name, tmp_path):
    model = MODELS[name]()
    model.save(tmp_path / "model")
    entrants = {
        "object": agents.from_sb3(model),
        "file": agents.from_sb3(tmp_path / "model"),
        "in a study": ("agents.rl:sb3_model", {"model": str(tmp_path / "model.zip")}),
        "random": "random",
    }
    continuous = {"continuous": True} if name == "sac" else {}
    result = evaluate("GPBandit-GP-v0", entrants, trials=2, env_kwargs=FEW | continuous)
    for label in ("file", "in a study"):
        np.testing.assert_array_equal(result.actions["object"], result.actions[label])
    assert result.pretrained == {"object", "file", "in a study"}
    assert "object‡" in str(result.table())


def test_its_most_likely_actions_are_those_of_the_library_in_the_wrapped_environment():
    model, env = MODELS["ppo"](), seen(StatisticsObservation)
    observation, _ = env.reset(seed=5)
    bare = BanditEnv("gp", **FEW)
    shown, _ = bare.reset(seed=5)
    factory, options = agents.from_sb3(model, deterministic=True)
    agent = factory(bare.setting, **options)
    agent.reset(0)
    for _ in range(FEW["horizon"]):
        expected, action = int(model.predict(observation, deterministic=True)[0]), agent.act(shown)
        assert action == expected
        observation, *_ = env.step(expected)
        shown, reward, _, _, info = bare.step(action)
        agent.update(shown, action, reward, info)


def test_it_passes_the_conformance_suite():
    check_agent(agents.from_sb3(MODELS["a2c"]()), {"few": BanditEnv("gp", **FEW).problem})


def test_what_does_not_fit_is_refused_with_both_sizes(tmp_path):
    model = MODELS["ppo"]()
    more = {"num_arms": 9, "horizon": 12}
    with pytest.raises(
        ValueError, match=r"model must be trained to play Discrete\(9\), .* got Discrete\(8\)"
    ):
        evaluate("GPBandit-GP-v0", {"mine": agents.from_sb3(model)}, trials=1, env_kwargs=more)
    with pytest.raises(
        ValueError, match=r"observation must be what the model was .* \(22,\); there is \(1,\)"
    ):
        evaluate(
            "GPBandit-GP-v0", {"it": agents.from_sb3(model, observation="none")}, trials=1, env_kwargs=FEW
        )
    scaled = A2C("MlpPolicy", VecNormalize(DummyVecEnv([seen])), **SHORT)
    with pytest.raises(
        ValueError, match=r"model must be trained without .* VecNormalize\(env, norm_obs=False"
    ):
        evaluate("GPBandit-GP-v0", {"mine": agents.from_sb3(scaled)}, trials=1, env_kwargs=FEW)
    missing = r"model must be the path of a file .* \(no file is there: call .* first\), got '.*none\.zip'$"
    with pytest.raises(ValueError, match=missing):
        agents.from_sb3(tmp_path / "none.zip")
    (tmp_path / "text.zip").write_text("no model")
    with pytest.raises(ValueError, match="model must be a file that a model's save wrote"):
        agents.from_sb3(tmp_path / "text.zip")
    with pytest.raises(ValueError, match="model must be a trained model of stable-baselines3"):
        evaluate("GPBandit-GP-v0", {"it": agents.from_sb3(3)}, trials=1, env_kwargs=FEW)  # type: ignore[arg-type]
