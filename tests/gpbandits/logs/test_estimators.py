"""Estimates from logs: the plain forms, what holds of all of them, and bias in simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from references import logs as references

from gpbandits.logs import ContextPolicy, LogWarning, PlayLog, value_of
from gpbandits.logs.estimators import (
    ESTIMATORS,
    WITH_MODEL,
    WeightedRows,
    degrees_of_freedom,
    interval,
    switch,
)

pytestmark = pytest.mark.filterwarnings("ignore::gpbandits.logs.LogWarning")
A, Z = 4, 3


def world(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean rewards, probabilities of the logging policy and of the target, (Z, A) each."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(Z, A)), rng.dirichlet(np.full(A, 5.0), Z), rng.dirichlet(np.ones(A), Z)


def drawn(n: int, seed: int, of_world: int = 0, noise: float = 0.5) -> PlayLog:
    mean, logging, _ = world(of_world)
    rng = np.random.default_rng([seed, 7])
    z = rng.integers(Z, size=n)
    action = (rng.random(n)[:, None] > logging[z].cumsum(axis=1)).sum(axis=1).clip(max=A - 1)
    reward = mean[z, action] + noise * rng.standard_normal(n)
    chance = logging[z, action]
    return PlayLog(action, reward, chance, actions=A, context=z[:, None].astype(float))


def policy_of(table: np.ndarray) -> ContextPolicy:
    return ContextPolicy(lambda x: table[x[:, 0].astype(int)])


def truth(of_world: int = 0) -> float:
    mean, _, target = world(of_world)
    return float((mean * target).sum(axis=1).mean())


def rows_of(log: PlayLog, table: np.ndarray) -> list[tuple[float, float, float]]:
    chance = table[log.context[:, 0].astype(int), log.action]
    return list(zip(log.reward.tolist(), chance.tolist(), log.propensity.tolist(), strict=True))


@given(st.integers(0, 10**6), st.integers(2, 60))
def test_every_estimator_equals_its_plain_form(seed, n):
    log, (_, _, target) = drawn(n, seed), world()
    z = log.context[:, 0].astype(int)
    predicted = np.random.default_rng(seed).normal(size=(Z, A))
    pi, q, rows = target[z], predicted[z], rows_of(log, target)
    model = (pi * q).sum(axis=1), q[np.arange(n), log.action]
    found = value_of(policy_of(target), log, tau=1.3, model=model, seed=seed)
    uniform = np.random.default_rng(seed).random(n)
    lists = pi.tolist(), q.tolist(), log.action.tolist()
    expected = {
        "replay": references.replay(rows, uniform),
        "ips": references.ips(rows),
        "snips": references.snips(rows),
        "dr": references.switch(rows, *lists, np.inf),
        "switch": references.switch(rows, *lists, 1.3),
    }
    assert expected.keys() == ESTIMATORS.keys()
    for name, value in expected.items():
        assert found[name].value == pytest.approx(value, rel=1e-10, abs=1e-10), name


def test_the_logging_policy_itself_is_worth_the_mean_of_the_log():
    log, (_, logging, _) = drawn(500, 1), world()
    found = value_of(policy_of(logging), log, methods=["replay", "ips", "snips"])
    assert found.acceptance == 1.0
    for estimate in found.values():
        assert estimate.value == pytest.approx(log.mean, abs=1e-12)


@pytest.mark.parametrize("method", ESTIMATORS)
def test_an_estimate_follows_the_unit_of_the_reward(method):
    log, (_, _, target) = drawn(400, 2), world()
    scaled = PlayLog(log.action, 3.0 * log.reward, log.propensity, actions=A, context=log.context)
    one, three = (value_of(policy_of(target), each)[method] for each in (log, scaled))
    np.testing.assert_allclose(three, 3.0 * np.array(one), rtol=1e-4)


@pytest.mark.parametrize("method", [name for name in ESTIMATORS if name != "ips"])  # which has no mean weight
def test_an_estimate_follows_a_shift_of_the_reward_where_weights_are_relative(method):
    log, (_, _, target) = drawn(400, 2), world()
    # With a model the shift is all but the mean weight's error times the model's.
    scale = 2e-2 if method in WITH_MODEL else 1e-9
    moved = PlayLog(log.action, log.reward + 10.0, log.propensity, actions=A, context=log.context)
    one, ten = (value_of(policy_of(target), each)[method].value for each in (log, moved))
    assert ten - one == pytest.approx(10.0, abs=scale)


@pytest.mark.parametrize("method", ESTIMATORS)
def test_names_of_actions_do_not_matter(method):
    log, (_, _, target) = drawn(300, 4), world()
    swap = np.array([2, 0, 3, 1])
    other = PlayLog(np.argsort(swap)[log.action], log.reward, log.propensity, actions=A, context=log.context)
    one = value_of(policy_of(target), log, methods=[method])[method]
    two = value_of(policy_of(target[:, swap]), other, methods=[method])[method]
    np.testing.assert_allclose(one, two, rtol=1e-3, atol=1e-4)  # fits of the model end a little apart


@pytest.mark.parametrize(
    "method", [pytest.param(name, marks=[pytest.mark.long] * (name in WITH_MODEL)) for name in ESTIMATORS]
)
def test_estimates_are_unbiased_over_many_logs(method):
    _, _, target = world()
    values = [value_of(policy_of(target), drawn(150, i), methods=[method])[method].value for i in range(120)]
    error = np.std(values) / np.sqrt(len(values))
    slack = 0.02 if method == "switch" else 0.0  # which accepts a bias for less variance
    assert abs(np.mean(values) - truth()) < 4.0 * error + slack


def test_the_model_shortens_the_interval_and_switch_is_doubly_robust_at_an_infinite_threshold():
    log, (_, _, target) = drawn(800, 5, noise=0.2), world()
    found = value_of(policy_of(target), log)
    lengths = {name: high - low for name, (_, low, high) in found.items()}
    assert lengths["dr"] < 0.7 * lengths["ips"]
    assert lengths["dr"] < lengths["replay"]
    endless = value_of(policy_of(target), log, methods=["dr", "switch"], tau=np.inf)
    assert endless["dr"] == endless["switch"]


@pytest.mark.parametrize("seed", range(5))
def test_the_threshold_of_switch_has_the_least_estimated_error(seed):
    rng, n = np.random.default_rng(seed), 200
    weight, reward, model = rng.lognormal(0.0, 2.0, n), rng.normal(size=n), rng.normal(size=n)
    rows = WeightedRows(reward, weight, np.ones(n), rng.random(n), np.zeros(n), model)
    taus = [*np.geomspace(*np.quantile(weight, [0.05, 0.95]), 21), np.inf]
    errors = [references.switch_error(weight, reward, model, tau) for tau in taus]
    assert switch(rows).tau == pytest.approx(taus[int(np.argmin(errors))])


def test_intervals_have_two_degrees_of_freedom_where_one_row_decides_and_shrink_with_the_root_of_the_rows():
    one = np.zeros(500)
    one[3] = 1.0
    assert degrees_of_freedom(one - one.mean()) == pytest.approx(2.0, rel=0.02)
    assert interval(0.0, np.zeros(1)) == (-np.inf, np.inf)
    few, many = (np.tile([-1.0, 1.0], n) for n in (200, 800))
    assert np.ptp(interval(0.0, few)) == pytest.approx(2.0 * np.ptp(interval(0.0, many)), rel=1e-2)


def test_a_policy_without_plays_in_the_log_is_worth_what_nobody_knows():
    log = PlayLog([0, 1] * 30, [1.0, 0.0] * 30, [0.4] * 60, actions=3)
    with pytest.warns(LogWarning, match="never"):
        found = value_of([0.0, 0.0, 1.0], log, methods=["snips"])
    assert np.isnan(found["snips"].value)
    assert found["snips"].low == -np.inf


@pytest.mark.parametrize(
    "given", [{"policy": [0.0, 0.0, 0.0, 1.0]}, {"policy": [0.25] * 4, "never": [0, 1, 2]}]
)
def test_all_methods_answer_for_a_policy_without_plays_in_the_log(given):
    rng = np.random.default_rng(0)
    log = PlayLog(rng.integers(3, size=200), rng.normal(size=200), np.full(200, 1 / 3), actions=4)
    with pytest.warns(LogWarning, match=r"100.0% of the policy's plays are actions that the log never has"):
        found = value_of(log=log, **given)
    assert list(found) == list(ESTIMATORS)
    assert found["switch"] == found["dr"]  # no row is left out
