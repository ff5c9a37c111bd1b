"""Segments that come back: what is compared, what is promised, and what is learnt again."""

from functools import partial

import numpy as np
import pytest
import scipy.stats
from alarm_cases import ARMS, NOISE, SMOOTH, dense, functions, setting, told
from players import started
from restart_cases import EVERY, shown_to

import agents
from agents.acquisition.by_name import Always
from agents.acquisition.improvement import BestValue
from agents.acquisition.rules import UCB
from agents.agent.assembly import assemble
from agents.beliefs.censored import Censored
from agents.beliefs.delivered import Delivered
from agents.beliefs.imputed import Hallucinated
from agents.model.model import Model
from agents.objectives.first_plays import FirstPlays
from agents.posteriors import FORMS
from agents.restarts.base import Periodic
from agents.restarts.evidence import GIVEN_NOISE, UNKNOWN_NOISE, Archive, Candidate, Evidence, Seen
from agents.widths.base import FixedWidth
from bandit_envs import BanditEnv, Decisions, Problem
from bandit_envs.laws import GPSample, changes
from gpbandits import evaluate

DELTA = 0.1
RECURRING = {"law": "recurring", "num_segments": 4, "num_functions": 2}


def plays_of(function, rng, count, first=0, noise=NOISE):
    point = rng.integers(len(ARMS), size=count)
    value = np.atleast_2d(function)[:, point].T + noise * rng.standard_normal((count, 1))
    return [Seen(first + t, int(x), y, 1.0) for t, (x, y) in enumerate(zip(point, value, strict=True))]


def log_likelihood(plays, noise):
    point = [play.point for play in plays]
    value = np.concatenate([play.value for play in plays])
    covariance = dense(SMOOTH)[np.ix_(point, point)] + noise**2 * np.eye(len(point))
    return scipy.stats.multivariate_normal.logpdf(value, np.zeros(len(point)), covariance)


def archive(**options):
    watch = partial(Evidence, horizon=None)
    return Archive(told(), **{"make_watch": watch, "false_alarm_rate": DELTA, **options})


def filled(rng, *segments):
    """An archive of segments of the given functions, and the round that is next."""
    kept, now = archive(), 40 * len(segments)
    kept.segments = [plays_of(function, rng, 40, 40 * i) for i, function in enumerate(segments)]
    kept.end(now)
    return kept, now


@pytest.mark.parametrize("scales", [(1.0,), (0.7, 3.0)])
def test_factors_are_those_of_the_marginal_likelihoods(scales):
    rng = np.random.default_rng(0)
    old, new = (plays_of(function, rng, 12, noise=0.5) for function in functions(SMOOTH, rng, 2))
    candidate = Candidate(told(noise=0.5), scales, old)
    for play in new:
        candidate.observe(play)
    levels = [0.5 * scale for scale in scales]
    together = [log_likelihood(old + new, level) for level in levels]
    apart = [log_likelihood(old, level) + log_likelihood(new, level) for level in levels]
    expected = np.logaddexp.reduce(together) - np.logaddexp.reduce(apart)
    assert candidate.log_factor == pytest.approx(expected, abs=1e-6)


def test_the_plays_before_an_alarm_are_archived():
    rng, kept = np.random.default_rng(5), archive()
    for play in plays_of(functions(SMOOTH, rng)[0], rng, 30):
        assert not kept.observe(play)
    kept.end(20)
    assert [[play.round for play in plays] for plays in kept.segments] == [list(range(20))]


def test_a_function_that_returns_is_taken_over_within_a_few_plays():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        one, other = functions(SMOOTH, rng, 2)
        kept, now = filled(rng, one, other)
        found = [kept.observe(play) for play in plays_of(one, rng, 10, now)]
        assert any(found)
        np.testing.assert_array_equal(kept.rounds, np.arange(40))
        assert len(kept.segments) == 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize("scales", [(1.0,), GIVEN_NOISE, UNKNOWN_NOISE])
def test_a_segment_is_taken_over_by_the_factor_that_keeps_the_rate_at_each_noise_level(scales):
    """With A segments and G levels by A G / delta, and by nothing less."""
    rng = np.random.default_rng(8)
    one, other = functions(SMOOTH, rng, 2)
    old, new = plays_of(one, rng, 10), plays_of(one, rng, 10, 80)
    candidate = Candidate(told(), scales, old)
    factors = [(candidate.observe(play), candidate.log_factor)[1] for play in new]
    for rate in np.exp(-np.linspace(0.1, 5.0, 50)):
        kept = archive(scales=scales, false_alarm_rate=rate)
        kept.segments = [old, plays_of(other, rng, 10, 40)]
        kept.end(80)
        taken = [kept.observe(play) for play in new].index(True)
        assert factors[taken] >= np.log(2 * len(scales) / rate)


