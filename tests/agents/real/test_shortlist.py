"""Which arms of a large set are scored: what they miss is seldom what would have been played."""

from __future__ import annotations

import numpy as np
import pytest
from players import at_once
from real_cases import SEEN, hyperparameters, surrogate, values

import agents
from agents.real import shortlist
from agents.real.posterior import SurrogatePosterior
from agents.real.shortlist import Covariances, Shortlist
from agents.real.surrogate import PointValues
from bandit_envs import Setting

CONTEXTS, ARMS = 3, 6


@pytest.fixture
def posteriors():
    """Posteriors whose values grow, in three contexts of six arms."""
    of = surrogate(data_sets=1)
    theta, order = hyperparameters(of), np.random.default_rng(4).permutation(18)
    seen = values(9)
    return [
        SurrogatePosterior(of, theta, PointValues(*(each[:n] for each in seen._replace(point=order[:9]))))
        for n in (3, 6, 9)
    ]


def test_means_are_those_of_the_posterior_and_variances_bounds_of_its_own(posteriors):
    kept = Covariances(ARMS)
    for posterior in posteriors:
        for z in (0, 0, 2):  # the same context again, and another one
            found = kept.predicted(z, posterior)
            expected = posterior.at(z * ARMS + np.arange(ARMS))
            np.testing.assert_allclose(found.mean, expected.mean, atol=1e-10)
            free = expected.known - 1.0 / posterior.surrogate.prior.mean_precision  # the mean's own share
            assert (found.variance >= free - 1e-9).all()


def test_points_that_left_the_posterior_leave_the_bound_too(posteriors):
    kept, again, (few, *_, many) = Covariances(ARMS), Covariances(ARMS), posteriors
    kept.predicted(0, many)
    for found, expected in zip(kept.predicted(0, few), again.predicted(0, few), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_means_stay_those_of_the_posterior_where_its_points_are_in_another_order(posteriors):
    kept, last = Covariances(ARMS), posteriors[-1]
    kept.predicted(0, last)
    order = np.array([0, 1, 2, 8, 3, 4, 5, 6, 7])
    seen = PointValues(*(each[order] for each in last.seen))
    found = kept.predicted(0, SurrogatePosterior(last.surrogate, last.theta, seen))
    np.testing.assert_allclose(found.mean, last.at(np.arange(ARMS)).mean, atol=1e-10)


def test_small_sets_are_scored_whole_and_unavailable_arms_are_not():
    offered = np.array([True, False, True, True, False, True])
    arms = Shortlist(ARMS).among(0, offered, [], lambda found, points: np.zeros(ARMS))
    np.testing.assert_array_equal(arms, [0, 2, 3, 5])


def test_the_largest_bounds_and_the_played_are_listed(monkeypatch, posteriors):
    monkeypatch.setattr(shortlist, "MOST", 4)
    monkeypatch.setattr(shortlist, "SHORT", 2)
    offered = np.array([True, True, True, True, True, False])
    posterior, scores = posteriors[-1], np.array([0.0, 5.0, 1.0, 6.0, 2.0, 9.0])
    found = Shortlist(ARMS).among(1, offered, [posterior], lambda found, points: scores.copy())
    played = {point % ARMS for point in posterior.seen.point.tolist() if point // ARMS == 1}
    assert set(found.tolist()) == {1, 3} | (played - {5})


def arms_played(setting, rewards, rounds):
    agent, plays = agents.make("gp-agent", setting), []
    agent.reset(0)
    for t in range(rounds):
        plays.append(agent.act(SEEN))
        arm = plays[-1]
        agent.update(SEEN, arm, 0.0, at_once(t, rewards[[arm]]))
    return plays


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_the_arm_of_the_whole_set_is_played_in_most_rounds(monkeypatch, seed):
    """One model of 1200 arms is asked both ways, after the same values."""
    rng = np.random.default_rng(seed)
    arms = rng.uniform(size=(1200, 3))
    setting = Setting(arms=arms, horizon=60)
    peak = rng.uniform(size=3)
    rewards = np.exp(-4.0 * np.square(arms - peak).sum(axis=1)) + 0.02 * rng.standard_normal(1200)
    whole = arms_played(setting, rewards, 60)
    monkeypatch.setattr(shortlist, "MOST", 500)
    monkeypatch.setattr(shortlist, "SHORT", 150)
    agent, same = agents.make("gp-agent", setting), []
    agent.reset(0)
    for t, arm in enumerate(whole):
        same.append(agent.act(SEEN) == arm)
        agent.update(SEEN, arm, 0.0, at_once(t, rewards[[arm]]))
    assert np.mean(same) > 0.9
