"""`evaluate(..., log=True)` writes what was played, with the probability with which the agent chose it."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import agents
from agents.registry import BUILT_IN
from gpbandits import evaluate
from gpbandits.logs import read_log, value_of

RANDOM = agents.with_propensities()
OTHERS = [
    name
    for name in agents.names()
    if name not in RANDOM and agents.features(name).finite and not agents.features(name).duel
]
LATE = {"num_arms": 5, "horizon": 12, "delay": {"law": "poisson", "mean": 3}}


def logged(name: str, env: str = "GPBandit-Delayed-v0", trials: int = 2, **env_kwargs):
    return evaluate(env, [name], trials=trials, env_kwargs=LATE | env_kwargs, log=True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", RANDOM)
def test_results_and_plays_are_the_same_with_a_log(name):
    plain = evaluate("GPBandit-Delayed-v0", [name], trials=2, env_kwargs=LATE)
    result = logged(name)
    np.testing.assert_array_equal(result.actions[name], plain.actions[name])
    np.testing.assert_array_equal([log.action for log in result.logs[name]], plain.actions[name])
    assert plain.logs == {}


def test_the_log_of_an_agent_that_states_no_probability_has_none():
    for log in logged("gp-ucb").logs["gp-ucb"]:
        assert np.isnan(log.propensity).all()


def test_every_agent_that_states_a_probability_is_listed():
    env = gym.make("GPBandit-GP-v0", num_arms=4, horizon=10)
    observation, _ = env.reset(seed=1)
    ours = {
        name for room, names in BUILT_IN.items() if room.startswith("algorithms") for name in names.split()
    }
    for name in ours.intersection(OTHERS):
        agent = agents.make(name, env)
        agent.reset(2)
        assert agent.propensity(observation, agent.act(observation)) is None, name


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", RANDOM)
def test_the_probabilities_of_all_arms_sum_to_1(name):
    env = gym.make("GPBandit-GP-v0", num_arms=4, horizon=10)
    observation, _ = env.reset(seed=1)
    agent = agents.make(name, env)
    agent.reset(2)
    for _ in range(6):
        arm = agent.act(observation)
        chances = [agent.propensity(observation, other) for other in range(4)]
        assert sum(chances) == pytest.approx(1.0, abs=4e-3)  # the chosen one of 1,001 draws counts always
        _, reward, *_, info = env.step(arm)
        agent.update(observation, arm, reward, info)


@pytest.mark.long
@pytest.mark.parametrize("name", RANDOM)
def test_arms_are_chosen_as_often_as_their_probabilities_say(name):
    env = gym.make("GPBandit-GP-v0", num_arms=3, horizon=10, length_scale=0.05)
    chosen, stated = np.zeros(3), np.zeros(3)
    for seed in range(150):
        observation, _ = env.reset(seed=1)  # the same function and noise
        agent = agents.make(name, env)
        agent.reset(seed)
        for arm in (0, 1):
            _, reward, *_, info = env.step(arm)
            agent.update(observation, arm, reward, info)
        stated += [0.0 if seed % 15 else agent.propensity(observation, arm) for arm in range(3)]
        chosen[agent.act(observation)] += 1
    chance, stated = chosen / 150, stated / 10
    error = np.sqrt(stated * (1.0 - stated) / 150)
    assert (np.abs(chance - stated) <= 4.0 * error + 0.02).all()


@pytest.mark.long
def test_a_batch_states_the_probabilities_of_its_trials_one_by_one():
    together = logged("gp-ts", trials=3).logs["gp-ts"]
    for i, log in enumerate(together):
        alone = evaluate(
            "GPBandit-Delayed-v0", ["gp-ts"], trials=1, first_trial=i, env_kwargs=LATE, log=True
        ).logs["gp-ts"][0]
        np.testing.assert_array_equal(alone.propensity, log.propensity)


def test_rewards_are_logged_with_the_round_of_their_delivery():
    (log, *_) = logged("random", horizon=60).logs["random"]
    late = log.delivered - log.time
    assert np.nanmax(late) >= 3
    assert np.isnan(log.reward[~log.is_delivered]).all()
    assert 0 < np.count_nonzero(~log.is_delivered) < 30
    assert log.until == 59.0


def test_contexts_are_logged_by_their_features():
    few = {"num_contexts": 3, "horizon": 50, "num_arms": 4}
    result = evaluate("GPBandit-Contextual-v0", ["random"], trials=2, env_kwargs=few, log=True)
    for log in result.logs["random"]:
        assert len(log.contexts[0]) == 3


def test_arms_that_are_missing_have_no_part_in_the_probability():
    half = {"availability": {"law": "bernoulli", "p": 0.5}, "num_arms": 6, "horizon": 40}
    (log,) = evaluate("GPBandit-GP-v0", ["random"], trials=1, env_kwargs=half, log=True).logs["random"]
    assert len(np.unique(log.propensity)) > 2


@pytest.mark.long
def test_logs_are_the_same_in_several_processes_and_in_files(tmp_path):
    pytest.importorskip("joblib")
    few = {"num_arms": 4, "horizon": 10}
    here = evaluate("GPBandit-GP-v0", ["random"], trials=3, env_kwargs=few, log=True)
    there = evaluate("GPBandit-GP-v0", ["random"], trials=3, env_kwargs=few, log=True, workers=2)
    for one, two in zip(here.logs["random"], there.logs["random"], strict=True):
        np.testing.assert_array_equal(one.reward, two.reward)
    here.logs["random"][0].save(tmp_path / "log.csv")
    again = read_log(tmp_path / "log.csv", actions=4)
    np.testing.assert_array_equal(again.reward, here.logs["random"][0].reward)


@pytest.mark.filterwarnings("ignore::gpbandits.logs.LogWarning")
def test_a_policy_is_valued_from_the_log_of_an_agent():
    few = {"num_arms": 4, "horizon": 1500}
    (log,) = evaluate("GPBandit-GP-v0", ["random"], trials=1, env_kwargs=few, log=True).logs["random"]
    for arm in range(4):
        found = value_of(np.eye(4)[arm], log, methods=["snips"])["snips"]
        assert found.value == pytest.approx(log.reward[log.action == arm].mean())


@pytest.mark.parametrize(
    ("env", "given"),
    [
        ("GPBandit-GP-v0", {"continuous": True}),
        ("GPBandit-Duel-v0", {}),
        ("GPBandit-GP-v0", {"aggregated": True}),
    ],
)
def test_plays_that_are_no_single_arms_are_not_logged(env, given):
    with pytest.raises(ValueError, match="log must be False where actions are no single arms"):
        evaluate(env, ["random"], trials=1, env_kwargs=given, log=True)
