"""Stopping rules: each equals its formula, stops in any unit alike, and changes no play."""

from inspect import Parameter, signature
from typing import Any

import numpy as np
import pytest
from agent_cases import BATCHED, SETTING, of_each_shape, takes

import agents
import bandit_envs
from agents.acquisition.improvement import gittins_index
from agents.posteriors.forgetting.memory import ForgettingPosterior
from agents.registry import resolve_agent
from agents.restarts.base import Never
from agents.stopping.by_name import RULES
from agents.stopping.outlook import Outlook
from agents.stopping.rules import (
    GradientWorthPrice,
    ImprovementWorthPrice,
    IndexAboveMean,
    RegretBound,
    interval,
)
from bandit_envs.kernels.kernels import make_kernel
from gpbandits import evaluate

IN_REWARDS = ("price", "eps", "threshold")  # options with the unit of the reward
LINE = {"num_arms": 40, "horizon": 25, "length_scale": 0.2}
every_rule = pytest.mark.parametrize("rule", RULES)


def needed(rule: str, unit: float = 1.0) -> tuple[str, dict[str, Any]]:
    """A rule with the options that it needs, in a unit of the reward."""
    asked = signature(RULES[rule]).parameters.values()
    names = [each.name for each in asked if each.default is Parameter.empty and each.name != "model"]
    assert set(names) <= set(IN_REWARDS)
    return rule, dict.fromkeys(names, 0.05 * unit)


def models_reward(name: str) -> bool:
    """Whether an agent has the option, and its belief is about the reward, not the reward less a penalty."""
    if not takes(name, stopping=needed("knowledge-gradient")):
        return False
    agent = agents.make(name, SETTING)
    agent.reset(0)
    return agent.beliefs(np.zeros(1)) is not None


EVERY = {rule: needed(rule) for rule in RULES}


def belief(noise: float = 0.1, plays: int = 6, seed: int = 0, arms: int = 25) -> Outlook:
    """The outlook of a posterior by the textbook's formula, after random plays."""
    rng = np.random.default_rng(seed)
    points = np.linspace(0, 1, arms)[:, None]
    prior = np.asarray(make_kernel("rbf", 0.2)(points))
    truth = np.linalg.cholesky(prior + 1e-9 * np.eye(arms)) @ rng.standard_normal(arms)
    played = rng.integers(arms, size=plays)
    values = truth[played] + noise**0.5 * rng.standard_normal(plays)
    gain = np.linalg.solve(prior[np.ix_(played, played)] + noise * np.eye(plays), prior[played]).T
    mean, covariance = gain @ values, prior - gain @ prior[played]
    return Outlook(
        point=np.arange(arms),
        arms=points,
        mean=mean,
        std=np.sqrt(np.maximum(np.diag(covariance), 0.0)),
        played=np.isin(np.arange(arms), played),
        noise=np.full(arms, noise),
        cost=np.ones(arms),
        feasible=np.ones(arms),
        plays=plays,
        pending=0,
        gain=0.0,
        covariance=lambda point, other: covariance[np.ix_(point, other)],
        values=values,
        latest=None,
        rng=rng,
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_knowledge_gradient_is_the_expected_rise_of_the_better_of_two_means(seed):
    outlook = belief(seed=seed)
    gain = GradientWorthPrice(1.0).gain(outlook)
    j, rng = outlook.best, np.random.default_rng(1)
    assert j is not None
    every = np.arange(len(outlook.mean))
    covariance = outlook.covariance(every, every)
    for x in (0, 7, 13, 24):
        # The next value of x moves all means along its column of the covariance.
        scale = np.sqrt(covariance[x, x] + outlook.noise[x])
        move = covariance[:, x] / scale
        z = rng.standard_normal(400_000)
        pair = np.maximum(outlook.mean[x] + move[x] * z, outlook.mean[j] + move[j] * z)
        expected = pair.mean() - outlook.mean[j]
        assert gain[x] == pytest.approx(expected, abs=5 * pair.std() / 400_000**0.5)
    assert gain[j] == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_without_noise_the_knowledge_gradient_is_expected_improvement(seed):
    outlook = belief(noise=1e-10, seed=seed)
    one, other = (rule(1.0).gain(outlook) for rule in (GradientWorthPrice, ImprovementWorthPrice))
    np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)  # played points know f up to sqrt(noise)


