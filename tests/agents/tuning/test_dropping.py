"""Plays whose feedback will never come leave no trace in what an agent believes."""

import numpy as np
import pytest
import references
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

import agents
from agents.posteriors import FORMS
from bandit_envs import Setting
from bandit_envs.problem.feedback import Feedback, delivery

ARMS = np.linspace(0.0, 1.0, 12)[:, None]
SETTING = Setting(arms=ARMS, kernel=RBF(0.2), noise_std=0.1, horizon=50, max_delay=49)
HERE, CONTEXT = np.zeros(1), np.zeros(1, dtype=np.int64)
PLAYED = [3, 7, 7, 1, 10, 3]
VALUES = {0: 0.5, 1: -0.3, 4: 0.8}  # by round; 2 is dropped, 3 and 5 stay pending
DROPPED = 2


def informed(t, told):
    rounds = np.array(sorted(told), dtype=np.int64)
    rewards = np.array([told[s] for s in rounds.tolist()], dtype=np.float64)
    return delivery(t, rounds, rewards, np.empty((len(rounds), 0)), SETTING.max_delay)


def play(agent, arms, values=VALUES, after=1):
    """Play arms in order; every value comes `after` rounds later, or in the last round."""
    last = len(arms) - 1
    for t, arm in enumerate(arms):
        told = {s: y for s, y in values.items() if s + after == t or (t == last and s + after > t)}
        agent.update(HERE, arm, 0.0, informed(t, told))
    return agent


def start(name, **options):
    agent = agents.make(name, SETTING, **options)
    agent.reset(0)
    return agent


def posterior(rounds, values):
    points = np.array([PLAYED[s] for s in rounds], dtype=np.int64)
    return references.posterior(RBF(0.2)(ARMS), 0.01, points, np.array(list(values)))


def believed(agent):
    belief = agent.belief
    return belief.mean(CONTEXT)[0], belief.std(CONTEXT)[0] ** 2


LEFT = [0, 1, 3, 4, 5]


def test_a_censoring_agent_takes_its_zero_back():
    agent = play(start("gp-ucb-sdf", window=20, prior_mean=0.0), PLAYED)
    agent.drop([DROPPED])
    mean, covariance = posterior(LEFT, [VALUES.get(s, 0.0) for s in LEFT])
    np.testing.assert_allclose(believed(agent)[0], mean, rtol=0, atol=1e-10)
    np.testing.assert_allclose(believed(agent)[1], np.diag(covariance), rtol=0, atol=1e-10)
    bias = sum(np.sqrt(covariance[PLAYED[s], PLAYED[s]]) for s in LEFT)
    np.testing.assert_allclose(agent.belief.bias, bias, rtol=0, atol=1e-10)


