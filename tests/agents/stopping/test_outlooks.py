"""What rules see of an agent is its posterior by the textbook's formula; stops are answers in a row."""

from dataclasses import replace

import numpy as np
import pytest
from players import at_once, each_round
from scipy.stats import norm

import agents
import bandit_envs
from agents.beliefs.points import Pairs
from agents.stopping.by_name import Stopping
from agents.stopping.stopping_candidates import StopVerdict
from bandit_envs.problem.feedback import delivery
from bandit_envs.problems import build

LINE = {"length_scale": 0.3, "noise_std": 0.2, "horizon": 20}


def played(agent, place, **keywords):
    """An agent after twelve rounds of an environment, and the plays and rewards."""
    env = bandit_envs.make(build(place, {**LINE, **keywords}))
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
    setting = build("gp", {**LINE, "num_arms": 15, "delay": {"law": "constant", "rounds": 3}})
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