@pytest.mark.parametrize("seed", range(20))
def test_all_gittins_indices_are_at_most_the_best_mean_where_no_improvement_exceeds_its_price(seed):
    outlook = belief(seed=seed, plays=4 + seed)
    assert outlook.best is not None
    largest = ImprovementWorthPrice(1.0).gain(outlook).max()
    for price in (0.5 * largest, 0.99 * largest, 1.01 * largest, 2.0 * largest):
        by_index, by_gain = IndexAboveMean(price)(outlook), ImprovementWorthPrice(price)(outlook)
        assert by_index.stop == by_gain.stop == (price > largest)
    price = np.full((1, len(outlook.mean)), largest)
    index = gittins_index(outlook.mean[None], outlook.std[None], price)
    assert index.max() == pytest.approx(outlook.mean[outlook.best], abs=1e-9)


def test_pending_plays_are_counted_as_what_they_could_gain_at_most():
    outlook = belief()
    waiting = Outlook(**{**vars(outlook), "pending": 2})
    np.testing.assert_array_equal(
        GradientWorthPrice(1.0).gain(waiting), ImprovementWorthPrice(1.0).gain(outlook)
    )


def test_a_regret_bound_asks_for_the_probability_that_many_draws_find():
    outlook = belief(plays=12, seed=2)
    drawn = outlook.draw(100_000)
    (plays,) = outlook.played.nonzero()
    regret = drawn.max(axis=1)[:, None] - drawn[:, plays]
    for eps in (0.02, 0.05, 0.1, 0.2, 0.4):
        chance = (regret <= eps).mean(axis=0).max()
        for delta in (0.05, 0.2, 0.5):
            if abs(chance - (1 - delta)) > 0.05:  # closer ones may stay undecided
                assert RegretBound(eps, delta)(outlook).stop == (chance >= 1 - delta)


@pytest.mark.parametrize("probability", [0.02, 0.5, 0.97])
def test_clopper_pearson_intervals_cover(probability):
    good = np.random.default_rng(0).binomial(60, probability, size=20_000).astype(float)
    low, high = interval(good, 60, 0.1)
    assert ((low <= probability) & (probability <= high)).mean() >= 0.9


@pytest.mark.sampled(2)
@every_rule
def test_rules_stop_at_the_same_round_in_every_unit(rule):
    found = []
    for unit in (2.0**-10, 1.0, 2.0**10):  # powers of two: rounding is the same
        kernel = unit**2 * make_kernel("rbf", 0.2)
        keywords = {**LINE, "kernel": kernel, "noise_std": 0.1 * unit}
        keywords.pop("length_scale")
        stopping = {"it": needed(rule, unit), "other": needed(rule, 0.2 * unit)}
        options = {"incumbent": "max_mean", "initial": 1}
        players = {"gp-ei": ("gp-ei", {**options, "stopping": stopping})}
        result = evaluate("GPBandit-GP-v0", players, trials=4, env_kwargs=keywords)
        found.append([each.after for each in result.stopped["gp-ei"].values()])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[2], found[1])


@pytest.mark.parametrize("name", of_each_shape(filter(models_reward, BATCHED)))
def test_nobody_stops_before_a_value_has_come_nor_on_values_that_are_made_up(name):
    """Beliefs that count pending plays as their least value, or fill them in, know nothing of these."""
    env = bandit_envs.make(
        "GPBandit-Delayed-v0", num_arms=12, horizon=30, delay={"law": "constant", "rounds": 9}
    )
    observation, _ = env.reset(seed=1)
    rule = "gap", {"eps": 1e6, "width": 2.0}
    agent = agents.make(name, env, stopping=rule)
    agent.reset(0)
    for _ in range(6):
        action = agent.act(observation)
        observation, reward, *_, info = env.step(action)
        agent.update(observation, action, reward, info)
    assert agent.stops.after["gap"].item() < 0


def forgets_nothing(name: str) -> bool:
    """Whether its posterior is that of all plays, exactly."""
    if resolve_agent(name).features.approximate or not models_reward(name):
        return False
    agent = agents.make(name, SETTING)
    agent.reset(0)
    return type(agent.restart) is Never and not isinstance(agent.belief.centre, ForgettingPosterior)


