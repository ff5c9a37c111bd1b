"""Stopping rules: each equals its formula, stops in any unit alike, and changes no play."""

from dataclasses import replace
from inspect import Parameter, signature
from typing import Any

import numpy as np
import pytest
from agent_cases import BATCHED, OF_PARTS, SETTING, of_each_shape, takes
from players import at_once, each_round, play
from scipy.stats import norm

import agents
import bandit_envs
from agents.acquisition.improvement import gittins_index, log_expected_improvement
from agents.beliefs.points import Pairs
from agents.posteriors.memory import ForgettingPosterior
from agents.registry import resolve_agent
from agents.restarts.base import Never
from agents.stopping.by_name import RULES, Stopping
from agents.stopping.by_price import GradientWorthPrice, ImprovementWorthPrice, IndexAboveMean
from agents.stopping.rules import RegretBound, interval
from agents.stopping.stopping_candidates import CandidateCosts, StoppingCandidates, StopVerdict
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.problem.feedback import delivery
from bandit_envs.problems import build
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
    agent = agents.make(name, SETTING, **OF_PARTS.get(name, {}))
    agent.reset(0)
    return agent.beliefs(np.zeros(1)) is not None


def belief(noise: float = 0.1, plays: int = 6, seed: int = 0, arms: int = 25) -> StoppingCandidates:
    """The candidates of a posterior by the textbook's formula, after random plays."""
    rng = np.random.default_rng(seed)
    points = np.linspace(0, 1, arms)[:, None]
    prior = np.asarray(make_kernel("rbf", 0.2)(points))
    truth = np.linalg.cholesky(prior + 1e-9 * np.eye(arms)) @ rng.standard_normal(arms)
    played = rng.integers(arms, size=plays)
    values = truth[played] + noise**0.5 * rng.standard_normal(plays)
    gain = np.linalg.solve(prior[np.ix_(played, played)] + noise * np.eye(plays), prior[played]).T
    mean, covariance = gain @ values, prior - gain @ prior[played]
    return StoppingCandidates(
        point=np.arange(arms),
        arms=points,
        mean=mean,
        std=np.sqrt(np.maximum(np.diag(covariance), 0.0)),
        played=np.isin(np.arange(arms), played),
        noise=np.full(arms, noise),
        cost=np.ones(arms),
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
    candidates = belief(seed=seed)
    gain = GradientWorthPrice(1.0).gain(candidates)
    j, rng = candidates.best, np.random.default_rng(1)
    assert j is not None
    every = np.arange(len(candidates.mean))
    covariance = candidates.covariance(every, every)
    for x in (0, 7, 13, 24):
        # The next value of x moves all means along its column of the covariance.
        scale = np.sqrt(covariance[x, x] + candidates.noise[x])
        move = covariance[:, x] / scale
        z = rng.standard_normal(400_000)
        pair = np.maximum(candidates.mean[x] + move[x] * z, candidates.mean[j] + move[j] * z)
        expected = pair.mean() - candidates.mean[j]
        assert gain[x] == pytest.approx(expected, abs=5 * pair.std() / 400_000**0.5)
    assert gain[j] == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_without_noise_the_knowledge_gradient_is_expected_improvement(seed):
    candidates = belief(noise=1e-10, seed=seed)
    one, other = (rule(1.0).gain(candidates) for rule in (GradientWorthPrice, ImprovementWorthPrice))
    np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)  # played points know f up to sqrt(noise)


