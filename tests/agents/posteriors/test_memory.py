"""The posteriors of the algorithms that forget equal a dense solve in every round."""

from functools import partial

import numpy as np
import pytest
import references
from sklearn.gaussian_process.kernels import RBF

from agents.beliefs.delivered import sliding_window
from agents.model.model import Model
from agents.posteriors import SufficientStatistics, posterior
from agents.posteriors.fading import Discounted, Drifting, LastCounts, LastPlays, Wandering
from agents.posteriors.memory import ForgettingPosterior
from bandit_envs import Setting
from bandit_envs.kernels.gram import DENSE_LIMIT, Gram
from bandit_envs.kernels.kernels import make_kernel

NOISE = np.array([0.02, 0.5, 1e-3])  # (B,) differs from trial to trial
WINDOW, DRIFT, DISCOUNT, RATE = 15, 0.06, 0.93, 0.04
MEMORIES = {
    "window": partial(LastPlays, window=WINDOW),
    "counted window": partial(LastCounts, window=WINDOW),
    "drift": partial(Drifting, eps=DRIFT),
    "discount": partial(Discounted, discount=DISCOUNT),
    "wandering": partial(Wandering, rate=RATE),
}
NEUTRAL = {
    "window": partial(LastPlays, window=10_000),
    "counted window": partial(LastCounts, window=10_000),
    "drift": partial(Drifting, eps=0.0),
    "discount": partial(Discounted, discount=1.0),
    "wandering": partial(Wandering, rate=0.0),
}
every_memory = pytest.mark.parametrize("name", MEMORIES)


def make_gram(num_points=30, kernel="matern52"):
    return Gram(make_kernel(kernel, 0.2), np.linspace(0.0, 1.0, num_points)[:, None])


def forgetting(name, gram, noise=NOISE):
    return ForgettingPosterior(gram, noise, [MEMORIES[name]] * len(np.atleast_1d(noise)))


class Plays:
    """Every play of one trial whose value has come, for the formulas."""

    def __init__(self, begun=-1):
        self.begun = begun  # rounds are counted from it
        self.point, self.round, self.value = [], [], []

    def add(self, point, round_, value):
        self.point.append(point)
        self.round.append(round_)
        self.value.append(value)

    def slow(self, name, gram, noise, now):
        """Mean, covariance and information gain for the round after `now` by the definition."""
        point, value = np.array(self.point, dtype=np.int64), np.array(self.value)
        age = now - np.array(self.round, dtype=np.int64)
        if name == "wandering":
            t = now - self.begun - age
            shared = (1.0 + RATE * np.minimum.outer(t, t)) * gram.dense[np.ix_(point, point)]
            gain = 0.5 * np.linalg.slogdet(np.eye(len(age)) + shared / noise)[1]
            following = now - self.begun + 1
            known = references.wandering_posterior(gram.dense, point, t, value, noise, RATE, following)
            return *known, gain
        if "window" in name:
            kept = age < WINDOW
            point, value, age = point[kept], value[kept], age[kept]
        variances = noise * DISCOUNT ** -age.astype(float) if name == "discount" else np.full(len(age), noise)
        decay = np.sqrt(1.0 - DRIFT) if name == "drift" else 1.0
        mean, covariance = references.aged_posterior(gram.dense, point, age, value, variances, decay)
        prior = decay ** np.abs(np.subtract.outer(age, age)) * gram.dense[np.ix_(point, point)]
        counted = variances**2 / noise if name == "discount" else variances  # of weighted noise (Deng)
        gain = 0.5 * np.linalg.slogdet(np.eye(len(age)) + prior / counted[:, None])[1]
        return mean, covariance, gain


def run(name, gram, rounds, max_delay, seed=0, reset_at=()):
    """Play at random with random delays; yield the posterior and the known plays after each round."""
    rng = np.random.default_rng(seed)
    model, known = forgetting(name, gram), [Plays() for _ in NOISE]
    truth = rng.standard_normal((len(NOISE), len(gram.root))) @ gram.root
    pending = []
    for now in range(rounds):
        model.advance()
        if now in reset_at:
            model.reset(np.array([1]))
            known[1] = Plays(now)
            pending = [each for each in pending if each[1] != 1]
        for i in range(len(NOISE)):
            x = int(rng.integers(gram.size))
            value = truth[i, x] + np.sqrt(NOISE[i]) * rng.standard_normal()
            pending.append((now + int(rng.integers(max_delay + 1)), i, now, x, value))
        due = sorted((each for each in pending if each[0] <= now), key=lambda each: each[1])
        pending = [each for each in pending if each[0] > now]
        trial, played, point = (np.array([each[k] for each in due], dtype=np.int64) for k in (1, 2, 3))
        value = np.array([each[4] for each in due])
        model.observe_aged(trial, point, value, now - played)
        for i, s, x, y in zip(trial, played, point, value, strict=True):
            known[i].add(x, s, y)
        yield now, model, known