@pytest.mark.parametrize("name", of_each_shape(filter(forgets_nothing, BATCHED)))
def test_the_gain_of_an_outlook_is_that_of_the_plays_that_its_mean_rests_on(name):
    """Also of agents in phases, which begin the posterior of their std anew."""
    env = bandit_envs.make("GPBandit-GP-v0", num_arms=15, horizon=60, noise_std=0.5)
    observation, _ = env.reset(seed=1)
    agent, plays = agents.make(name, env, stopping="plateau"), []
    agent.reset(0)
    for _ in range(50):
        plays.append(action := agent.act(observation))
        observation, reward, *_, info = env.step(action)
        agent.update(observation, action, reward, info)
    (outlook,) = agent.outlooks()
    model = agent.model
    covariance = model.gram.dense[np.ix_(plays, plays)] / float(np.ravel(model.noise_variance)[0])
    assert outlook.gain == pytest.approx(0.5 * np.linalg.slogdet(np.eye(50) + covariance)[1], rel=1e-6)


@pytest.mark.parametrize("name", of_each_shape(filter(models_reward, BATCHED)))
def test_an_agent_with_the_option_has_stops_and_plays_what_it_played(name):
    keywords = {"num_arms": 15, "horizon": 8, "length_scale": 0.3}
    plain, asked = (
        evaluate("GPBandit-GP-v0", {"it": (name, options)}, trials=3, env_kwargs=keywords)
        for options in ({}, {"stopping": {"it": ("knowledge-gradient", {"price": 0.3})}})
    )
    np.testing.assert_array_equal(plain.actions["it"], asked.actions["it"])
    assert plain.stopped == {}
    stopped = asked.stopped["it"]["it"]
    assert stopped.after.shape == (3,)
    assert ((stopped.after == -1) | (stopped.after >= 1)).all()


@pytest.mark.long
def test_stops_of_a_batch_are_those_of_single_trials():
    agent = ("gp-ts", {"stopping": EVERY})
    alone = resolve_agent(agent)
    batch, singles = (
        evaluate("GPBandit-GP-v0", {"it": spec}, trials=3, env_kwargs=LINE).stopped["it"]
        for spec in (agent, lambda setting: alone(setting))
    )
    for rule in RULES:
        np.testing.assert_array_equal(batch[rule].after, singles[rule].after)
        np.testing.assert_array_equal(batch[rule].regret, singles[rule].regret)


@pytest.mark.parametrize("environment", ["GPBandit-Contextual-v0", "GPBandit-PiecewiseStationary-v0"])
def test_settings_in_which_one_recommendation_means_nothing_are_refused(environment):
    with pytest.raises(ValueError, match="stopping must be left out"):
        evaluate(environment, ["gp-ucb"], trials=1, stopping=("knowledge-gradient", {"price": 0.1}))


@pytest.mark.parametrize(
    ("stopping", "words"),
    [
        ("nothing", "must be one of knowledge-gradient"),
        ("gap", "missing a required argument: 'eps'"),
        (("knowledge-gradient", {"price": -1.0}), "price"),
        (("gap", {"epsilon": 0.1}), "'epsilon' is unknown"),
        ({}, "at least one rule"),
        (("best-arm", {"eps": 0.1, "bands": "difference", "width": "finite-set"}), "ellipsoid"),
    ],
)
def test_nonsense_names_what_is_wrong(stopping, words):
    with pytest.raises(ValueError, match=words):
        agents.make("gp-ucb", SETTING, stopping=stopping)


def test_constraints_weigh_gains_and_recommend_what_is_likely_feasible():
    result = evaluate(
        "GPBandit-Constrained-v0",
        {"it": "constrained-ei"},
        trials=3,
        env_kwargs={"num_arms": 40, "horizon": 30},
        stopping=("knowledge-gradient", {"price": 0.02}),
    )
    stopped = result.stopped["it"]["knowledge-gradient"]
    assert (stopped.violation <= result.hard_violation["it"][:, -1]).all()
    with pytest.raises(ValueError, match="no model of its own"):
        evaluate(
            "GPBandit-Constrained-v0",
            ["gp-ucb-noisy-constraints"],
            trials=1,
            stopping=("knowledge-gradient", {"price": 1.0}),
        )


@pytest.mark.sampled(4)
@every_rule
def test_rules_play_on_boxes_and_with_delays_or_say_why_not(rule):
    for environment, keywords in (
        ("GPBandit-GP-v0", {"horizon": 6, "continuous": True}),
        ("GPBandit-Delayed-v0", {"horizon": 8, "num_arms": 20}),
    ):
        spec = {"it": ("gp-ei", {"stopping": needed(rule)})}
        try:
            result = evaluate(environment, spec, trials=2, env_kwargs=keywords)
        except ValueError as error:
            assert rule in ("minima-gap", "best-arm")
            assert f'must not be "{rule}"' in str(error)  # noqa: PT017
        else:
            assert result.stopped["it"][rule].after.shape == (2,)