@pytest.mark.parametrize("seed", range(20))
def test_all_gittins_indices_are_at_most_the_best_mean_where_no_improvement_exceeds_its_price(seed):
    candidates = belief(seed=seed, plays=4 + seed)
    assert candidates.best is not None
    largest = ImprovementWorthPrice(1.0).gain(candidates).max()
    for price in (0.5 * largest, 0.99 * largest, 1.01 * largest, 2.0 * largest):
        by_index, by_gain = IndexAboveMean(price)(candidates), ImprovementWorthPrice(price)(candidates)
        assert by_index.stop == by_gain.stop == (price > largest)
    price = np.full((1, len(candidates.mean)), largest)
    index = gittins_index(candidates.mean[None], candidates.std[None], price)
    assert index.max() == pytest.approx(candidates.mean[candidates.best], abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_with_pending_plays_the_gain_is_at_least_that_of_any_plays_whose_feedback_is_yet_to_come(seed):
    """The two-point gain once the feedback of x and of pending plays is there, by the textbook's formula."""
    candidates, rng = belief(seed=seed, noise=0.01), np.random.default_rng(seed)
    j, every = candidates.best, np.arange(25)
    assert j is not None
    most = GradientWorthPrice(1.0).gain(replace(candidates, pending=3))
    covariance = candidates.covariance(every, every)
    for x in range(25):
        seen = np.append(rng.integers(25, size=3), x)
        gram = covariance[np.ix_(seen, seen)] + np.diag(candidates.noise[seen])
        shared = covariance[x, seen] - covariance[j, seen]
        change = np.sqrt(max(shared @ np.linalg.solve(gram, shared), 0.0))
        gap = candidates.mean[x] - candidates.mean[j]
        gain = np.exp(log_expected_improvement(np.array([gap]), np.array([change]))[0]) if x != j else 0.0
        assert most[x] >= gain - 1e-12
    assert most[j] == 0.0


def test_a_regret_bound_under_costs_asks_that_they_are_kept_and_compares_with_what_keeps_them():
    candidates = belief(plays=12, seed=2)
    cost = belief(plays=12, seed=5)
    costs = (CandidateCosts(cost.mean - 0.3, cost.std, cost.covariance),)
    candidates, drawn = replace(candidates, costs=costs), candidates.draw(100_000)
    kept = cost.draw(100_000) - 0.3 <= 0.0
    (plays,) = candidates.played.nonzero()
    best = np.where(kept, drawn, -np.inf).max(axis=1)[:, None]
    free = (drawn.max(axis=1)[:, None] - drawn[:, plays] <= 0.2).mean(axis=0).max()
    asked = 0
    for eps in (0.02, 0.05, 0.1, 0.2, 0.4):
        chance = (kept[:, plays] & (best - drawn[:, plays] <= eps)).mean(axis=0)
        for delta in (0.05, 0.2, 0.5):
            if abs(chance.max() - (1 - delta)) > 0.05:  # closer ones may stay undecided
                verdict, asked = RegretBound(eps, delta)(candidates), asked + 1
                assert verdict.stop == (chance.max() >= 1 - delta)
                if verdict.stop:
                    assert candidates.feasible[verdict.best] >= 1 - delta - 0.05
    assert asked >= 10
    assert abs(free - (kept[:, plays] & (best - drawn[:, plays] <= 0.2)).mean(axis=0).max()) > 0.05


@pytest.mark.parametrize("rule", ["gap", "best-arm", "regret-bound"])
@pytest.mark.parametrize("published", [{"misspecification": 0.1}, {"corruption": 5.0}], ids=str)
def test_promises_are_refused_where_rewards_are_published_to_differ_from_the_models(rule, published):
    setting = replace(SETTING, **published)
    with pytest.raises(
        ValueError, match=f'must not be "{rule}" where the setting publishes {next(iter(published))}'
    ):
        agents.make("gp-ucb", setting, stopping=needed(rule))
    agents.make("gp-ucb", setting, stopping="plateau")


@pytest.mark.long
def test_a_promise_under_costs_is_broken_as_seldom_as_it_says():
    """A stop breaks it by its play's costs too: half of the stops did, where a tenth may."""
    rule = ("regret-bound", {"eps": 0.1, "delta": 0.1})
    place = {"horizon": 40}
    result = evaluate("GPBandit-Constrained-v0", ["config"], trials=60, env_kwargs=place, stopping=rule)
    stopped = result.stopped["config"]["regret-bound"]
    ended = stopped.after != -1
    broken = (stopped.regret > 0.1) | (stopped.violation > 0.0)
    assert ended.sum() >= 30
    assert broken[ended].sum() <= 0.11 * 60 + 3 * (0.11 * 0.89 * 60) ** 0.5
    assert (stopped.violation[ended] == 0.0).all()


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
    play(env, agent, observation, 6)
    assert agent.stops.after["gap"].item() < 0


def forgets_nothing(name: str) -> bool:
    """Whether its posterior is that of all plays, exactly."""
    if resolve_agent(name).features.approximate or not models_reward(name):
        return False
    agent = agents.make(name, SETTING, **OF_PARTS.get(name, {}))
    agent.reset(0)
    return type(agent.restart) is Never and not isinstance(agent.belief.mean_posterior, ForgettingPosterior)


@pytest.mark.parametrize("name", of_each_shape(filter(forgets_nothing, BATCHED)))
def test_the_gain_of_an_outlook_is_that_of_the_plays_that_its_mean_rests_on(name):
    """Also of agents in phases, which begin the posterior of their std anew."""
    env = bandit_envs.make("GPBandit-GP-v0", num_arms=15, horizon=60, noise_std=0.5)
    observation, _ = env.reset(seed=1)
    agent = agents.make(name, env, stopping="plateau")
    agent.reset(0)
    plays, _ = play(env, agent, observation, 50)
    (candidates,) = agent.stopping_candidates()
    model = agent.model
    covariance = model.gram.dense[np.ix_(plays, plays)] / float(np.ravel(model.noise_variance)[0])
    assert candidates.gain == pytest.approx(0.5 * np.linalg.slogdet(np.eye(50) + covariance)[1], rel=1e-6)


@pytest.mark.parametrize("name", of_each_shape(filter(models_reward, BATCHED)))
def test_an_agent_with_the_option_has_stops_and_plays_what_it_played(name):
    keywords = {"num_arms": 15, "horizon": 8, "length_scale": 0.3}
    plain, asked = (
        evaluate(
            "GPBandit-GP-v0", {"it": (name, OF_PARTS.get(name, {}) | options)}, trials=3, env_kwargs=keywords
        )
        for options in ({}, {"stopping": {"it": ("knowledge-gradient", {"price": 0.3})}})
    )
    np.testing.assert_array_equal(plain.actions["it"], asked.actions["it"])
    assert plain.stopped == {}
    stopped = asked.stopped["it"]["it"]
    assert stopped.after.shape == (3,)
    assert ((stopped.after == -1) | (stopped.after >= 1)).all()


def test_rules_are_refused_where_the_reward_has_no_model_of_its_own():
    name, rule = "gp-ucb-noisy-constraints", needed("knowledge-gradient")
    with pytest.raises(ValueError, match="no model of its own"):
        evaluate("GPBandit-Constrained-v0", [name], trials=1, stopping=rule)


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


def asked(
    agent: str, place: dict[str, Any], rounds: int, **options: Any
) -> tuple[Any, list[StoppingCandidates], list[str]]:
    """An agent after some rounds, the candidates on which its rule was asked, and what it said when."""
    seen: list[StoppingCandidates] = []

    def rule(candidates: StoppingCandidates) -> StopVerdict:
        seen.append(candidates)
        return StopVerdict(False, candidates.best, "")

    env = bandit_envs.make("GPBandit-Constrained-v0" if "constrained" in agent else "GPBandit-GP-v0", **place)
    observation, _ = env.reset(seed=3)
    made = agents.make(agent, env, stopping={"it": rule}, **options)
    made.reset(0)
    counts = []
    for _ in each_round(env, made, observation, rounds):
        counts.append(len(seen))
    return made, seen, counts


@pytest.mark.parametrize("place", [{"num_arms": 20}, {"continuous": True}], ids=["finite", "box"])
@pytest.mark.parametrize(
    ("agent", "known"), [("gp-ucb", False), ("constrained-ei", False), ("constrained-ei", True)]
)
def test_no_rule_is_asked_before_the_scales_are_known_and_none_about_earlier_rounds(agent, known, place):
    """They are those of five values, of first plays too; later rounds are asked about once each."""
    _, seen, counts = asked(agent, {**place, "horizon": 8, "publish_model": known}, 8)
    assert counts == [0, 0, 0, 0, 1, 2, 3, 4]
    assert [candidates.plays for candidates in seen] == [5, 6, 7, 8]


def test_first_plays_that_are_late_or_lost_are_awaited_as_long_as_they_can_come():
    late = {"num_arms": 20, "horizon": 12, "delay": {"law": "constant", "rounds": 3}}
    made, _, counts = asked("constrained-ei", late, 10)
    assert counts == [0] * 7 + [1, 2, 3]  # the fifth value is in the info of the eighth round
    made, seen, _ = asked("constrained-ei", late, 5)
    made.drop(np.arange(2, 5))  # the others were delivered
    assert made.stopping_candidates()[0].settled
    assert not seen


@pytest.mark.parametrize("unit", [2.0**-10, 2.0**10])
def test_a_regret_bound_under_costs_depends_on_the_unit_of_neither_reward_nor_cost(unit):
    def verdict(of_reward: float, of_cost: float) -> StopVerdict:
        candidates, cost = belief(plays=14, seed=2), belief(plays=14, seed=5)
        mean, std = of_cost * (cost.mean - 0.3), of_cost * cost.std
        costs = (CandidateCosts(mean, std, lambda x, y: of_cost**2 * cost.covariance(x, y)),)
        return RegretBound(0.3 * of_reward, 0.2)(replace(candidates, costs=costs).scaled(of_reward))

    plain = verdict(1.0, 1.0)
    for other in (verdict(unit, 1.0), verdict(1.0, unit)):
        assert other[:2] == plain[:2]


def test_experiments_that_may_fail_count_neither_in_the_maximum_nor_as_a_recommendation():
    """The half that surely fails is the better one, and would otherwise let no rule stop."""
    candidates = belief(plays=20, seed=2, noise=1e-4)
    fails = np.arange(25) >= 12
    high = replace(candidates, mean=candidates.mean + 10.0 * (fails & ~candidates.played))
    assert not RegretBound(1.0, 0.1)(high).stop
    verdict = RegretBound(1.0, 0.1)(replace(high, success=np.where(fails, 0.0, 1.0)))
    assert verdict.stop
    assert not fails[verdict.best]


@pytest.mark.parametrize("place", [{}, {"continuous": True}], ids=["finite", "box"])
@pytest.mark.parametrize("rule", ["gap", "best-arm", "minima-gap"])
def test_rules_by_bands_of_the_reward_are_refused_under_constraints(rule, place):
    """Those that a box excludes too: what it says to take instead would be refused next."""
    with pytest.raises(ValueError, match=f'must not be "{rule}" under constraints'):
        agents.make("config", bandit_envs.make("GPBandit-Constrained-v0", **place), stopping=needed(rule))


@pytest.mark.parametrize("probability", [0.02, 0.5, 0.97])
def test_clopper_pearson_intervals_cover(probability):
    good = np.random.default_rng(0).binomial(60, probability, size=20_000).astype(float)
    low, high = interval(good, 60, 0.1)
    assert ((low <= probability) & (probability <= high)).mean() >= 0.9


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
        (("plateau", {"rounds": 2.5}), "rounds.* must be a positive integer, got 2.5; it is a number of"),
        (("plateau", {"share": np.inf}), "share.* must be 0 or positive, got inf; it is a share of"),
        (("plateau", {"share": -0.1}), "share.* must be 0 or positive, got -0.1"),
        ({}, "at least one rule"),
        (("best-arm", {"eps": 0.1, "bands": "difference", "width": "finite-set"}), "ellipsoid"),
    ],
)
def test_nonsense_names_what_is_wrong(stopping, words):
    with pytest.raises(ValueError, match=words):
        agents.make("gp-ucb", SETTING, stopping=stopping)