def assert_equals_slow(name, gram, now, model, known, atol=1e-8):
    cells = np.tile(np.arange(3, gram.size, 4), (len(NOISE), 1))
    for i, noise in enumerate(NOISE):
        mean, covariance, gain = known[i].slow(name, gram, noise, now)
        variance = np.diag(covariance)
        np.testing.assert_allclose(model.mean_at(None)[i], mean, atol=atol, rtol=0)
        np.testing.assert_allclose(model.variance_at(None)[i], variance, atol=atol, rtol=0)
        np.testing.assert_allclose(model.mean_at(cells)[i], mean[cells[i]], atol=atol, rtol=0)
        np.testing.assert_allclose(model.variance_at(cells)[i], variance[cells[i]], atol=atol, rtol=0)
        np.testing.assert_allclose(model.gain[i], gain, atol=atol)
        one = np.array([i]), np.array([7])
        np.testing.assert_allclose(model.mean_of(*one), mean[[7]], atol=atol)
        np.testing.assert_allclose(model.variance_of(*one), variance[[7]], atol=atol)


@pytest.mark.sampled(1)
@every_memory
@pytest.mark.parametrize(("max_delay", "reset_at"), [(0, ()), (6, (11, 29)), (25, ())])
def test_a_forgetting_posterior_equals_the_dense_solve_in_every_round(name, max_delay, reset_at):
    gram = make_gram()
    for now, model, known in run(name, gram, 60, max_delay, reset_at=reset_at):
        assert_equals_slow(name, gram, now, model, known)


@pytest.mark.sampled(1)
@every_memory
def test_above_the_limit_of_the_table_the_posterior_is_the_same(name, monkeypatch):
    monkeypatch.setattr("agents.posteriors.play_rows.DENSE_LIMIT", 10)
    gram = make_gram()
    for now, model, known in run(name, gram, 40, 6):
        assert_equals_slow(name, gram, now, model, known)
    assert gram.size <= DENSE_LIMIT


@every_memory
def test_another_prior_learns_the_same_plays_with_their_ages(name):
    old, new = make_gram(), make_gram(kernel="rbf")
    for now, model, known in run(name, old, 30, 6):
        if now == 29:
            assert_equals_slow(name, new, now, model.under(new, NOISE), known)
            half = model.under(new, 2.0 * NOISE)
            mean, _, _ = known[0].slow(name, new, 2.0 * NOISE[0], now)
            np.testing.assert_allclose(half.mean_at(None)[0], mean, atol=1e-8)


@every_memory
def test_a_corrected_value_counts_as_if_it_had_come_so(name):
    gram, rng = make_gram(), np.random.default_rng(2)
    first, second = forgetting(name, gram), forgetting(name, gram)
    trial = np.arange(len(NOISE))
    point = np.array([rng.permutation(gram.size)[:12] for _ in NOISE]).T
    for x in point:
        value = rng.standard_normal(len(NOISE))
        for model in (first, second):
            model.advance()
            model.observe(trial, x, value + (model is second) * (x == point[4]))
    first.correct(trial, point[4], np.ones(len(NOISE)))
    np.testing.assert_allclose(first.mean_at(None), second.mean_at(None), atol=1e-10)
    np.testing.assert_allclose(first.variance_at(None), second.variance_at(None), atol=1e-12)


@every_memory
def test_an_adopted_tally_counts_as_plays_of_the_latest_round(name):
    gram = make_gram()
    *_, (_, model, _) = run(name, gram, 12, 0)
    adopted, plays = forgetting(name, gram), model.statistics(0)
    adopted.advance()
    adopted.condition_on(0, plays)
    statistics = adopted.statistics(0)
    np.testing.assert_array_equal(statistics.point, plays.point)
    np.testing.assert_allclose(statistics.plays, plays.plays, rtol=1e-12)
    np.testing.assert_allclose(statistics.total, plays.total, rtol=1e-12)
    np.testing.assert_array_equal(adopted.played(0), plays.point)
    np.testing.assert_array_equal(adopted.count_at(None)[0, plays.point], statistics.plays)
    assert len(adopted.statistics(1).point) == 0


