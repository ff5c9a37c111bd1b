"""Alarms that look at values in the order of play: what they compute, promise and find."""

import math

import numpy as np
import pytest
import scipy.special
import scipy.stats
from alarm_cases import ARMS, NOISE, SMOOTH, alarms, dense, functions, setting, told, watched
from references import posterior

import agents
from agents.restarts.alarms import EventTriggered, LikelihoodRatio, RunLengths
from agents.restarts.by_name import RESTARTS
from agents.restarts.evidence import GIVEN_NOISE, UNKNOWN_NOISE, Evidence
from agents.restarts.on_alarm import InOrder
from agents.restarts.outcomes import Coordinates, Starts
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel

ROUGH = make_kernel("matern12", 0.2)


def log_likelihood(kernel, noise, point, value):
    covariance = dense(kernel)[np.ix_(point, point)] + noise**2 * np.eye(len(point))
    return scipy.stats.multivariate_normal.logpdf(value, np.zeros(len(point)), covariance)


@pytest.mark.parametrize("kernel", [SMOOTH, ROUGH])
@pytest.mark.parametrize("level", [0.0, 2.0])
def test_each_start_has_the_posterior_of_the_plays_since_it(kernel, level):
    rng = np.random.default_rng(1)
    point, value = rng.integers(len(ARMS), size=50), rng.standard_normal((50, 2))
    gram = Gram(kernel, ARMS)
    starts = Starts(Coordinates(gram.between, level), np.array([0.01, 0.3]), 2)
    begun = [0, 20, 35]
    for t, x in enumerate(point.tolist()):
        if t in begun[1:]:
            starts.begin()
        starts.learn(x, value[t], 1.0)
    starts.keep(np.array([True, False, True]))
    for w, first in enumerate([0, 35]):
        for g, noise in enumerate(starts.noise):
            each = [posterior(gram.dense + level, noise, point[first:], column[first:]) for column in value.T]
            for x in (0, 17, 39):
                mean, variance = starts.predict(x)
                np.testing.assert_allclose(mean[g, w], [m[x] for m, _ in each], atol=1e-5)
                np.testing.assert_allclose(variance[g, w], each[0][1][x, x], atol=1e-6)


def test_factors_are_those_of_the_marginal_likelihoods():
    rng = np.random.default_rng(2)
    point, value = rng.integers(len(ARMS), size=24), rng.standard_normal(24)
    watch = Evidence(told(ROUGH, 0.5), horizon=None, step=6, false_alarm_rate=1e-9)
    watched(watch, point, value)
    whole = log_likelihood(ROUGH, 0.5, point, value)
    for s, factor in zip((6, 12, 18), watch.log_factors[1:], strict=True):
        parts = [log_likelihood(ROUGH, 0.5, point[part], value[part]) for part in (slice(s), slice(s, None))]
        assert factor == pytest.approx(sum(parts) - whole, abs=1e-6)


