"""Alarms that look at values in the order of play: their formulas, and what all of them have in common."""

import math

import numpy as np
import pytest
from alarm_cases import ARMS, NOISE, SMOOTH, alarms, dense, functions, setting, told, watched
from references import posterior

import agents
from agents.restarts.alarms import EventTriggered, LikelihoodRatio, RunLengths
from agents.restarts.by_name import RESTARTS
from agents.restarts.on_alarm import InOrder


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


def test_the_trigger_is_the_papers():
    point, value = sample(1, (30, 30))
    mean, variance = predictions(point, value)
    n = 1.0 + np.arange(len(point))
    r = 2.0 * np.log(2.0 * (np.pi**2 * n**2 / 6.0) / 0.1)
    outside = np.abs(value - mean) > np.sqrt(r * variance) + np.sqrt(r * NOISE**2)
    (first, *_) = np.flatnonzero(outside)
    assert watched(EventTriggered(told(), false_alarm_rate=0.1), point, value)[0] == first


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