@pytest.mark.parametrize("same", [True, False])
def test_what_was_played_since_stays_with_what_was_taken_over_if_it_still_matches(same):
    rng = np.random.default_rng(2)
    one, other, third = functions(SMOOTH, rng, 3)
    kept, now = filled(rng, one, other)
    before = plays_of(one, rng, 10, now)
    assert any(kept.observe(play) for play in before)
    for play in plays_of(one if same else third, rng, 20, now):  # shown again, or what came instead
        assert not kept.observe(play)
    kept.end(now + 20)
    assert sorted(len(plays) for plays in kept.segments) == ([40, 60] if same else [20, 40, 40])
    assert not len(kept.rounds)


def test_a_watch_is_told_what_was_taken_over():
    rng = np.random.default_rng(3)
    one, other = functions(SMOOTH, rng, 2)
    kept, now = filled(rng, one, other)
    fresh = kept.watch()
    assert any(kept.observe(play) for play in plays_of(one, rng, 10, now))
    knowing, later = kept.watch(), plays_of(other, rng, 30)
    ages = [
        [t for t, play in enumerate(later) if watch.observe(t, play.point, play.value, 1.0) is not None]
        for watch in (fresh, knowing)
    ]
    assert not ages[0]  # for them nothing has changed
    assert ages[1]


class Recalling(Periodic):
    """Starts over, keeps the plays of the last rounds, and takes over some of the first ones."""

    @property
    def kept_from(self):
        return np.array([FIRST])

    @property
    def recalled(self):
        return [OLDER]


FIRST, OLDER, ROUNDS = 20, np.array([2, 3, 4, 9]), 33
BELIEFS = {"delivered": Delivered, "hallucinated": Hallucinated, "censored": partial(Censored, window=50)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("belief", BELIEFS)
def test_what_is_recalled_and_kept_is_all_that_is_known(belief, form):
    decisions = Decisions(np.linspace(0, 1, 30)[:, None], np.linspace(0, 1, 3)[:, None])
    env = BanditEnv(Problem(decisions, GPSample(), setting().kernel, horizon=60, changes=changes.Evenly(2)))
    model = Model.of(env.setting, form=form)
    make = partial(assemble, model, Always(UCB(FixedWidth(2.0))), belief=BELIEFS[belief], incumbent=BestValue)
    agent, fresh = make(restart=partial(Recalling, every=EVERY)), make()
    shown = shown_to(agent, env, ROUNDS)
    fresh.reset(3)
    for t, i in enumerate([*OLDER, *range(FIRST, ROUNDS)]):
        observation, action, info = shown[i]
        fresh.act(observation)
        fresh.update(observation, action, 0.0, {**info, "feedback_step": np.array([t])})
    for name in ("mean", "std"):
        mine, other = (getattr(each.belief, name)(np.array([1])) for each in (agent, fresh))
        np.testing.assert_allclose(mine, other, atol=1e-9)
    np.testing.assert_array_equal(agent.t, fresh.t)


def test_fits_look_at_what_is_recalled_too():
    decisions = Decisions(np.linspace(0, 1, 30)[:, None])
    env = BanditEnv(Problem(decisions, GPSample(), SMOOTH, horizon=60, changes=changes.Evenly(2)))
    model, rule = Model.of(env.setting, refit_every=10), Always(UCB(FixedWidth(2.0)))
    agent = assemble(model, rule, restart=partial(Recalling, every=EVERY))
    shown_to(agent, env, ROUNDS)
    point, _, _ = agent.assumptions.sample(agent)
    assert len(point) == len(OLDER) + ROUNDS - FIRST


@pytest.mark.long
def test_an_agent_plays_on_with_what_it_knew_of_a_function_that_is_back():
    keywords = {"num_arms": 50, "horizon": 200, "changes": RECURRING}
    specs = {name: ("gp-agent", {"restart": name}) for name in ("evidence", "evidence-archive")}
    result = evaluate("GPBandit-GP-v0", specs, trials=8, env_kwargs=keywords)
    one, other = (result.regret[name][:, -1].mean() for name in specs)
    assert other < one


def test_whoever_starts_over_from_outside_has_forgotten_the_archive():
    agent = started(agents.make("gp-agent", setting(may_change=True), restart="evidence-archive"))
    rng = np.random.default_rng(4)
    agent.restart.archives[0], _ = filled(rng, functions(SMOOTH, rng)[0])
    agent.forget(np.array([0]))
    assert not agent.restart.archives[0].segments


def test_older_plays_that_are_recalled_are_no_first_plays():
    first = FirstPlays(1, 1, 3)
    first.forget(np.zeros(1, dtype=int), 20)
    first.add(np.zeros(2, dtype=int), np.array([19, 20]), np.array([[1.0], [2.0]]))
    np.testing.assert_array_equal(first.values, [[[2.0, np.nan, np.nan]]])
