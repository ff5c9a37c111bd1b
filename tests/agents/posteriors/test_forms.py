"""Forms of one posterior: draws, played points, exactness at little noise, and the whole covariance."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import references
from sklearn.gaussian_process.kernels import RBF

from agents.posteriors import FORMS, TABLES, posterior
from agents.posteriors.factor import PriorDraw
from agents.posteriors.fading import Discounted
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


TRIALS, POINTS = 3, 20


def test_played_points_are_those_with_a_count_however_plays_are_written():
    rng, journal = np.random.default_rng(0), PlayCounts(np.ones(TRIALS), POINTS)
    count = np.zeros((TRIALS, POINTS))
    for step in range(2 * LONGEST):
        trial = np.arange(TRIALS) if step % 3 else np.array([rng.integers(TRIALS)])
        point = rng.integers(min(POINTS, 2 + step // 20), size=len(trial))
        if len(trial) == 1:
            journal.write_one(trial.item(), point.item(), 0.5, 1.5)
        else:
            journal.write(trial * POINTS + point, np.ones(TRIALS), np.ones(TRIALS))
        count[trial, point] += 1.0
        if step == 3 or step % 7 == 0 or step > LONGEST + 20:  # the last ones are added up by themselves
            asked = rng.integers(TRIALS)
            np.testing.assert_array_equal(journal.played(asked), count[asked].nonzero()[0])
    np.testing.assert_array_equal(journal.count, count)


NOISE = 0.1
SKETCHED = np.linspace(0.0, 1.0, 12)[:, None]
PLAYS = np.array([3, 3, 7, 0, 11, 7, 5])


def test_the_gain_of_plays_is_half_the_log_determinant_and_the_posterior_is_the_dense_one():
    kernel, values = RBF(0.2), np.sin(7.0 * PLAYS)
    posterior, rng = SketchedPosterior(Gram(kernel, SKETCHED), NOISE, 1), np.random.default_rng(0)
    for point, value in zip(PLAYS, values, strict=True):
        posterior.play(np.array([point]))
        posterior.observe(np.array([0]), np.array([point]), np.array([value]))
        posterior.renew(0, np.ones(len(SKETCHED)), rng)
    noisy = kernel(SKETCHED[PLAYS]) + NOISE * np.eye(len(PLAYS))
    gain = 0.5 * np.linalg.slogdet(noisy / NOISE)[1]
    np.testing.assert_allclose(posterior.gain, [gain], rtol=1e-6)
    cross = kernel(SKETCHED, SKETCHED[PLAYS])
    np.testing.assert_allclose(posterior.mean_at(None)[0], cross @ np.linalg.solve(noisy, values), atol=1e-6)
    variance = 1.0 - np.einsum("ij,ji->i", cross, np.linalg.solve(noisy, cross.T))
    np.testing.assert_allclose(posterior.variance_at(None)[0], variance, atol=1e-6)


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
FORMS: dict[str, Any] = {
    **TABLES,
    "pairs": PairPosterior,
    "sketched": SketchedPosterior,
    "forgetting": lambda gram, noise, trials: ForgettingPosterior(
        gram, noise, [partial(Discounted, discount=1.0)] * trials
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_covariance_is_that_of_the_textbook(form):
    rng = np.random.default_rng(0)
    model, played = FORMS[form](GRAM, NOISE_OF_PLAYS, 2), rng.integers(30, size=(12, 2))
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
