"""Every representation of a posterior equals the textbook formula, whatever is done to it."""

import numpy as np
import pytest
import references

from agents.posteriors import TABLES, posterior
from agents.posteriors.dense import DensePosterior
from agents.posteriors.factor import FactorPosterior
from agents.posteriors.select import best_form
from agents.posteriors.table import TablePosterior
from agents.posteriors.weight_space import KroneckerPosterior, WeightSpacePosterior
from bandit_envs.kernels.gram import DENSE_LIMIT, Gram
from bandit_envs.kernels.kernels import OnColumns, make_kernel

POINTS = np.linspace(0.0, 1.0, 40)[:, None]
NOISE = np.array([0.02, 0.5, 1e-4])  # (B,) differs from trial to trial

every_form = pytest.mark.parametrize("form", sorted(TABLES))
every_kernel = pytest.mark.parametrize("kernel", ["rbf", "matern52", "matern12"])


def make_gram(kernel: str, num_points: int = 40) -> Gram:
    return Gram(make_kernel(kernel, 0.2), np.linspace(0.0, 1.0, num_points)[:, None])


class Record:
    """The plays of each trial as they are now, for the formulas that want them one by one."""

    def __init__(self, num_trials: int):
        self.plays: list[list[list[float]]] = [[] for _ in range(num_trials)]  # [point, value]

    def observe(self, trial, point, value):
        for i, x, y in zip(trial, point, value, strict=True):
            self.plays[i].append([x, y])

    def correct(self, rng, size):
        """Change random earlier values by the size of their noise; the trials repeat."""
        trial = rng.choice([i for i, plays in enumerate(self.plays) if plays], size)
        point, change = np.empty(size, dtype=np.int64), rng.normal(size=size) * np.sqrt(NOISE[trial])
        for k, i in enumerate(trial):
            play = self.plays[i][rng.integers(len(self.plays[i]))]
            play[1] += change[k]
            point[k] = play[0]
        return trial, point, change

    def arrays(self, i):
        plays = np.array(self.plays[i]).reshape(-1, 2)
        return plays[:, 0].astype(np.int64), plays[:, 1]


def assert_equals_brute_force(model: TablePosterior, record: Record, atol: float = 1e-8) -> None:
    everything = np.arange(model.gram.size)
    for i, noise in enumerate(model.noise):
        point, value = record.arrays(i)
        mean, covariance = references.posterior(model.gram.dense, noise, point, value)
        columns = model.columns(np.full(model.gram.size, i), everything)
        np.testing.assert_allclose(model.mean[i], mean, atol=atol, rtol=0)
        np.testing.assert_allclose(model.variance[i], np.diag(covariance), atol=atol, rtol=0)
        np.testing.assert_allclose(columns, covariance, atol=atol, rtol=0)
        gain = references.information_gain(model.gram.dense, noise, point)
        np.testing.assert_allclose(model.gain[i], gain, atol=atol, rtol=1e-10)
        np.testing.assert_array_equal(model.count[i], np.bincount(point, minlength=model.gram.size))
        total = np.bincount(point, value, minlength=model.gram.size)
        np.testing.assert_allclose(model.total[i], total, atol=1e-12)


def random_play(
    model: TablePosterior, record: Record, rng: np.random.Generator, favourites: int = 12
) -> None:
    """One observation in each of some trials, mostly at a few points, as bandits do.

    The values are ones that the model expects: at lambda = 1e-4 values like white noise would need
    the prior to more digits than double precision has.
    """
    trial = np.flatnonzero(rng.random(len(model.noise)) < 0.8)
    point = rng.integers(favourites if rng.random() < 0.9 else model.gram.size, size=len(trial))
    value = np.sin(9.0 * POINTS[point, 0]) + np.sqrt(model.noise[trial]) * rng.normal(size=len(trial))
    model.observe(trial, point, value)
    record.observe(trial, point, value)


def restore(target, source, times=1):
    """Give a posterior what another has seen, or so many times as much."""
    for i in range(len(source.noise)):
        seen = source.statistics(i)
        target.condition_on(i, seen._replace(plays=times * seen.plays, total=times * seen.total))


