"""Policies trained beforehand: saved, loaded, frozen, and kept apart from those that learn from scratch."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from learner_cases import play
from stable_baselines3 import A2C

import agents
from agents.rl.policy import Policy
from bandit_envs import BanditEnv
from gpbandits.evaluation import Result, check_agent, evaluate

KEYWORDS = {"num_arms": 8, "horizon": 20}
SHORT = {"env_kwargs": KEYWORDS, "total_timesteps": 320, "num_envs": 4}
PATH = "agents.rl:pretrained"


@pytest.fixture(scope="module", params=["ppo", "recurrent-ppo"])
def policy(request) -> Policy:
    return agents.train_policy("GPBandit-GP-v0", request.param, **SHORT)


@pytest.fixture(scope="module")
def path(policy, tmp_path_factory):
    path = tmp_path_factory.mktemp("policies") / "policy.pt"
    policy.save(path)
    return str(path)


@pytest.mark.long
def test_a_saved_policy_is_the_same_when_loaded(policy, path):
    loaded = Policy.load(path)
    for name in ("algorithm", "options", "box", "observation", "training"):
        assert getattr(loaded, name) == getattr(policy, name)
    assert loaded.weights.keys() == policy.weights.keys()
    assert all(torch.equal(loaded.weights[name], policy.weights[name]) for name in policy.weights)


@pytest.mark.long
def test_training_is_reproducible_and_leaves_the_global_generators_alone(policy):
    state = torch.get_rng_state()
    name = policy.algorithm
    again, other = (agents.train_policy("GPBandit-GP-v0", name, **SHORT, seed=seed) for seed in (0, 1))
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(again.weights[name], policy.weights[name]) for name in policy.weights)
    assert not all(torch.equal(other.weights[name], policy.weights[name]) for name in policy.weights)


@pytest.mark.long
@pytest.mark.parametrize(
    ("algorithm", "keywords", "options"),
    [
        ("ppo", {}, {}),
        ("recurrent-ppo", {}, {}),
        ("ppo", {"max_episode_steps": 7, "num_constraints": 1}, {}),
        ("ppo", {"continuous": True, "delay": {"law": "poisson", "mean": 2.0}}, {"observation": "history"}),
        ("maskable-ppo", {"availability": {"law": "bernoulli", "p": 0.5}}, {"n_steps": 20}),
    ],
)
def test_training_in_one_simulator_is_training_on_its_environments_one_by_one(algorithm, keywords, options):
    keywords = KEYWORDS | keywords
    if options.get("observation") is None:
        options = options | {"observation": {"kind": "statistics", "bins": 5}}
    trained = [
        agents.train_policy(environment, algorithm, total_timesteps=200, num_envs=4, **options, **made)
        for environment, made in (
            ("GPBandit-GP-v0", {"env_kwargs": keywords}),
            (lambda: gym.make("GPBandit-GP-v0", **keywords), {}),
        )
    ]
    weights, others = (each.weights for each in trained)
    assert all(torch.equal(weights[name], others[name]) for name in others)


@pytest.mark.sampled(1)
def test_it_passes_the_conformance_suite_and_repeats_itself_in_any_order(path):
    problem = BanditEnv("gp", **KEYWORDS).problem
    check_agent((PATH, {"path": path}), {"problem": problem})
    spec = {"it": (PATH, {"path": path})}
    three = evaluate("GPBandit-GP-v0", spec, trials=3, env_kwargs=KEYWORDS).actions["it"]
    last = evaluate("GPBandit-GP-v0", spec, trials=1, first_trial=2, env_kwargs=KEYWORDS).actions["it"]
    np.testing.assert_array_equal(three[2:], last)


@pytest.fixture(scope="module")
def mixed(path) -> Result:
    chosen = {"A2C": "sb3-a2c", "trained": (PATH, {"path": path}), "random": "random"}
    return evaluate("GPBandit-GP-v0", chosen, trials=2, env_kwargs=KEYWORDS)


def test_tables_mark_what_was_trained_beforehand(mixed):
    assert mixed.tracks == {"A2C": "from scratch", "trained": "pretrained"}
    assert mixed.pretrained == {"trained"}
    text = str(mixed.table())
    assert "trained‡" in text
    assert "A2C‡" not in text
    assert "‡ pretrained" in text
    assert "minus trained" not in text  # never the baseline of the others


@pytest.mark.parametrize(
    ("environment", "keywords"),
    [
        ("GPBandit-GP-v0", {"function_seed": 3}),
        ("GPBandit-Rosenbrock-v0", {}),
        ("GPBandit-LogisticTuning-v0", {}),
    ],
)
def test_training_refuses_functions_that_evaluations_would_play(environment, keywords):
    with pytest.raises(ValueError, match="environment must draw a new function at each reset"):
        agents.train_policy(environment, "ppo", env_kwargs=keywords, total_timesteps=10)


def test_functions_that_are_normalised_are_trained_on_although_their_optima_are_alike(tmp_path):
    keywords = {"num_arms": np.int64(6), "horizon": 20, "delay": {"law": "constant", "rounds": 2}}
    policy = agents.train_policy("GPBandit-Delayed-v0", "ppo", env_kwargs=keywords, total_timesteps=10)
    policy.save(tmp_path / "policy.pt")  # also with numbers of numpy
    assert Policy.load(tmp_path / "policy.pt").training == policy.training
    assert policy.training["env_kwargs"] == keywords


def test_asked_again_in_the_same_round_it_plays_the_same(path):
    env = BanditEnv("gp", **KEYWORDS)
    observation, _ = env.reset(seed=0)
    agent = agents.pretrained(env.setting, path)
    agent.reset(0)
    assert len(set(play(env, agent, observation))) > 1  # it asks twice in each round


REFUSED = {
    "total_timesteps": ({"total_timesteps": 0}, "total_timesteps must be a positive integer, got 0"),
    "num_envs": ({"num_envs": 0}, "num_envs must be a positive integer, got 0"),
    "algorithm": ({"algorithm": A2C}, "algorithm must be text, got <class .*A2C"),
    "network": ({"policy_kwargs": {"activation_fn": torch.nn.ReLU}}, "policy_kwargs must be made of text"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_could_not_be_trained_or_saved_is_refused_before_the_training(options, message):
    known = {"algorithm": "ppo", "env_kwargs": KEYWORDS, "total_timesteps": 10}
    with pytest.raises(ValueError, match=message):
        agents.train_policy("GPBandit-GP-v0", **{**known, **options})


@pytest.mark.parametrize(
    "content",
    [
        [1, 2],
        {"format": 1},
        {"format": 1, "description": "{", "weights": {}},
        {"format": 1, "description": "{}"},
    ],
)
def test_files_of_others_are_refused(content, tmp_path):
    torch.save(content, tmp_path / "other.pt")
    with pytest.raises(ValueError, match=r"is damaged or not a file that Policy.save wrote"):
        Policy.load(tmp_path / "other.pt")


def test_a_file_that_was_cut_short_is_refused(policy, tmp_path):
    policy.save(tmp_path / "policy.pt")
    content = (tmp_path / "policy.pt").read_bytes()
    (tmp_path / "half.pt").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"is damaged or not a file that Policy.save wrote"):
        Policy.load(tmp_path / "half.pt")


@pytest.mark.long
def test_a_policy_that_draws_states_the_probability_of_its_network(policy, path):
    env = BanditEnv("gp", **KEYWORDS)
    observation, _ = env.reset(seed=0)
    agent = agents.pretrained(env.setting, path)
    agent.reset(0)
    arm = agent.act(observation)
    chances = [agent.propensity(observation, each) for each in range(KEYWORDS["num_arms"])]
    if policy.algorithm == "recurrent-ppo":  # whose probabilities depend on its memory before the draw
        assert set(chances) == {None}
        return
    assert sum(chances) == pytest.approx(1.0, abs=1e-5)
    assert 0.0 < chances[arm] < 1.0
    mode = agents.pretrained(env.setting, path, deterministic=True)
    mode.reset(0)
    assert mode.propensity(observation, mode.act(observation)) is None


def test_a_policy_for_boxes_plays_any_number_of_arms(tmp_path):
    options = {"actions": "box", "observation": "history", "total_timesteps": 80, "num_envs": 2}
    agents.train_policy("GPBandit-GP-v0", "ppo", env_kwargs=KEYWORDS, **options).save(tmp_path / "box.pt")
    spec = {"it": (PATH, {"path": str(tmp_path / "box.pt")})}
    result = evaluate("GPBandit-GP-v0", spec, trials=2, env_kwargs=KEYWORDS | {"num_arms": 30})
    assert result.actions["it"].max() >= 8


@pytest.mark.long
def test_what_it_has_learnt_is_worth_something():
    """The documented recipe, cut to a fraction: it beats random clearly."""
    policy = agents.train_policy("GPBandit-GP-v0", "ppo", env_kwargs=KEYWORDS, total_timesteps=12_000)
    both = {"it": lambda setting: agents.rl.policy.PretrainedAgent(setting, policy), "random": "random"}
    regret = evaluate("GPBandit-GP-v0", both, trials=30, env_kwargs=KEYWORDS).regret
    assert regret["it"][:, -1].mean() < 0.7 * regret["random"][:, -1].mean()