@pytest.mark.parametrize("agent", ["config", "constrained-ei"])
def test_stops_under_constraints_of_a_batch_are_those_of_single_trials(agent):
    rule = {"stopping": {"rb": ("regret-bound", {"eps": 0.5}), "kg": needed("knowledge-gradient")}}
    alone = resolve_agent((agent, rule))
    place = {"num_arms": 15, "horizon": 10}
    batch, singles = (
        evaluate("GPBandit-Constrained-v0", {"it": spec}, trials=3, env_kwargs=place).stopped["it"]
        for spec in ((agent, rule), lambda setting: alone(setting))
    )
    for label, one in batch.items():
        np.testing.assert_array_equal(one.after, singles[label].after)
        np.testing.assert_array_equal(one.regret, singles[label].regret)
    assert (batch["rb"].after != -1).any()


NOISY = {"length_scale": 0.3, "noise_std": 0.2, "horizon": 20}


def played(agent, place, **keywords):
    """An agent after twelve rounds of an environment, and the plays and rewards."""
    env = bandit_envs.make(build(place, {**NOISY, **keywords}))
    observation, _ = env.reset(seed=1)
    agent = agents.make(agent, env, stopping="plateau")  # for which its book keeps values
    agent.reset(0)
    pairs, rewards = [], []
    for action, reward, *_ in each_round(env, agent, observation, 12):
        pairs.append(np.ravel(agent.setting.to_point(action)))
        rewards.append(reward)
    return agent, np.array(pairs), np.array(rewards)


