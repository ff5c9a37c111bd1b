"""Batches wait for what they played, as long as the law of delays says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from agents.restarts.base import SubExponential, growing_lengths, quantile_wait
from bandit_envs import Setting
from bandit_envs.laws.delays import LAWS, PoissonDelay

MEANS = [0.0, 0.5, 10.0, 56.0, 100.0, 1000.0]
LATE = 0.01


def setting(law: str) -> Setting:
    return Setting(arms=np.linspace(0, 1, 5)[:, None], horizon=5000, delay=LAWS[law]())


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("t", [1, 40, 1000, 10**6])
def test_poisson_delays_seldom_outlast_the_tail_bound(mean, t):
    extra = SubExponential.of_poisson(mean, LATE)(t)
    assert stats.poisson(mean).sf(extra) <= 2.0 * LATE / (3.0 * t)


def test_delays_of_exponential_tails_seldom_outlast_the_tail_bound():
    """An exponential delay of mean b has xi = 2 b sqrt(log(4 / e)) up to s = 1 / (2 b)."""
    b, t = 10.0, 1000
    extra = SubExponential(b, 2.0 * b * math.sqrt(math.log(4.0 / math.e)), 2.0 * b, LATE)(t)
    assert stats.expon(scale=b).sf(extra) <= 2.0 * LATE / (3.0 * t)
    assert extra == math.ceil(b + 4.0 * b * math.log(1.5 * t / LATE))  # its second term decides


@pytest.mark.parametrize("mean", [mean for mean in MEANS if 0 < mean <= 56])
def test_the_scale_of_the_papers_study_serves_means_up_to_56(mean):
    ours, paper = SubExponential.of_poisson(mean, LATE), SubExponential(mean, 9.0, 1.0, LATE)
    assert ours(1000) <= paper(1000)


def test_the_smaller_part_of_the_tail_bound_is_not_enough():
    nats = math.log(3.0 * 32 / (2.0 * LATE))
    smaller = math.ceil(100.0 + min(9.0 * math.sqrt(2.0 * nats), 2.0 * nats))
    assert smaller == 117
    assert stats.poisson(100.0).sf(smaller) == pytest.approx(0.043, abs=5e-4)
    assert 2.0 * LATE / (3.0 * 32) < 2.1e-4


@pytest.mark.parametrize("law", LAWS)
def test_a_published_law_says_how_long_is_long_enough(law):
    published, t = setting(law), 100
    extra, share = quantile_wait(published, LATE, t), 2.0 * LATE / (3.0 * t)
    assert published.delay is not None
    drawn = published.delay.draw(200_000, np.random.default_rng(0))
    waits = published.delay.wait(drawn, np.ones(200_000), np.ones(200_000))
    rounds = published.delay.in_rounds(waits)
    late = (rounds > extra).mean()
    assert late <= share + 4.0 * math.sqrt(share / 200_000) or extra == published.horizon - 1


@pytest.mark.parametrize("mean", MEANS[1:])
def test_quantiles_never_wait_longer_than_a_tail_bound(mean):
    published = Setting(arms=np.eye(2), horizon=5000, delay=PoissonDelay(mean))
    assert quantile_wait(published, LATE, 100) <= SubExponential.of_poisson(mean, LATE)(100)


def test_every_batch_is_longer_by_what_its_end_without_it_says():
    ends = []

    def extra(t: int) -> int:
        ends.append(t)
        return 7

    lengths = growing_lengths(1000, extra)
    assert lengths == [32 + 7, 179 + 7, 424 + 7, 1000 - 656]
    assert ends == [32, 39 + 179, 39 + 186 + 424, 656 + 652]
    assert growing_lengths(1000, lambda t: 0) == growing_lengths(1000)
