"""Forms of one posterior: draws, played points, exactness at little noise, covariances and |a_x|."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import references

from agents.beliefs.surface import Surface
from agents.posteriors import FORMS, TABLES, posterior
from agents.posteriors.factor import PriorDraw
from agents.posteriors.fading import Discounted, Drifting, LastCounts, LastPlays
from agents.posteriors.memory import ForgettingPosterior
from agents.posteriors.pairs import PairPosterior
from agents.posteriors.play_counts import LONGEST, PlayCounts
from agents.posteriors.sketched import SketchedPosterior
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel


@pytest.mark.parametrize("name", ["rbf", "matern32", "matern52"])
def test_a_draw_is_the_product_of_its_numbers_with_the_root(name):
    gram = Gram(make_kernel(name, 0.2), np.linspace(0.0, 1.0, 90)[:, None])
    weight = np.random.default_rng(0).standard_normal(len(gram.root))
    np.testing.assert_allclose(PriorDraw(gram)(weight), weight @ gram.root, atol=1e-13)


def test_played_points_are_those_with_a_count_however_plays_are_written():
    trials, points, rng = 3, 20, np.random.default_rng(0)
    journal, count = PlayCounts(np.ones(trials), points), np.zeros((trials, points))
    for step in range(2 * LONGEST):
        trial = np.arange(trials) if step % 3 else np.array([rng.integers(trials)])
        point = rng.integers(min(points, 2 + step // 20), size=len(trial))
        if len(trial) == 1:
            journal.write_one(trial.item(), point.item(), 0.5, 1.5)
        else:
            journal.write(trial * points + point, np.ones(trials), np.ones(trials))
        count[trial, point] += 1.0
        if step == 3 or step % 7 == 0 or step > LONGEST + 20:  # the last ones are added up by themselves
            asked = rng.integers(trials)
            np.testing.assert_array_equal(journal.played(asked), count[asked].nonzero()[0])
    np.testing.assert_array_equal(journal.count, count)


LITTLE_NOISE, LINE = 1e-6, 24
every_form = pytest.mark.parametrize("form", sorted(FORMS))
every_kernel = pytest.mark.parametrize("kernel", ["rbf", "matern52", "matern12"])


def furthest(form: str, kernel: str, rounds: int) -> float:
    """How far mean and variance are from exact after so many plays, most of them of a few points."""
    gram = Gram(make_kernel(kernel, 0.2), np.linspace(0.0, 1.0, LINE)[:, None])
    rng, trial = np.random.default_rng(0), np.zeros(1, dtype=np.int64)
    point = (LINE * rng.random(rounds) ** 3).astype(np.int64)
    value = np.sin(7.0 * gram.points[point, 0]) + LITTLE_NOISE**0.5 * rng.standard_normal(rounds)
    model = posterior(gram, LITTLE_NOISE, 1, rounds, form)
    for x, y in zip(point, value, strict=True):
        model.observe(trial, np.array([x]), np.array([y]))
    count, total = np.bincount(point, minlength=LINE), np.bincount(point, value, LINE)
    mean, variance = references.exact_posterior(gram.dense, LITTLE_NOISE, count, total)
    errors = model.mean_at(None)[0] - mean, model.variance_at(None)[0] - variance
    return float(max(np.abs(error).max() for error in errors))


@every_form
@every_kernel
@pytest.mark.parametrize(
    ("rounds", "error"), [(1000, 1e-9), pytest.param(30_000, 1e-8, marks=pytest.mark.long)]
)
def test_a_form_is_exact_after_many_rounds_at_little_noise(form, kernel, rounds, error):
    assert furthest(form, kernel, rounds) < error


GRAM = Gram(make_kernel("matern52", 0.2), np.linspace(0.0, 1.0, 30)[:, None])
NOISE_OF_PLAYS = 0.05
COVERED: dict[str, Any] = {
    **TABLES,
    "pairs": PairPosterior,
    "sketched": SketchedPosterior,
    "forgetting": lambda gram, noise, trials: ForgettingPosterior(
        gram, noise, [partial(Discounted, discount=1.0)] * trials
    ),
}


@pytest.mark.parametrize("form", COVERED)
def test_the_covariance_is_that_of_the_textbook(form):
    rng = np.random.default_rng(0)
    model, played = COVERED[form](GRAM, NOISE_OF_PLAYS, 2), rng.integers(30, size=(12, 2))
    for point in played:
        model.observe(np.arange(2), point, rng.standard_normal(2))
    for i in range(2):
        if form == "sketched":  # exact where every play is in the dictionary
            model.condition_on(i, model.statistics(i))
        point, other = np.array([0, 7, 7, 29]), np.array([3, 7, 12])
        K, X = GRAM.between(np.arange(30), np.arange(30)), played[:, i]
        expected = K - K[:, X] @ np.linalg.solve(K[np.ix_(X, X)] + NOISE_OF_PLAYS * np.eye(12), K[X])
        found = model.covariance(i, point, other)
        np.testing.assert_allclose(found, expected[np.ix_(point, other)], rtol=0, atol=1e-8)
        np.testing.assert_allclose(
            np.diag(model.covariance(i, point, point)), model.variance_of(np.full(4, i), point), atol=1e-8
        )


# --- |a_x|, the norm of the weights that the textbook formula gives the observations ---

NOISE = np.array([0.02, 0.5])  # (B,)
ROUNDS = 60
MEMORIES = {
    "sliding window": partial(LastPlays, window=25),
    "counted window": partial(LastCounts, window=25),
    "drift": partial(Drifting, eps=0.05),
    "discount": partial(Discounted, discount=0.9),
}
CELLS = np.array([[0, 3, 7, 29], [1, 3, 8, 20]])


def plays():
    """Points of every round in both trials, few of them, so that they repeat, and their values."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 30, (ROUNDS, 2)) // 3 * 3, rng.normal(size=(ROUNDS, 2))


