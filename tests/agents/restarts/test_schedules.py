"""Rounds that are planned: forced exploration, and batches that wait."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from agents.restarts.base import SubExponential, growing_lengths, quantile_wait
from agents.restarts.on_alarm import ForcedExploration, uniform_rounds
from bandit_envs import Setting
from bandit_envs.laws.delays import LAWS, PoissonDelay


def letters(schedule, rounds):
    return ["".join(row) for row in np.where([schedule.advance() for _ in range(rounds)], "U", "G").T]


def test_the_first_rounds_are_the_papers():
    assert letters(ForcedExploration(2), 10) == ["UUUUGGUGGU"] * 2


@pytest.mark.parametrize("xi_squared", [0, 1, 3, 0.25, 7])
def test_every_round_is_uniform_exactly_where_the_inequality_holds(xi_squared):
    schedule, uniform = ForcedExploration(1, xi_squared), 0
    for history in range(5000):
        assert schedule.due[0] == (uniform**2 <= xi_squared * history)
        uniform += int(schedule.advance()[0])
    assert uniform == uniform_rounds(5000, xi_squared)
    assert abs(uniform - math.sqrt(xi_squared * 5000)) <= 1.0


def test_ties_are_uniform_for_every_count():
    # At |history| = 3 k^2 and |uniform| = 3 k both sides are 9 k^2; a rounded sqrt(3) decides some otherwise.
    schedule = ForcedExploration(1)
    for k in range(1, 2000):
        schedule.explored[:], schedule.played[:] = 3 * k, 3 * k**2
        assert schedule.due[0]
        schedule.played[:] -= 1
        assert not schedule.due[0]


def test_a_restarted_trial_begins_again_and_the_others_go_on():
    schedule = ForcedExploration(3)
    letters(schedule, 5)
    schedule.restart(np.array([0, 2]))
    assert letters(schedule, 5) == ["UUUUG", "GUGGU", "UUUUG"]


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


def test_every_batch_is_longer_by_what_its_end_without_it_says():
    ends = []

    def extra(t: int) -> int:
        ends.append(t)
        return 7

    lengths = growing_lengths(1000, extra)
    assert lengths == [32 + 7, 179 + 7, 424 + 7, 1000 - 656]
    assert ends == [32, 39 + 179, 39 + 186 + 424, 656 + 652]
    assert growing_lengths(1000, lambda t: 0) == growing_lengths(1000)


@pytest.mark.parametrize("xi_squared", [-1, math.nan, math.inf, "3", True])
def test_a_wrong_xi_is_named(xi_squared):
    with pytest.raises(ValueError, match="xi_squared"):
        ForcedExploration(1, xi_squared)


def test_the_smaller_part_of_the_tail_bound_is_not_enough():
    nats = math.log(3.0 * 32 / (2.0 * LATE))
    smaller = math.ceil(100.0 + min(9.0 * math.sqrt(2.0 * nats), 2.0 * nats))
    assert smaller == 117
    assert stats.poisson(100.0).sf(smaller) == pytest.approx(0.043, abs=5e-4)
    assert 2.0 * LATE / (3.0 * 32) < 2.1e-4


@pytest.mark.parametrize("mean", MEANS[1:])
def test_quantiles_never_wait_longer_than_a_tail_bound(mean):
    published = Setting(arms=np.eye(2), horizon=5000, delay=PoissonDelay(mean))
    assert quantile_wait(published, LATE, 100) <= SubExponential.of_poisson(mean, LATE)(100)
