"""The edge of a window lies where it is written, whatever the unit of time."""

from typing import Any

import numpy as np
import pytest
from agent_cases import GAUSSIAN
from cases import by_hand

import agents
from agents.beliefs.censored import Censored
from agents.model.rounds import LATE, Clock, default_window, in_time, shares_of_rounds
from bandit_envs import Setting, make
from bandit_envs.laws import delays

ROUNDS = 200


@pytest.mark.parametrize("interval", [0.1, 0.3, 1.0, 60.0, 1e-3 / 3])
@pytest.mark.parametrize("window", [1, 3, 7])
def test_what_counts_does_not_depend_on_the_unit_of_time(interval, window):
    whole, scaled = Clock(np.arange(ROUNDS)), Clock(interval * np.arange(ROUNDS))
    for now in range(ROUNDS):
        played = np.arange(now + 1)
        expected = in_time(whole.delay(played, now), window)
        np.testing.assert_array_equal(in_time(scaled.delay(played, now), interval * window), expected)
        assert scaled.recent(now, interval * window) == whole.recent(now, window)
    assert expected.sum() == window


@pytest.mark.parametrize("window", [0.3 / 0.1, 3.0, 3.0000000001])
def test_a_window_that_is_a_whole_number_but_for_rounding_is_that_number_everywhere(window):
    rounds = Clock()
    assert in_time(rounds.delay(np.arange(10), 9), window).sum() == 4  # taken 0, ..., 3
    assert rounds.recent(10, window) == 3


# --- the default window ---

IN_TIME = {"law": "exponential", "mean": 600.0, "interval": 60.0}
LAWS = {name: law() for name, law in delays.LAWS.items()} | {
    "slow": delays.Exponential(600.0, 60.0),
    "fast": delays.Exponential(5.0, 60.0),
    "fine": delays.LogNormal(0.3, 0.1),
    "by arm, in time": delays.DelayByArm({"law": "exponential", "mean": 30.0, "interval": 7.0}, slowest=2.0),
}
HORIZON = 3000
each_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)


def seen(law: delays.Delay, slowdown: float) -> Any:
    """How long the feedback of each play of one arm takes, as an agent sees it, where it comes."""
    waits = law.wait(law.draw(HORIZON, np.random.default_rng(0)), np.ones(HORIZON), np.ones(HORIZON))
    rounds = law.in_rounds(slowdown * waits)
    played = np.arange(HORIZON)
    comes = played + rounds < HORIZON
    clock = Clock(law.query_times(HORIZON))
    return clock.delay(played[comes], (played + rounds)[comes].astype(int))


@each_law
def test_the_default_window_keeps_95_percent_of_the_feedback_of_every_arm(law):
    window = default_window(by_hand(delay=law, horizon=HORIZON).setting())
    for features in ([[0.0]], [[1.0]]):
        kept = in_time(seen(law, float(law.slowdown(np.array(features))[0])), window).mean()
        assert kept >= 1.0 - LATE - 4 * (LATE / HORIZON) ** 0.5


@each_law
def test_without_a_law_the_default_window_is_what_feedback_can_take_at_most(law):
    problem = by_hand(delay=law, horizon=HORIZON, publish_model=False)
    setting = problem.setting()
    window, interval = (
        default_window(setting),
        getattr(law, "interval", getattr(getattr(law, "base", 0), "interval", 0)),
    )
    assert setting.delay is None
    expected = (problem.window + 1) * interval if interval else problem.window
    assert window == pytest.approx(min(expected, (HORIZON - 1) * interval) if interval else expected)


CENSORING = [(name, {}) for name in GAUSSIAN] + [("gp-agent", {"belief": "censored"})]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("law", [IN_TIME, {"law": "poisson", "mean": 12}], ids=["in time", "in rounds"])
def test_every_agent_with_a_window_keeps_what_95_percent_of_the_feedback_takes(law):
    env = make("GPBandit-GP-v0", delay=law, num_arms=10, horizon=400)
    env.reset(seed=0)
    setting, found = env.get_wrapper_attr("setting"), 0
    for name, options in CENSORING:
        agent = agents.make(name, setting, **options)
        agent.reset(0)
        if isinstance(getattr(agent, "belief", None), Censored):
            found += 1
            assert agent.belief.window == default_window(setting)
    assert found >= 3
    assert default_window(setting) == (1800.0 if law is IN_TIME else 18)


def test_the_shares_of_a_geometric_law_are_exact_and_less_where_feedback_is_lost():
    """Draws were off by up to .003; mean 20 delivers with probability 1 / 21 in every further round."""
    law = delays.GeometricDelay(20.0, lost=0.3)
    shares = shares_of_rounds(law, 400)
    assert len(shares) <= 401
    expected = 0.7 * (1 - (20 / 21) ** np.arange(1, len(shares) + 1))
    np.testing.assert_allclose(shares.cumsum(), expected, rtol=0, atol=1e-12)


def test_shares_of_laws_without_a_formula_are_those_of_draws():
    class Halves(delays.Constant):
        def delivered_by(self, rounds):
            return None

    np.testing.assert_array_equal(shares_of_rounds(Halves(2), 5), shares_of_rounds(delays.Constant(2), 5))


def test_the_default_window_is_no_longer_than_what_is_delivered():
    setting = by_hand(delay=delays.PoissonDelay(10.0), max_delay=4).setting()
    assert default_window(setting) == 4
    assert default_window(by_hand(delay=delays.PoissonDelay(10.0)).setting()) == 15
    assert default_window(Setting(arms=np.eye(3), max_delay=7)) == 7


def test_query_times_that_are_not_evenly_spaced_are_read_as_times():
    times = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])
    assert default_window(Setting(arms=np.eye(3), query_times=times, max_delay=0, horizon=6)) == 8.0
    assert default_window(Setting(arms=np.eye(3), query_times=times, max_delay=1, horizon=6)) == 9.0