def weights(point, noise):
    """a_x of all points, (t, N), one weight an observation."""
    covariance = GRAM.dense[np.ix_(point, point)] + noise * np.eye(len(point))
    return np.linalg.solve(covariance, GRAM.dense[point])


def learnt(model, rounds=ROUNDS):
    point, value = plays()
    for x, y in zip(point[:rounds], value[:rounds], strict=True):
        if isinstance(model, ForgettingPosterior):
            model.advance()
        model.observe(np.arange(2), x, y)
    return model


@every_form
@pytest.mark.parametrize("rounds", [0, 1, 40, ROUNDS])  # the factors merge their rows in between
def test_it_is_the_norm_of_one_weight_an_observation(form, rounds):
    model = learnt(posterior(GRAM, NOISE, 2, ROUNDS, form), rounds)
    found, some = model.weight_norm_at(None), model.weight_norm_at(CELLS)
    for i, noise in enumerate(NOISE):
        point, value = (each[:rounds, i] for each in plays())
        each = weights(point, noise)
        np.testing.assert_allclose(model.mean_at(None)[i], value @ each, atol=1e-9)  # they are the weights
        np.testing.assert_allclose(found[i], np.linalg.norm(each, axis=0), atol=1e-9)
        np.testing.assert_allclose(some[i], found[i, CELLS[i]], atol=1e-12)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("memory", MEMORIES)
def test_where_plays_are_forgotten_it_is_the_norm_of_how_the_mean_changes_with_each_value(memory):
    point, _ = plays()
    found = learnt(ForgettingPosterior(GRAM, NOISE, [MEMORIES[memory]] * 2)).weight_norm_at(None)
    slopes = np.zeros((ROUNDS, *found.shape))
    for t in range(ROUNDS):  # the mean is linear in the values: that of one value alone is its weight
        alone = ForgettingPosterior(GRAM, NOISE, [MEMORIES[memory]] * 2)
        for s in range(ROUNDS):
            alone.advance()
            alone.observe(np.arange(2), point[s], np.full(2, float(s == t)))
        slopes[t] = alone.mean_at(None)
    np.testing.assert_allclose(found, np.linalg.norm(slopes, axis=0), atol=1e-8)


@pytest.mark.parametrize("memory", [None, *MEMORIES])
def test_on_a_box_it_is_that_of_the_points(memory):
    model = (
        posterior(GRAM, NOISE, 2, ROUNDS, "pairs")
        if memory is None
        else ForgettingPosterior(GRAM, NOISE, [MEMORIES[memory]] * 2)
    )
    factor = learnt(model).factor(1)
    surface = Surface(GRAM.kernel, factor, factor, 0.0)
    np.testing.assert_allclose(surface.weight_norm(GRAM.points), model.weight_norm_at(None)[1], atol=1e-8)