@pytest.mark.sampled(4)
@every_form
@every_kernel
@pytest.mark.parametrize("seed", range(3))
def test_every_form_equals_brute_force_after_any_sequence(form, kernel, seed):
    rng = np.random.default_rng(seed)
    model, record = posterior(make_gram(kernel), NOISE, 3, 300, form), Record(3)
    for step in range(240):
        random_play(model, record, rng)
        if step % 7 == 3:
            model.correct(*record.correct(rng, 4))
        if step in (60, 150):
            model.reset(np.array([step // 60 - 1]))
            record.plays[step // 60 - 1] = []
        if step == 100:
            restore(model, model)
        if step % 40 == 0:
            assert_equals_brute_force(model, record)
    assert_equals_brute_force(model, record)


def played(form: str, kernel: str, noise, trials, steps: int = 90) -> TablePosterior:
    """A posterior on which each of the given trials has played by its own generator."""
    model = posterior(make_gram(kernel), noise, len(trials), steps, form)
    rngs = [np.random.default_rng(i) for i in trials]
    for _ in range(steps):
        point = np.array([3 * rng.integers(14) for rng in rngs])
        error = np.sqrt(model.noise) * np.array([rng.normal() for rng in rngs])
        model.observe(np.arange(len(trials)), point, np.sin(9.0 * POINTS[point, 0]) + error)
    return model


def assert_covariance(draws: np.ndarray, covariance: np.ndarray) -> None:
    """Within 4.5 standard errors of an empirical covariance, (n, N) and (N, N)."""
    variance = np.diag(covariance)
    error = np.sqrt((np.outer(variance, variance) + covariance**2) / len(draws))
    assert (np.abs(draws.T @ draws / len(draws) - covariance) < 4.5 * error).all()


@pytest.mark.sampled(2)
@every_form
@pytest.mark.parametrize("kernel", ["rbf", "matern52"])
def test_a_deviation_has_the_posterior_covariance(form, kernel):
    draws = 4_000
    model = played(form, kernel, 0.5, [0], steps=20)
    rng = np.random.default_rng(5)
    sample = np.array([model.centred_sample([rng])[0] for _ in range(draws)])
    covariance = model.columns(np.zeros(40, dtype=np.int64), np.arange(40))
    variance = np.diag(covariance)
    assert_covariance(sample, covariance)
    assert np.all(np.abs(sample.mean(axis=0)) < 4 * np.sqrt(variance / draws))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kernel", ["rbf", "matern52"])
@pytest.mark.parametrize("times", [1, 1000])  # plays as they were, or a checkpoint of far more
def test_all_forms_draw_the_same_deviation(kernel, times):
    samples = []
    for form in TABLES:
        model = played(form, kernel, np.array([1e-2, 1e-4, 1e-6]), [0, 1, 2], steps=300)
        if times > 1:
            restore(model, model, times)
        samples.append(model.centred_sample([np.random.default_rng(i) for i in range(3)]))
    for sample in samples[1:]:
        np.testing.assert_allclose(sample, samples[0], atol=1e-8)


@every_form
def test_an_unplayed_trial_deviates_like_the_prior(form):
    model = posterior(make_gram("rbf"), 0.02, 1, 10, form)
    prior = np.random.default_rng(3).standard_normal(len(model.gram.root)) @ model.gram.root
    np.testing.assert_allclose(model.centred_sample([np.random.default_rng(3)])[0], prior, atol=1e-12)


@every_form
@pytest.mark.parametrize("kernel", ["rbf", "matern52"])
def test_a_batch_of_trials_equals_single_trials(form, kernel):
    batch = played(form, kernel, NOISE, [0, 1, 2])
    deviation = batch.centred_sample([np.random.default_rng(i) for i in range(3)])
    for i in range(3):
        single = played(form, kernel, NOISE[i], [i])
        for name in ("mean", "variance", "gain", "count", "total"):
            np.testing.assert_allclose(
                getattr(batch, name)[i], getattr(single, name)[0], atol=1e-12, rtol=1e-12
            )
        np.testing.assert_allclose(
            deviation[i], single.centred_sample([np.random.default_rng(i)])[0], atol=1e-10
        )


def test_large_sets_do_without_the_whole_matrix():
    gram = Gram(make_kernel("matern52", 0.2), np.linspace(0.0, 1.0, DENSE_LIMIT + 1)[:, None])
    model = posterior(gram, 0.01, 1, 100, "factor")
    for point in np.random.default_rng(0).integers(20, size=(60, 1)) * 200:
        model.observe(np.zeros(1, dtype=np.int64), point, np.ones(1))
    assert "dense" not in vars(gram)
    assert np.isfinite(model.mean).all()


@pytest.mark.parametrize(
    ("kernel", "num_points", "num_trials", "horizon", "form"),
    [
        ("rbf", 100, 1, 10, WeightSpacePosterior),
        ("rbf", 1000, 1, 1000, WeightSpacePosterior),
        ("linear", 100, 25, 10_000, WeightSpacePosterior),
        ("matern52", 300, 25, 1000, DensePosterior),
        ("matern52", 500, 1, 30_000, DensePosterior),
        ("matern52", 500, 1, 100, FactorPosterior),
        ("matern52", 1000, 1, 1000, FactorPosterior),
        ("matern52", 500, 1000, 30_000, FactorPosterior),
    ],
)
def test_the_form_follows_rank_size_and_horizon(kernel, num_points, num_trials, horizon, form):
    assert isinstance(posterior(make_gram(kernel, num_points), 0.1, num_trials, horizon), form)


def grid_gram() -> Gram:
    """A product of two kernels of which one is not of low rank, on 9 x 7 points."""
    kernel = OnColumns(make_kernel("rbf", 0.3), [0]) * OnColumns(make_kernel("matern32", 0.4), [1])
    points = np.stack(np.meshgrid(np.linspace(0, 1, 9), np.linspace(0, 1, 7), indexing="ij"), axis=-1)
    return Gram(2.0 * kernel, points.reshape(-1, 2))


def play_on_grid(model: TablePosterior, steps: int) -> None:
    rng, trial = np.random.default_rng(0), np.arange(len(model.noise))
    truth = rng.standard_normal(len(model.gram.root)) @ model.gram.root
    for _ in range(steps):
        point = rng.integers(model.gram.size, size=len(trial)) // 4
        model.observe(trial, point, truth[point] + np.sqrt(model.noise) * rng.standard_normal(len(trial)))


def test_factors_of_a_grid_give_the_dense_posterior():
    kronecker, dense = (posterior(grid_gram(), NOISE, 3, 300, form) for form in ("kronecker", "dense"))
    assert len(kronecker.gram.kronecker.roots) == 2
    for model in (kronecker, dense):
        play_on_grid(model, 200)
    for i in range(2):  # after observing, then after restoring
        for name in ("mean", "variance", "gain"):
            np.testing.assert_allclose(getattr(kronecker, name), getattr(dense, name), atol=1e-9)
        everything = np.arange(63)
        columns = [model.columns(np.full(63, i), everything) for model in (kronecker, dense)]
        np.testing.assert_allclose(columns[0], columns[1], atol=1e-9)
        np.testing.assert_allclose(
            kronecker.weight_norm_at(None), dense.weight_norm_at(None), atol=1e-7, rtol=1e-7
        )
        restore(kronecker, kronecker)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("plays", [0, 30])
def test_samples_by_factors_have_the_posterior_covariance(plays):
    model = posterior(grid_gram(), 0.1, 1, 30, "kronecker")
    play_on_grid(model, plays)
    rngs = np.random.default_rng(0).spawn(3000)
    draws = np.array([model.centred_sample_at(None, [rng])[0] for rng in rngs])
    assert_covariance(draws, model.columns(np.zeros(63, dtype=np.int64), np.arange(63)))


def test_a_large_grid_of_a_product_kernel_is_played_by_its_factors():
    side = np.linspace(0.0, 1.0, 300)
    points = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    gram = Gram(make_kernel("rbf", 0.15), points)
    assert isinstance(posterior(gram, 0.1, 1, 1000), KroneckerPosterior)
    assert not {"dense", "root", "low_rank_root"} & vars(gram).keys()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("plays", [0, 20])
def test_samples_without_a_root_have_the_posterior_covariance(plays, monkeypatch):
    monkeypatch.setattr("bandit_envs.kernels.definite.SLOW", 10)
    for name, few in {"DENSE_LIMIT": 10, "TRIED": 10, "QUICK": 0.0}.items():
        monkeypatch.setattr(f"bandit_envs.kernels.gram.{name}", few)
    gram = Gram(make_kernel("matern32", 0.3), np.linspace(0, 1, 24)[:, None])
    model = posterior(gram, 0.1, 1, 30, "factor")
    for point in np.random.default_rng(0).integers(12, size=(plays, 1)):
        model.observe(np.zeros(1, dtype=np.int64), point, np.ones(1))
    rngs = np.random.default_rng(0).spawn(2000)
    draws = np.array([model.centred_sample_at(None, [rng])[0] for rng in rngs])
    assert_covariance(draws, model.columns(np.zeros(24, dtype=np.int64), np.arange(24)))
    assert not {"dense", "root"} & vars(model.gram).keys()


@pytest.mark.sampled(2)
@every_form
def test_asking_for_the_counts_each_round_changes_nothing(form):
    rng, trial = np.random.default_rng(2), np.arange(3)
    asked, silent = (posterior(make_gram("rbf"), NOISE, 3, 600, form) for _ in range(2))
    value = np.zeros(3)  # one array for all rounds, as a caller may reuse his
    for t in range(600):
        point, value[:] = rng.integers(40, size=3), rng.normal(size=3)
        for model in (asked, silent):
            model.observe(trial, point, value)
        assert asked.count.sum() == 3 * (t + 1)
    for name in ("mean", "gain", "count", "total"):
        np.testing.assert_array_equal(getattr(asked, name), getattr(silent, name))


def test_the_form_does_not_depend_on_the_batch_that_a_trial_is_in():
    gram = make_gram("matern52", 500)
    for horizon in (10, 100, 1000, 10_000):
        assert best_form(gram, 1, horizon) == best_form(gram, 64, horizon)


def test_an_unknown_form_is_an_error_that_names_the_choices():
    with pytest.raises(
        ValueError, match="'sparse'; choose one of dense, factor, kronecker, pairs, plays, weight-space"
    ):
        posterior(make_gram("rbf"), 0.1, 1, 10, "sparse")


@pytest.mark.parametrize("noise", [0.0, -1.0, np.nan, np.array([0.1, 0.0])])
def test_a_noise_variance_that_is_not_positive_is_an_error(noise):
    with pytest.raises(ValueError, match="noise must be positive, got"):
        posterior(make_gram("rbf"), noise, 2, 10)


@every_form
@pytest.mark.parametrize("plays", [3, 60])  # fewer and more than the weights of the prior
def test_samples_and_tables_do_not_depend_on_who_read_them_in_between(form, plays):
    rng = np.random.default_rng(5)
    read, unread = (posterior(make_gram("rbf"), 0.02, 1, 200, form) for _ in range(2))
    rngs = [[np.random.default_rng(6)] for _ in range(2)]
    for point, value in zip(rng.integers(15, size=(plays, 1)), rng.normal(size=(plays, 1)), strict=True):
        samples = [each.sample_at(None, own, 2.0) for each, own in zip((read, unread), rngs, strict=True)]
        np.testing.assert_allclose(*samples, atol=1e-10)
        for each in (read, unread):
            each.observe(np.zeros(1, dtype=np.int64), point, value)
        read.mean_at(None), read.variance_at(None)
    np.testing.assert_allclose(unread.mean_at(None), read.mean_at(None), atol=1e-10)
    np.testing.assert_allclose(unread.variance_at(None), read.variance_at(None), atol=1e-10)