@pytest.mark.parametrize("place", [{"num_arms": 15}, {"continuous": True}], ids=["finite", "box"])
def test_an_outlook_is_the_posterior_of_the_textbook(place):
    agent, pairs, rewards = played("gp-ucb", "gp", **place)
    (candidates,) = agent.stopping_candidates()
    kernel, noise = agent.setting.kernel, agent.setting.noise_std**2
    between, gram = kernel(candidates.arms, pairs), kernel(pairs) + noise * np.eye(len(pairs))
    mean = between @ np.linalg.solve(gram, rewards)
    covariance = kernel(candidates.arms) - between @ np.linalg.solve(gram, between.T)
    every = np.arange(len(candidates.arms))
    np.testing.assert_allclose(candidates.mean, mean, rtol=0, atol=1e-6)
    np.testing.assert_allclose(candidates.covariance(every, every), covariance, rtol=0, atol=1e-6)
    np.testing.assert_allclose(candidates.std**2, np.diag(covariance), rtol=0, atol=1e-6)
    np.testing.assert_allclose(candidates.noise, noise, rtol=1e-12)
    assert candidates.plays == len(candidates.values) == 12
    assert candidates.pending == 0
    plays = {tuple(np.round(each, 9)) for each in pairs}
    assert {tuple(np.round(each, 9)) for each in candidates.arms[candidates.played]} == plays


