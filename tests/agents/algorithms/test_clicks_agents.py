"""Agents for clicks and counts, and for clicks whose absence is never reported."""

from dataclasses import replace

import numpy as np
import pytest
from agent_cases import batch_as_singles
from players import at_once, play, started
from scipy.optimize import minimize
from scipy.special import expit, log_expit

import agents
from agents.algorithms.clicks import AgedOutcomes, AgedRows
from agents.beliefs.points import Pairs
from agents.posteriors.laplace import CLICKS, PlayedRows, laplace
from agents.posteriors.latent import LatentPosterior
from bandit_envs import make
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws.outcomes import BernoulliOutcomes
from bandit_envs.problem.decisions import unit_grid
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
    agent = started(agents.make(name, env), 1)
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
    given = {**SMALL, "outcome": outcome, **keywords}
    for spec in SPECS.values():
        batch_as_singles("GPBandit-Clicks-v0", spec, 3, **given)
    batch = evaluate("GPBandit-Clicks-v0", SPECS, trials=1, env_kwargs=given)
    assert ("ucb" in batch.unfit) == (feature == "changes")
    assert {"ucb", "ts"} <= set(batch.approximate)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("continuous", [False, True])
def test_a_recommendation_is_in_probability(name, continuous):
    agent = played(name, **({"continuous": True, "dim": 1} if continuous else {}))
    best = agent.recommend()
    latent, spread = agent.domain.in_play(agent, np.zeros(1 - continuous), best.action)
    p = BernoulliOutcomes().mean(latent + spread * np.random.default_rng(0).standard_normal(200_000))
    assert abs(best.mean - p.mean()) < 4 * p.std() / np.sqrt(len(p))
    assert best.std == pytest.approx(p.std(), rel=0.01)
    line, here = np.linspace(0.0, 1.0, 7)[:, None], np.zeros(1, dtype=int)
    ((mean, std),) = agent.beliefs_at(Pairs(np.empty(0), line) if continuous else agent.arms(here))
    assert ((mean > 0) & (mean < best.mean + 1e-6)).all()
    if not continuous:
        at_best = mean[0, best.action], std[0, best.action]
        np.testing.assert_allclose(at_best, (best.mean, best.std), rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("continuous", [False, True])
def test_the_arm_of_the_largest_mean_is_recommended_not_that_of_the_largest_mode(name, continuous):
    """A count's mean exp(m + s^2 / 2) grows with s: a known arm of a larger mode has a smaller mean."""
    keywords = {"continuous": True, "dim": 1} if continuous else {"num_arms": 12}
    env = make("GPBandit-Clicks-v0", outcome=COUNTS, horizon=40, length_scale=0.1, **keywords)
    setting = env.get_wrapper_attr("setting")
    agent = started(agents.make(name, setting, **({"search": LIGHT} if continuous else {})))
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
        agent = started(agents.make("laplace-ucb", env, band="mixture"))
        assert agent.assumes_bound == assumes


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


# Conversions

GRAM = Gram(make_kernel("rbf", 0.3), unit_grid(6))
BASE = -1.0
CONVERTING = {"num_arms": 12, "horizon": 30, "outcome": {"law": "bernoulli", "base": BASE}}


def plays(rounds=40, seed=0):
    """Arms, and after how many rounds each converted, inf where it did not."""
    rng = np.random.default_rng(seed)
    points, delay = rng.integers(0, 6, rounds), rng.geometric(1 / 6, rounds) - 1.0
    clicked = rng.random(rounds) < expit(BASE + np.linspace(-1.0, 2.0, 6)[points])
    return points, np.where(clicked, delay, np.inf)


def shares():
    """Of conversions by age; a third never come."""
    return 0.7 * (1 / 6) * (5 / 6) ** np.arange(60)


def believed(points, delay, settle=1.0):
    """The belief after these plays, each followed by what is delivered in its round."""
    belief = LatentPosterior(GRAM, AgedOutcomes(BernoulliOutcomes(BASE), shares(), 1), 1)
    for t, x in enumerate(points):
        belief.outcomes.advance(np.array([x]))
        (came,) = (np.arange(t + 1) + delay[: t + 1] == t).nonzero()
        nobody = np.zeros(len(came), dtype=int)
        belief.outcomes.settle(nobody, points[came], t - came, np.full(len(came), settle))
    return belief


def negative_log_posterior(f, points, delay):
    """- sum ln p - sum ln(1 - p G(age)) + f K^-1 f / 2, written as it is said."""
    age = len(points) - 1 - np.arange(len(points))
    G = shares().cumsum()[age]
    p = expit(BASE + f)[points]
    each = np.where(delay <= age, np.log(p), np.log(1.0 - p * G))
    return -each.sum() + f @ np.linalg.solve(GRAM.dense + 1e-10 * np.eye(6), f) / 2.0


@pytest.mark.parametrize("seed", range(3))
def test_the_mode_is_that_of_a_general_optimiser(seed):
    points, delay = plays(seed=seed)
    mode = believed(points, delay).mean_at(None)[0]
    found = minimize(negative_log_posterior, np.zeros(6), args=(points, delay), method="BFGS")
    assert negative_log_posterior(mode, points, delay) <= found.fun + 1e-6
    np.testing.assert_allclose(mode, found.x, atol=1e-2)


def test_the_information_of_a_play_is_the_mean_square_of_its_score():
    z, G, step = np.linspace(-3.0, 3.0, 9), 0.6, 1e-5

    def scores(sign):
        click = (log_expit(z + step) - log_expit(z - step)) / (2 * step)
        none = (np.log(1 - G * expit(z + step)) - np.log(1 - G * expit(z - step))) / (2 * step)
        return click if sign else none

    chance = G * expit(z)
    expected = chance * scores(1) ** 2 + (1 - chance) * scores(0) ** 2
    alone = np.arange(9)
    rows = AgedRows(np.eye(9), np.ones(9), np.zeros(9), z, alone, np.full(9, np.log(1 - G)), alone >= 0)
    np.testing.assert_allclose(rows.information(z, CLICKS), expected, rtol=1e-8)


def test_slope_and_curvature_are_derivatives_of_the_loss():
    points, delay = plays(seed=1)
    rows, likelihood, step = believed(points, delay).outcomes.rows(0, np.eye(6).__getitem__), CLICKS, 1e-5
    plain = replace(rows, design=np.eye(len(rows.plays)), offset=np.zeros(len(rows.plays)))
    z = np.linspace(-2.0, 1.0, len(rows.plays))

    def loss(z):
        return plain.loss(z, likelihood) - z @ z / 2.0

    for i, unit in enumerate(np.eye(len(z)) * step):
        slope = (loss(z + unit) - loss(z - unit)) / (2 * step)
        assert slope == pytest.approx(plain.surplus(z, likelihood)[i], abs=1e-7)
        rise = plain.surplus(z + unit, likelihood)[i] - plain.surplus(z - unit, likelihood)[i]
        assert max(rise / (2 * step), 0.0) == pytest.approx(plain.curvature(z, likelihood)[i], abs=1e-7)


def test_where_all_would_have_converted_a_play_without_a_click_is_none():
    points, delay = plays()
    clicked = np.isfinite(delay)
    x, row = np.unique(points, return_inverse=True)
    count, total = np.bincount(row).astype(float), np.bincount(row, clicked)
    design, offset = GRAM.root.T[x], np.full(len(x), BASE)
    aged = AgedRows(design, count, total, offset, row, np.full(len(points), -np.inf), ~clicked)
    fit = laplace(aged, CLICKS)
    known = laplace(PlayedRows(design, count, total, offset), CLICKS)
    np.testing.assert_allclose(fit.weight, known.weight, atol=1e-9)
    z = aged.z(fit.weight)
    information = aged.information(z, CLICKS)
    np.testing.assert_allclose(information, count * CLICKS.curvature(z), rtol=1e-9, atol=1e-12)


def test_an_absence_that_is_reported_counts_at_once():
    points, delay = plays()
    told, silent = believed(points, np.minimum(delay, 0.0), settle=0.0), believed(points, np.full(40, np.inf))
    count = np.bincount(points, minlength=6).astype(float)
    rows = PlayedRows(GRAM.root.T, count, np.zeros(6), np.full(6, BASE))
    np.testing.assert_allclose(told.mean_at(None)[0], laplace(rows, CLICKS).mean(GRAM.root.T), atol=1e-6)
    assert (silent.mean_at(None) > told.mean_at(None)).all()


def test_a_dropped_play_counts_no_more_and_a_restart_is_the_prior():
    points, delay = plays()
    belief = believed(points, delay)
    here = np.zeros(1, dtype=int)
    (open_plays,) = np.isinf(delay).nonzero()
    before, first = belief.mean_at(None), open_plays[:1]
    belief.outcomes.drop(here, points[first], 39 - first)
    assert (belief.mean_at(None) > before).all()  # the kernel is positive, and a play without a click is gone
    assert belief.count_at(None).sum() == 39
    belief.reset(here)
    np.testing.assert_array_equal(belief.mean_at(None), np.zeros((1, 6)))
    np.testing.assert_allclose(belief.variance_at(None), 1.0, atol=1e-6)


def test_without_delay_conversions_are_the_clicks_that_they_are():
    at_once = {**CONVERTING, "delay": {"law": "conversions", "base": "immediate"}}
    late, prompt = (
        evaluate("GPBandit-Clicks-v0", ["laplace-ucb"], trials=3, env_kwargs=keywords).actions["laplace-ucb"]
        for keywords in (at_once, CONVERTING)
    )
    np.testing.assert_array_equal(late, prompt)


CONVERTED_LATE = {"law": "conversions", "base": {"law": "geometric", "mean": 5}, "lost": 0.3}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("feature", ["plain", "contexts", "volatile"])
def test_a_batch_of_conversions_equals_single_trials(feature):
    more = {"contexts": {"num_contexts": 3}, "volatile": {"availability": {"law": "bernoulli", "p": 0.7}}}
    for name in NAMES:
        given = {**CONVERTING, "delay": CONVERTED_LATE, **more.get(feature, {})}
        batch_as_singles("GPBandit-Clicks-v0", name, 3, **given)


@pytest.mark.parametrize(
    ("options", "facts", "message"),
    [
        ({"band": "mixture"}, {}, "band must be a number where conversions alone are delivered"),
        ({}, {"outcome": {"law": "poisson"}}, "setting must be of clicks where conversions"),
    ],
)
def test_what_ages_do_not_cover_is_refused_with_the_reason(options, facts, message):
    env = make("GPBandit-Clicks-v0", **{**CONVERTING, "delay": CONVERTED_LATE, **facts})
    with pytest.raises(ValueError, match=message):
        agents.make("laplace-ucb", env, **options)
