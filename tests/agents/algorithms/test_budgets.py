"""Agents for budgets: what they are where costs do not matter, the index's equation, and the proved bound."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from agent_cases import batch_as_singles
from players import at_once, started
from sklearn.gaussian_process.kernels import ConstantKernel

import agents
from agents.acquisition.improvement import gittins_index, log_expected_improvement
from agents.algorithms.budgets import Ratio
from agents.stopping.by_price import GradientWorthPrice
from bandit_envs import make
from gpbandits import evaluate

BUDGETS = ("ratio-ucb", "ei-per-cost", "kg-per-cost", "pbgi")
PLAIN = {"ratio-ucb": ("gp-ucb", {"width": 2.0}), "ei-per-cost": ("gp-ei", {})}
UNIT = {"law": "unit", "budget": 30}
each_kind = pytest.mark.parametrize(
    "kind", [{"known": True}, {"known": False}, {"noise_std": 0.1}, {"publish_model": False}], ids=str
)


def actions(name: str, options: dict[str, Any], budget: Any, **keywords: Any) -> Any:
    given = {"num_arms": 40, "budget": budget, "horizon": 60, **keywords}
    played = evaluate("GPBandit-Budget-v0", {name: (name, options)}, trials=2, env_kwargs=given)
    return played.actions[name]


def test_a_play_that_can_earn_nothing_scores_zero_whatever_it_costs():
    costs = SimpleNamespace(belief=None, unit=np.array([[2.0]]))
    band = SimpleNamespace(lower=lambda width: np.array([[0.5, 4.0, 1.0]]))
    one: Any = SimpleNamespace(costs=costs, width=None)
    found = Ratio.combined(one, np.array([[-1.0, -3.0, 2.0]]), band, np.zeros(1))
    np.testing.assert_array_equal(found, [[0.0, 0.0, 4.0]])


# --- where all plays cost the same ---


@pytest.mark.parametrize("budget", [None, UNIT])
@pytest.mark.parametrize("name", PLAIN)
def test_where_all_plays_cost_one_it_is_the_plain_algorithm(name, budget):
    plain, options = PLAIN[name]
    np.testing.assert_array_equal(actions(name, {}, budget), actions(plain, options, budget))


# --- the knowledge gradient ---


def test_the_gain_that_is_played_for_is_the_gain_that_stopping_compares_with_the_price():
    env = gym.make("GPBandit-GP-v0", num_arms=30, horizon=12)
    observation, _ = env.reset(seed=3)
    stopping = ("knowledge-gradient", {"price": 0.01})
    agent = started(agents.make("kg-per-cost", env.get_wrapper_attr("setting"), stopping=stopping), 3)
    gain = None
    for _ in range(12):
        action = agent.act(observation)
        if gain is not None:
            np.testing.assert_allclose(np.exp(agent.scores[0]), gain, rtol=1e-9, atol=1e-15)
        observation, reward, *_, info = env.step(action)
        agent.update(observation, action, reward, info)
        gain = GradientWorthPrice(0.01).gain(agent.stopping_candidates()[0])
        assert np.count_nonzero(gain) >= 20


@pytest.mark.parametrize("law", ["gp", "log-gp"])
@pytest.mark.parametrize("known", [True, False])
def test_while_any_play_is_worth_its_price_the_next_one_is(law, known):
    worth, price = 0, GradientWorthPrice(0.03)
    scale = {"low": 0.1, "high": 4.0} if law == "gp" else {"median": 1.0, "deviation": 2.0}
    keywords = {"num_arms": 10, "kernel": "diagonal", "noise_std": 1.0, "horizon": 30}
    env = gym.make("GPBandit-GP-v0", budget={"law": law, "budget": 1e5, "known": known, **scale}, **keywords)
    for seed in range(12):
        observation, _ = env.reset(seed=seed)
        agent = started(agents.make("kg-per-cost", env.get_wrapper_attr("setting")), seed)
        candidates = None
        for _ in range(30):
            action = agent.act(observation)
            if candidates is not None:
                surplus = price.gain(candidates) - price.price * candidates.cost
                assert surplus[action] > 0.0 or (surplus <= 1e-12).all()
                worth += surplus[action] > 0.0
            observation, reward, *_, info = env.step(action)
            agent.update(observation, action, reward, info)
            candidates = agent.stopping_candidates()[0]
    assert worth >= 20


# --- the Gittins index ---

RNG = np.random.default_rng(0)
MEAN, STD = RNG.normal(size=(3, 50)), RNG.uniform(1e-3, 3.0, (3, 50))
PRICE = 10.0 ** RNG.uniform(-9, 2, (3, 50))


def test_at_the_index_the_expected_improvement_is_the_price():
    index = gittins_index(MEAN, STD, PRICE)
    improvement = np.exp(log_expected_improvement(MEAN - index, STD))
    np.testing.assert_allclose(improvement, PRICE, rtol=1e-10)


def test_of_a_known_arm_the_index_is_its_value_less_the_price():
    np.testing.assert_allclose(gittins_index(MEAN, 0.0 * STD, PRICE), MEAN - PRICE)


def test_with_halving_a_unit_of_cost_is_worth_less_and_less():
    env = gym.make("GPBandit-Budget-v0", num_arms=30, budget=20)
    env.reset(seed=0)
    agent = agents.make("pbgi", env.get_wrapper_attr("setting"), halving=True)
    play(env, agent)
    assert agent.objective.lam.item() < 0.1 / 4  # type: ignore[union-attr]
    agent.reset(1)
    assert agent.objective.lam.item() == 0.1  # type: ignore[union-attr]


@pytest.mark.parametrize("continuous", [False, True])
def test_random_first_plays_and_those_of_others_halve_nothing(continuous):
    """No index was compared with the best value, which is about 100 prior stds here."""
    keywords = {"continuous": True, "dim": 1} if continuous else {"num_arms": 30}
    env = make("GPBandit-GP-v0", horizon=20, **keywords)
    setting = env.get_wrapper_attr("setting")
    agent: Any = agents.make("pbgi", setting, halving=True, initial=6)
    seen, _ = env.reset(seed=0)
    agent.reset(0)
    for t in range(8):
        action = agent.act(seen) if t < 6 else setting.to_action(setting.to_point(env.action_space.sample()))
        agent.update(seen, action, 100.0, at_once(t, 100.0))
        assert agent.objective.lam.item() == 0.1
    agent.update(seen, agent.act(seen), 1e3, at_once(8, 1e3))
    assert agent.objective.lam.item() == 0.05


@pytest.mark.parametrize("name", ["ei-per-cost", "kg-per-cost", "pbgi"])
@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
def test_the_largest_mean_is_recommended_in_any_unit_whatever_the_plays_cost(name, unit):
    env = make("GPBandit-Budget-v0", num_arms=12, budget=20)
    kernel = ConstantKernel(unit**2) * env.get_wrapper_attr("setting").kernel
    setting = env.get_wrapper_attr("setting").with_facts(kernel=kernel, noise_std=0.1 * unit)
    agent, seen = agents.make(name, setting), np.zeros(1)
    agent.reset(0)
    for t in range(12):
        info = at_once(t, unit * np.sin(t))
        spent = {"feedback_spent": np.full(len(info["feedback_mask"]), 10.0 ** (t % 3))}
        agent.update(seen, t, 0.0, info | spent)
    mean, _ = agent.posterior(seen)
    assert agent.recommend(seen).action == mean.argmax()


# --- costs that differ ---


def play(env: Any, agent: Any, seed: int = 0) -> list[tuple[Any, dict[str, Any]]]:
    """The plays of an episode, and what `info` said of each."""
    observation, _ = env.reset(seed=seed)
    agent.reset(seed)
    rounds, done = [], False
    while not done:
        action = agent.act(observation)
        following, reward, terminated, truncated, info = env.step(action)
        if info["played"]:
            agent.update(observation, action, reward, info)
            rounds.append((action, info))
        observation, done = following, terminated or truncated
    return rounds


@pytest.mark.sampled(4)
@each_kind
@pytest.mark.parametrize("law", ["gp", "log-gp"])
@pytest.mark.parametrize("name", BUDGETS)
def test_it_plays_whatever_is_known_of_the_costs_and_their_unit_does_not_matter(name, law, kind):
    published = {key: kind[key] for key in kind if key == "publish_model"}
    noise = {key: kind[key] for key in kind if key != "publish_model"}
    names = ("low", "high") if law == "gp" else ("median",)
    base = {"low": 0.2, "high": 1.2, "median": 1.0}

    def played(unit: float) -> Any:
        scales = {key: unit * base[key] for key in names}
        scaled = {"noise_std": unit * noise["noise_std"]} if "noise_std" in noise and law == "gp" else {}
        budget = {"law": law, "budget": 21 * unit, **scales, **noise, **scaled}
        keywords = {"budget": budget, "horizon": 25, "num_arms": 25, **published}
        env = gym.make("GPBandit-Budget-v0", **keywords)
        env.reset(seed=3)
        return [int(action) for action, _ in play(env, agents.make(name, env.get_wrapper_attr("setting")), 3)]

    assert played(1.0) == played(1024.0)


def test_ratio_ucb_prefers_the_arm_that_earns_most_a_unit_of_cost():
    result = evaluate("GPBandit-Budget-v0", ["ratio-ucb", "gp-ucb"], trials=4, env_kwargs={"budget": 20})
    ours, theirs = (result.budget_regret[name][:, -1].mean() for name in ("ratio-ucb", "gp-ucb"))
    assert ours < theirs / 2


@pytest.mark.parametrize("name", BUDGETS)
def test_a_batch_with_known_costs_plays_what_its_trials_play_alone(name):
    keywords = {"num_arms": 25, "budget": {"law": "gp", "budget": 50, "known": True}, "horizon": 12}
    batch_as_singles("GPBandit-Budget-v0", name, 3, **keywords)
