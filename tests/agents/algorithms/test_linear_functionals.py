"""GP-UCB on linear functionals learns from sums of anonymous rewards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from agent_cases import on_a_line
from scipy import stats

import agents
from agents.algorithms.aggregated import Functionals, chances_of
from agents.model.model import Model
from bandit_envs import Setting
from bandit_envs.kernels import gram
from bandit_envs.kernels.gram import DENSE_LIMIT
from bandit_envs.laws import delays
from gpbandits import evaluate

SETTING = on_a_line(12, horizon=60, prior_mean=0.4, delay=delays.PoissonDelay(3.0), aggregated=True)
ONE = np.zeros(1)
BENCH = {"num_arms": 100, "horizon": 400, "noise_std": 0.1, "delay": {"law": "poisson", "mean": 5}}


def summed(total: float) -> dict:
    return {
        "feedback_mask": np.ones(1, dtype=bool),
        "feedback_step": np.full(1, -1),
        "feedback_reward": np.array([total]),
    }


@pytest.mark.parametrize("limit", [DENSE_LIMIT, 1], ids=["table", "no table"])
@pytest.mark.parametrize("count", [8, 30], ids=["fewer than points", "more"])
def test_sums_are_conditioned_on_exactly(count, limit, monkeypatch):
    monkeypatch.setattr(gram, "DENSE_LIMIT", limit)
    model, rng = Model.of(SETTING), np.random.default_rng(0)
    belief = Functionals(model)
    rows, values = rng.random((count, 12)), rng.normal(size=count)
    variances = rng.random(count) + 0.1
    for row, value, variance in zip(rows, values, variances, strict=True):
        point = np.r_[np.arange(12), 3]  # one of them in two parts
        weight = np.r_[row, 0.25]
        weight[3] -= 0.25
        belief.observe(point, weight, value, variance)
    prior = model.gram.dense
    noisy = rows @ prior @ rows.T + np.diag(variances)
    gain = prior @ rows.T @ np.linalg.inv(noisy)
    np.testing.assert_allclose(belief.mean, 0.4 + gain @ (values - rows @ np.full(12, 0.4)), atol=1e-10)
    np.testing.assert_allclose(belief.covariance, prior - gain @ rows @ prior, atol=1e-10)
    np.testing.assert_allclose(belief.variance, np.diag(belief.covariance), atol=1e-12)


def test_a_round_tells_what_the_chances_say_of_the_last_plays():
    agent = agents.make("gp-ucb-aggregated", SETTING, chances=[0.5, 0.3, 0.1])
    agent.reset(0)
    expected = Functionals(agent.model)
    for t, (arm, total) in enumerate([(2, 1.0), (7, -0.5), (7, 2.0), (4, 0.0)]):
        agent.act(ONE)
        agent.update(ONE, arm, total, summed(total))
        recent = np.array([2, 7, 7, 4][: t + 1][::-1][:3])
        chance = np.array([0.5, 0.3, 0.1])[: t + 1]
        square = expected.mean[recent] ** 2 + np.maximum(expected.variance[recent], 0.0)
        uncertain = (chance * (1 - chance)) @ square
        expected.observe(recent, chance, total, 0.01 * chance.sum() + uncertain)
        np.testing.assert_allclose(agent.functionals.mean, expected.mean, atol=1e-12)
        np.testing.assert_allclose(agent.functionals.covariance, expected.covariance, atol=1e-12)


def test_where_nothing_is_late_or_summed_it_plays_as_gp_ucb():
    for aggregated in (False, True):
        problem = {**BENCH, "horizon": 60, "delay": None, "aggregated": aggregated}
        ours = evaluate("GPBandit-GP-v0", ["gp-ucb-aggregated"], trials=2, env_kwargs=problem)
        plain = {**problem, "aggregated": False}
        theirs = evaluate("GPBandit-GP-v0", {"it": ("gp-ucb", {"width": 2.0})}, trials=2, env_kwargs=plain)
        np.testing.assert_array_equal(ours.actions["gp-ucb-aggregated"], theirs.actions["it"])


def test_chances_are_those_of_the_published_law():
    found = chances_of(SETTING)
    exact = stats.poisson.pmf(np.arange(len(found)), 3.0)
    assert np.abs(found - exact).max() < 4.0 * 0.5 / np.sqrt(100_000)
    lossy = chances_of(replace(SETTING, delay=delays.PoissonDelay(3.0, lost=0.5)))
    assert abs(lossy.sum() - 0.5) < 0.01
    np.testing.assert_array_equal(chances_of(replace(SETTING, max_delay=0)), [1.0])


@pytest.mark.parametrize(
    ("setting", "options", "message"),
    [
        (replace(SETTING, delay=None, max_delay=5), {}, "chances must be given"),
        (replace(SETTING, delay=delays.ByReward()), {}, "chances must be given"),
        (replace(SETTING, delay=delays.DelayByArm()), {}, "chances must be given"),
        (SETTING, {"chances": [0.7, 0.7]}, "chances must be a list of numbers"),
        (SETTING, {"chances": [-0.1, 0.7]}, "chances must be a list of numbers"),
        (SETTING, {"form": "pairs"}, "form must be left out"),
        (SETTING, {"repeat": 2.0}, "repeat must be 1"),
        (Setting(low=np.zeros(1), high=np.ones(1), aggregated=True), {}, "setting must have arms"),
    ],
)
def test_what_it_cannot_do_is_refused(setting, options, message):
    with pytest.raises(ValueError, match=message):
        agents.make("gp-ucb-aggregated", setting, **options)