@pytest.mark.parametrize("name", NEUTRAL)
def test_a_correction_of_one_of_several_plays_of_a_tally_counts_once(name):
    gram = make_gram()
    seen = SufficientStatistics(np.array([3, 7]), np.array([4.0, 2.0]), np.array([2.0, -1.0]))
    plain, model = posterior(gram, 0.1, 1, 10), ForgettingPosterior(gram, 0.1, [NEUTRAL[name]])
    model.advance()
    for each in (plain, model):
        each.condition_on(0, seen)
        each.correct(np.array([0]), np.array([3]), np.array([1.0]))
    np.testing.assert_allclose(model.statistics(0).total, [3.0, -1.0], rtol=1e-12)
    np.testing.assert_allclose(model.mean_at(None), plain.mean_at(None), atol=1e-10)


@pytest.mark.long
@every_memory
def test_samples_have_the_posteriors_covariance(name):
    gram = make_gram(8)
    *_, (now, model, known) = run(name, gram, 6, 0)
    rngs = [np.random.default_rng(i) for i in range(len(NOISE))]
    drawn = np.array([model.centred_sample_at(None, rngs)[0] for _ in range(2000)])
    _, covariance, _ = known[0].slow(name, gram, NOISE[0], now)
    error = 4.0 * np.sqrt(2.0 / len(drawn)) * np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert (np.abs(np.cov(drawn.T) - covariance) < error + 1e-9).all()
    cells = np.tile([1, 4, 6], (len(NOISE), 1))
    assert model.centred_sample_at(cells, rngs).shape == (len(NOISE), 3)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("rounds", [3_000, pytest.param(30_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("noise", [0.01, 1e-4])
def test_a_window_does_not_drift_over_many_rounds(noise, rounds):
    gram, rng, now = make_gram(40, "rbf"), np.random.default_rng(3), 0
    memory, plays = LastPlays(gram, noise, window=20), Plays()
    truth = rng.standard_normal(len(gram.root)) @ gram.root
    for now in range(rounds):
        x = int(rng.integers(gram.size))
        value = truth[x] + np.sqrt(noise) * rng.standard_normal()
        memory.advance()
        memory.observe(x, value, 0)
        plays.add(x, now, value)
    point, value = np.array(plays.point[-20:]), np.array(plays.value[-20:])
    mean, covariance = references.posterior(gram.dense, noise, point, value)
    np.testing.assert_allclose(memory.mean(None), mean, atol=1e-9)
    np.testing.assert_allclose(memory.variance(None), np.diag(covariance), atol=1e-10)


@pytest.mark.parametrize("make", [partial(Drifting, eps=0.3), partial(Discounted, discount=0.7)])
def test_what_has_faded_is_left_out_and_not_missed(make):
    gram, rng, noise = make_gram(), np.random.default_rng(4), 0.02
    memory, plays = make(gram, noise), Plays()
    for now in range(500):
        x, value = int(rng.integers(gram.size)), float(rng.standard_normal())
        memory.advance()
        memory.observe(x, value, 0)
        plays.add(x, now, value)
    assert memory.statistics.plays.sum() < 330  # of 500: 155 that count, others wait to be left out
    age = 499 - np.array(plays.round)
    faded = noise * 0.7 ** -np.minimum(age, 80.0) if isinstance(memory, Discounted) else np.full(500, noise)
    decay = 1.0 if isinstance(memory, Discounted) else np.sqrt(0.7)
    point, value = np.array(plays.point), np.array(plays.value)
    mean, covariance = references.aged_posterior(gram.dense, point, age, value, faded, decay)
    np.testing.assert_allclose(memory.mean(None), mean, atol=1e-9)
    np.testing.assert_allclose(memory.variance(None), np.diag(covariance), atol=1e-9)


@pytest.mark.parametrize(("num_points", "window", "form"), [(20, 60, LastCounts), (20, 15, LastPlays)])
def test_a_window_that_is_longer_than_there_are_points_is_counted(num_points, window, form):
    setting = Setting(arms=np.linspace(0.0, 1.0, num_points)[:, None], horizon=100, kernel=RBF(0.2))
    belief = sliding_window(Model.of(setting), 1, window=window)
    assert isinstance(belief.mean_posterior, ForgettingPosterior)
    assert type(belief.mean_posterior._trial[0]) is form