def test_several_noise_levels_are_one_model_that_averages_over_them():
    rng = np.random.default_rng(3)
    point, value = rng.integers(len(ARMS), size=12), rng.standard_normal(12)
    scales = (1.0, 3.0)
    watch = Evidence(told(ROUGH, 0.5), horizon=None, step=6, false_alarm_rate=1e-9, scales=scales)
    watched(watch, point, value)
    first, last = slice(6), slice(6, None)

    def each(*parts):
        logs = [
            sum(log_likelihood(ROUGH, 0.5 * scale, point[part], value[part]) for part in parts)
            for scale in scales
        ]
        return scipy.special.logsumexp(logs)

    assert watch.log_factors[1] == pytest.approx(each(first, last) - each(slice(None)), abs=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("horizon", [24, None])
def test_the_evidence_has_mean_one_without_a_change(horizon):
    rng, last = np.random.default_rng(4), []
    for _ in range(100):
        point = rng.integers(len(ARMS), size=24)
        value = functions(SMOOTH, rng)[0, point] + 2.0 * rng.standard_normal(24)
        watch = Evidence(told(noise=2.0), horizon=horizon, step=6, false_alarm_rate=1e-9)
        watched(watch, point, value)
        last.append(np.exp(watch.log_evidence))
    assert abs(np.mean(last) - 1.0) < 4.0 * np.std(last) / np.sqrt(len(last))  # four standard errors


@pytest.mark.long
@pytest.mark.parametrize("scales", [(1.0,), GIVEN_NOISE, UNKNOWN_NOISE])
def test_an_alarm_has_the_evidence_that_keeps_the_rate_at_each_noise_level(scales):
    """The rate of a noise that is drawn from G levels is a mean over them: each keeps G times that."""
    rng = np.random.default_rng(6)
    point = rng.integers(len(ARMS), size=80)  # noise of 1, so that evidence grows slowly
    value = functions(SMOOTH, rng)[0, point] * np.repeat([3, -3], 40) + rng.standard_normal(80)
    quiet = Evidence(told(noise=1.0), horizon=80, false_alarm_rate=1e-99, scales=scales)
    evidence = [
        (quiet.observe(t, x, value[t : t + 1], 1.0), quiet.log_evidence)[1] for t, x in enumerate(point)
    ]
    for rate in np.exp(-np.linspace(0.1, 5.0, 50)):
        watch = Evidence(told(noise=1.0), horizon=80, false_alarm_rate=rate, scales=scales)
        alarmed = watched(watch, point, value)[0]
        assert evidence[alarmed] >= np.log(len(scales) / rate)


def test_a_reversal_is_found_within_a_few_plays():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        point = rng.integers(len(ARMS), size=100)
        value = functions(SMOOTH, rng)[0, point] * np.repeat([1, -1], 50) + NOISE * rng.standard_normal(100)
        watch = Evidence(told(), horizon=100)
        assert 50 <= watched(watch, point, value)[0] <= 54


def test_reward_and_cost_together_are_found_no_later_than_the_reward_alone():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        point = rng.integers(len(ARMS), size=100)
        both = np.hstack([functions(SMOOTH, rng, 2)[:, point[:50]], functions(SMOOTH, rng, 2)[:, point[50:]]])
        value = both.T + 0.3 * rng.standard_normal((100, 2))
        together = watched(Evidence(told(noise=0.3, costs=1), horizon=100), point, value)
        alone = watched(Evidence(told(noise=0.3), horizon=100), point, value[:, :1])
        assert together[0] <= alone[0]


@pytest.mark.long
def test_noise_that_is_told_too_small_raises_alarms_at_that_level_alone():
    alone = {"noise_scales": (1.0,)}
    at_one = [alarms("evidence", (60,), seed, noise=2.5 * NOISE, options=alone) for seed in range(6)]
    at_several = [alarms("evidence", (60,), seed, noise=2.5 * NOISE) for seed in range(6)]
    assert sum(map(bool, at_several)) <= 1 < sum(map(bool, at_one))


def test_units_of_the_reward_change_no_alarm():
    rng = np.random.default_rng(5)
    point = rng.integers(len(ARMS), size=60)
    value = functions(SMOOTH, rng)[0, point] * np.repeat([1, -1], 30) + NOISE * rng.standard_normal(60)
    found = []
    for unit in (1e-3, 1.0, 1e3):
        kernel = unit**2 * SMOOTH
        found.append(watched(Evidence(told(kernel, unit * NOISE), horizon=60), point, unit * value))
    assert found[0] == found[1] == found[2] != []


def looks_in_order(name):
    """Whether a named restart can be made without options and looks at the values of any plays."""
    try:
        agent = agents.make("gp-agent", setting(may_change=True), restart=name)
    except ValueError:
        return False
    agent.reset(0)
    return isinstance(agent.restart, InOrder)


IN_ORDER = [name for name in RESTARTS if looks_in_order(name)]


def sample(seed, lengths):
    rng = np.random.default_rng(seed)
    point = rng.integers(len(ARMS), size=sum(lengths))
    each = np.repeat([functions(SMOOTH, rng)[0] for _ in lengths], lengths, axis=0)
    return point, each[np.arange(len(point)), point] + NOISE * rng.standard_normal(len(point))


def predictions(point, value, first=0):
    """Mean and variance of each value from those before it since the first, (n,) each."""
    each = []
    for t in range(first, len(point)):
        mean, covariance = posterior(dense(SMOOTH), NOISE**2, point[first:t], value[first:t])
        each.append((mean[point[t]], covariance[point[t], point[t]]))
    return np.array(each).T


@pytest.mark.parametrize("restart", IN_ORDER)
def test_a_change_to_another_function_is_found_and_no_earlier(restart):
    found = alarms(restart, (40, 40), 3)
    assert len(found) == 1
    assert 40 <= found[0] <= 50


@pytest.mark.parametrize("restart", IN_ORDER)
def test_late_values_are_waited_for(restart):
    found = alarms(restart, (40, 40), 3, max_delay=10)
    assert 40 <= found[0] <= 60


@pytest.mark.parametrize(("beyond", "alarms"), [(-1e-6, []), (1e-6, [29])])
def test_the_trigger_grows_with_the_square_of_the_number_of_values(beyond, alarms):
    point, value = sample(1, (30,))
    mean, variance = (each[-1] for each in predictions(point, value))
    r = 2.0 * np.log(2.0 * (np.pi**2 * 30.0**2 / 6.0) / 0.1)
    value[-1] = mean + (1.0 + beyond) * (np.sqrt(r * variance) + np.sqrt(r * NOISE**2))
    assert watched(EventTriggered(told(), false_alarm_rate=0.1), point, value) == alarms


def test_the_likelihood_ratio_is_that_of_two_means_against_one():
    point, value = sample(2, (25,))
    mean, variance = predictions(point, value)
    residual = (value - mean) / np.sqrt(variance + NOISE**2)
    watch = LikelihoodRatio(told(), false_alarm_rate=1e-6)
    assert not watched(watch, point, value)
    n = len(residual)
    for s in range(1, n):
        parts = [(s, residual[:s]), (n - s, residual[s:])]
        expected = sum(size * (part.mean() - residual.mean()) ** 2 / 2.0 for size, part in parts)
        assert watch.statistics[s - 1, 0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_an_alarm_is_raised_where_a_later_start_becomes_the_likeliest_by_bayes(seed):
    point, value = sample(seed, (6,) * 5)
    watch, segment = RunLengths(told(), segment=4.0), 4.0
    log, likeliest, before, alarms = np.zeros(1), 0, 0, []  # log p(start, values so far)
    densities = log_densities(point, value)
    for t, x in enumerate(point.tolist()):
        if t:
            change = np.logaddexp.reduce(log) - math.log(segment)
            log = np.append(log + math.log(1 - 1 / segment), change)
        log = log + densities[: t + 1, t]
        before, likeliest = likeliest, int(log.argmax())
        alarms.append(likeliest if likeliest > before else None)
        assert watch.observe(t, x, value[[t]], 1.0) == alarms[-1]
    assert len(set(alarms)) > 3


def log_densities(point, value):
    """log p(y_t | values from start s on), (n, n): rows are starts."""
    found = np.full((len(point), len(point)), np.nan)
    for s in range(len(point)):
        mean, variance = predictions(point, value, s)
        square = variance + NOISE**2
        found[s, s:] = -0.5 * np.log(2 * np.pi * square) - 0.5 * (value[s:] - mean) ** 2 / square
    return found


@pytest.mark.parametrize("segment", [0.5, 1.0, math.inf])
def test_a_segment_is_longer_than_a_round(segment):
    with pytest.raises(ValueError, match="segment"):
        agents.make("gp-agent", setting(), restart="bocpd", restart_options={"segment": segment})
