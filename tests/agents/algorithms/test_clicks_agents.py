"""Agents for clicks and counts: their belief, the unit of their answers, and what they refuse."""

import numpy as np
import pytest
from players import at_once, play

import agents
from agents.beliefs.points import Pairs
from bandit_envs.environment.envs import make
from bandit_envs.laws.outcomes import BernoulliOutcomes
from gpbandits import evaluate

NAMES = ("laplace-ucb", "laplace-ts")
COUNTS = {"law": "poisson", "base": 0.5, "exposure": 2.0}
SPECS = {
    "ucb": ("laplace-ucb", {}),
    "band": ("laplace-ucb", {"band": "mixture", "rkhs_bound": 2.0}),
    "ts": ("laplace-ts", {}),
}
SMALL = {"num_arms": 12, "horizon": 25}
LIGHT = {"candidates": 32, "starts": 2}


def played(name, rounds=20, **keywords):
    env = make("GPBandit-Clicks-v0", **{**SMALL, **keywords})
    observation, _ = env.reset(seed=1)
    agent = agents.make(name, env)
    agent.reset(1)
    play(env, agent, observation, rounds)
    return agent


@pytest.mark.sampled(1)
@pytest.mark.parametrize("outcome", [{"law": "bernoulli"}, COUNTS], ids=["clicks", "counts"])
@pytest.mark.parametrize("feature", ["plain", "late", "contexts", "volatile", "changes"])
def test_a_batch_of_clicks_equals_single_trials(outcome, feature):
    keywords = {
        "plain": {},
        "late": {"delay": {"law": "poisson", "mean": 3}},
        "contexts": {"num_contexts": 3},
        "volatile": {"availability": {"law": "bernoulli", "p": 0.7}},
        "changes": {"change_points": [12]},
    }[feature]
    given = {"env_kwargs": {**SMALL, "outcome": outcome, **keywords}, "trials": 3}
    batch = evaluate("GPBandit-Clicks-v0", SPECS, **given)
    makers = {
        label: lambda setting, name=name, own=own: agents.make(name, setting, **own)
        for label, (name, own) in SPECS.items()
    }
    singles = evaluate("GPBandit-Clicks-v0", makers, **given)
    for label in SPECS:
        np.testing.assert_array_equal(batch.actions[label], singles.actions[label])
    assert ("ucb" in batch.unfit) == (feature == "changes")
    assert {"ucb", "ts"} <= set(batch.approximate)


@pytest.mark.parametrize("name", NAMES)
def test_a_recommendation_is_in_probability(name):
    agent = played(name)
    best = agent.recommend()
    latent, spread = agent.belief.mean(np.zeros(1, dtype=int))[0], agent.belief.std(np.zeros(1, dtype=int))[0]
    white = np.random.default_rng(0).standard_normal(200_000)
    p = BernoulliOutcomes().mean(latent[best.action] + spread[best.action] * white)
    assert abs(best.mean - p.mean()) < 4 * p.std() / np.sqrt(len(p))
    assert best.std == pytest.approx(p.std(), rel=0.01)
    ((mean, std),) = agent.beliefs(np.zeros(1))
    np.testing.assert_allclose((mean[best.action], std[best.action]), (best.mean, best.std), rtol=1e-12)
    assert ((mean > 0) & (mean < 1)).all()
    assert best.action == mean.argmax()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("continuous", [False, True])
def test_the_arm_of_the_largest_mean_is_recommended_not_that_of_the_largest_mode(name, continuous):
    """A count's mean exp(m + s^2 / 2) grows with s: a known arm of a larger mode has a smaller mean."""
    keywords = {"continuous": True, "dim": 1} if continuous else {"num_arms": 12}
    env = make("GPBandit-Clicks-v0", outcome=COUNTS, horizon=40, length_scale=0.1, **keywords)
    setting = env.get_wrapper_attr("setting")
    agent = agents.make(name, setting, **({"search": LIGHT} if continuous else {}))
    agent.reset(0)
    known = setting.to_action(np.array([0.5])) if continuous else 6
    count = setting.outcome.mean(np.array(0.1))  # a mode of nearly 0.1 against 0 and a mean of exp(1 / 2)
    for t in range(40):
        agent.update(np.zeros(1), known, 0.0, at_once(t, round(float(count))))
    best = agent.recommend()
    there = agent.believed(np.zeros(1), known)[0][0]
    assert best.mean > 1.2 * there
    points = [setting.to_action(np.array([x])) for x in np.linspace(0, 1, 201)] if continuous else range(12)
    assert best.mean == pytest.approx(max(agent.believed(np.zeros(1), x)[0][0] for x in points), rel=1e-3)


def test_the_band_needs_a_bound_and_says_when_it_takes_a_default():
    bounded = {"function": "rkhs", "rkhs_norm": 3.0}
    for keywords, assumes in ((bounded, False), ({}, True)):
        env = make("GPBandit-Clicks-v0", **SMALL, **keywords)
        agent = agents.make("laplace-ucb", env, band="mixture")
        agent.reset(0)
        assert agent.assumes_bound == assumes


@pytest.mark.parametrize("name", NAMES)
def test_a_recommendation_on_a_box_is_in_probability(name):
    agent = played(name, continuous=True, dim=1)
    best = agent.recommend()
    mean, std = agent.in_play(np.zeros(0), best.action)
    p = BernoulliOutcomes().mean(mean + std * np.random.default_rng(0).standard_normal(200_000))
    assert abs(best.mean - p.mean()) < 4 * p.std() / np.sqrt(len(p))
    assert best.std == pytest.approx(p.std(), rel=0.01)
    (((few,), _),) = agent.beliefs_at(Pairs(np.empty(0), np.linspace(0.0, 1.0, 7)[:, None]))
    assert ((few > 0) & (few < best.mean + 1e-6)).all()


@pytest.mark.parametrize("name", NAMES)
def test_late_outcomes_count_when_they_are_delivered(name):
    agent = played(name, delay={"law": "constant", "rounds": 6})
    assert agent.belief.outcomes.count.sum() == 14


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise_std": 0.1}, "noise_std"),
        ({"refit_every": 5}, "refit_every"),
        ({"form": "dense"}, "form"),
        ({"repeat": 2.0}, "repeat"),
        ({"band": "amm"}, "band"),
        ({"band": "mixture", "delta": 2.0}, "delta"),
        ({"delta": 2.0}, "delta"),
    ],
)
def test_what_a_latent_model_does_not_have_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        agents.make("laplace-ucb", make("GPBandit-Clicks-v0", **SMALL), **options)
    with pytest.raises(ValueError, match="band must be a number on a box"):
        agents.make("laplace-ucb", make("GPBandit-Clicks-v0", continuous=True), band="mixture")