def test_an_imputing_agent_takes_its_fill_in_back():
    agent = play(start("gp-ucb-sdf", window=20, fill_in="mean"), PLAYED)
    agent.drop([DROPPED])
    mean, _ = posterior(VALUES, VALUES.values())
    _, covariance = posterior(LEFT, [0.0] * 5)
    np.testing.assert_allclose(believed(agent)[0], mean, rtol=0, atol=1e-10)
    np.testing.assert_allclose(believed(agent)[1], np.diag(covariance), rtol=0, atol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_all_representations_forget(form):
    agent = play(start("gp-bucb", form=form), PLAYED)
    agent.drop(np.array([DROPPED, 5, 3]))
    expected, covariance = posterior(VALUES, VALUES.values())
    mean, variance = believed(agent)
    np.testing.assert_allclose(mean, expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(variance, np.diag(covariance), rtol=0, atol=1e-9)
    gain = references.information_gain(RBF(0.2)(ARMS), 0.01, np.array([3, 7, 10]))
    np.testing.assert_allclose(agent.belief.gain, gain, rtol=0, atol=1e-9)


def test_trials_of_a_batch_forget_their_own_plays():
    batch = agents.make("gp-bucb", SETTING, num_trials=2)
    batch.reset([0, 1])
    empty = {key: np.stack([value, value]) for key, value in informed(0, {}).items() if key != "t"}
    for arms in ([2, 5], [9, 5], [2, 11]):
        batch.update(np.zeros((2, 1)), np.array(arms), np.zeros(2), empty)
    batch.drop([2, 0], trial=[0, 1])
    for i, arms in enumerate(([2, 9], [5, 11])):
        _, covariance = references.posterior(RBF(0.2)(ARMS), 0.01, np.array(arms), np.zeros(2))
        np.testing.assert_allclose(
            batch.belief.std(np.zeros(2, int))[i] ** 2, np.diag(covariance), atol=1e-10
        )


def test_a_fit_on_everything_leaves_dropped_plays_out():
    agent = play(start("gp-bucb", refit_every=50, fit_on="all"), PLAYED)
    agent.drop([DROPPED])
    point, value, _ = agent.assumptions.sample(agent)
    assert point.tolist() == [PLAYED[s] for s in LEFT]
    assert value[[0, 1, 3]].tolist() == list(VALUES.values())


def constrained(pending, dropped=(), **options):
    """An agent that was told of two plays, with some more pending."""
    setting = Setting(arms=ARMS, kernel=RBF(0.2), noise_std=0.1, horizon=50, num_constraints=1)
    agent = agents.make("constrained-ei", setting, initial=2, **options)
    agent.reset(0)
    for t, arm in enumerate([2, 9, *pending]):
        rounds = np.arange(2) if t == 1 else np.zeros(0, dtype=np.int64)
        agent.update(HERE, arm, 0.0, delivery(t, rounds, rounds + 0.5, rounds[:, None] - 0.5, 49))
    if dropped:
        agent.drop(dropped)
    return agent


def test_constrained_ei_counts_pending_plays_in_its_deviations():
    agent, alone = (constrained(pending, hallucinate=True) for pending in ([4, 4, 11], []))
    scale = agent.objective.scale[0]
    context = np.zeros(1, dtype=np.int64)
    for j, own in enumerate([agent.belief, *agent.objective.costs]):
        noise = 1e-6 if j else 0.01 / scale[j] ** 2  # of costs, none
        _, covariance = references.posterior(RBF(0.2)(ARMS), noise, [2, 9, 4, 4, 11], np.zeros(5))
        np.testing.assert_allclose(own.std(context)[0], np.sqrt(np.diag(covariance)), rtol=0, atol=1e-9)
    np.testing.assert_allclose(agent.beliefs(HERE), alone.beliefs(HERE), rtol=0, atol=1e-12)  # of delivered


def test_constrained_ei_forgets_what_was_dropped():
    dropped, never = constrained([4, 7], dropped=[2], hallucinate=True), constrained([7], hallucinate=True)
    np.testing.assert_allclose(dropped.beliefs(HERE), never.beliefs(HERE), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["gp-ucb", "gp-bucb"])
def test_what_was_dropped_can_neither_arrive_nor_be_dropped_again(name):
    agent = play(start(name), PLAYED)
    agent.drop([DROPPED])
    with pytest.raises(ValueError, match="feedback comes once"):
        agent.drop([DROPPED])
    with pytest.raises(ValueError, match="feedback comes once"):
        agent.update(HERE, 0, 0.0, informed(6, {DROPPED: 1.0}))


@pytest.mark.long
@given(st.lists(st.integers(0, 20), unique=True), st.integers(20, 30), st.integers(0, 2), st.integers(0, 40))
def test_a_delivery_is_read_as_it_was_written(rounds, t, costs, max_delay):
    rng = np.random.default_rng(0)
    reward, cost = rng.normal(size=len(rounds)), rng.normal(size=(len(rounds), costs))
    written = np.array(rounds, dtype=np.int64)
    info = delivery(t, written, reward, cost, max_delay)
    read = Feedback.arrived(info)
    order = np.argsort(-written)  # the latest round is in the first slot
    np.testing.assert_array_equal(read.round, written[order])
    np.testing.assert_array_equal(read.reward, reward[order])
    np.testing.assert_array_equal(read.cost, cost[order] if rounds and costs else read.cost)
    assert len(info["feedback_mask"]) == 1 + max(max_delay, t)


def test_an_agent_of_what_is_delivered_knew_nothing_of_the_dropped_play():
    agent = play(start("gp-ucb"), PLAYED)
    before = believed(agent)
    agent.drop([DROPPED])
    np.testing.assert_array_equal(believed(agent), before)