@pytest.mark.parametrize("place", [{"num_arms": 15}, {"continuous": True}], ids=["finite", "box"])
def test_an_outlook_stays_what_it_was_when_the_agent_plays_on(place):
    """Rules that compare two rounds keep the earlier one."""
    agent, *_ = played("gp-ucb", "gp", **place)
    (candidates,) = agent.stopping_candidates()
    before = {name: getattr(candidates, name).copy() for name in ("mean", "std", "played", "noise", "values")}
    action = agent.act(np.zeros(1, dtype=np.float32))
    agent.update(np.zeros(1, dtype=np.float32), action, 3.0, at_once(12, 3.0))
    for name, kept in before.items():
        np.testing.assert_array_equal(getattr(candidates, name), kept)


@pytest.mark.parametrize("place", [{"num_arms": 15}, {"continuous": True}], ids=["finite", "box"])
@pytest.mark.parametrize("name", ["constrained-ei", "config", "pdcbo"])
def test_under_constraints_an_outlook_is_in_the_unit_of_the_reward_with_the_chance_to_keep_costs(name, place):
    agent, *_ = played(name, "constrained", **place)
    (candidates,) = agent.stopping_candidates()
    here = np.zeros(1, dtype=np.int64)
    points = Pairs(np.empty(0), candidates.arms) if agent.setting.continuous else agent.arms(here)
    (mean, std), *costs = ((mean[0], std[0]) for mean, std in agent.beliefs_at(points))
    np.testing.assert_allclose(candidates.mean, mean, rtol=0, atol=1e-9)
    np.testing.assert_allclose(candidates.std, std, rtol=0, atol=1e-9)
    chance = np.prod([norm.cdf(-m / s) for m, s in costs], axis=0)
    np.testing.assert_allclose(candidates.feasible, chance, rtol=0, atol=1e-9)
    every = np.arange(len(candidates.mean))
    for cost, (m, s) in zip(candidates.costs, costs, strict=True):
        np.testing.assert_allclose(cost.mean, m, rtol=0, atol=1e-9)
        np.testing.assert_allclose(np.diag(cost.covariance(every, every)), s**2, rtol=0, atol=1e-7)
    variance = np.diag(candidates.covariance(every, every))
    np.testing.assert_allclose(variance, candidates.std**2, rtol=0, atol=1e-7)  # all in one unit
    if not agent.setting.continuous:
        scale = std / np.sqrt(agent.belief.mean_posterior.variance_at(None)[0])
        np.testing.assert_allclose(
            candidates.noise, scale**2 * agent.belief.mean_posterior.noise[0], rtol=1e-6
        )


def test_pending_plays_are_counted():
    setting = build("gp", {**NOISY, "num_arms": 15, "delay": {"law": "constant", "rounds": 3}})
    env = bandit_envs.make(setting)
    observation, _ = env.reset(seed=0)
    agent = agents.make("gp-bucb", env)
    agent.reset(0)
    for t in range(5):
        agent.update(
            observation, t, 0.0, delivery(t, np.array([], dtype=int), np.zeros(0), np.zeros((0, 0)), 3)
        )
        assert agent.stopping_candidates()[0].pending == t + 1


def test_a_stop_counts_after_as_many_answers_in_a_row():
    agent, *_ = played("gp-ucb", "gp", num_arms=15)
    (candidates,) = agent.stopping_candidates()
    answers = iter([True, True, False, True, True, True, True])
    rule = {"it": lambda seen: StopVerdict(next(answers), seen.best, "")}
    stopping = Stopping(lambda: rule, 1, 3)
    for t in range(1, 7):
        now = replace(candidates, plays=t, played=np.arange(15) < 1)
        stopping.look(np.array([0]), lambda now=now: [now])
    stops = stopping.stops(single=True)
    assert stops.after == {"it": 6}
    assert stops.play == {"it": 0}
