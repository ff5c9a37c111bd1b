"""|a_x| of every posterior is the norm of the weights that the textbook formula gives the observations."""

from functools import partial

import numpy as np
import pytest

from agents.beliefs.surface import Surface
from agents.posteriors import FORMS, posterior
from agents.posteriors.fading import Discounted, Drifting, LastCounts, LastPlays
from agents.posteriors.memory import ForgettingPosterior
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel

POINTS = np.linspace(0.0, 1.0, 30)[:, None]
NOISE = np.array([0.02, 0.5])  # (B,)
ROUNDS = 60
GRAM = Gram(make_kernel("matern52", 0.2), POINTS)
MEMORIES = {
    "sliding window": partial(LastPlays, window=25),
    "counted window": partial(LastCounts, window=25),
    "drift": partial(Drifting, eps=0.05),
    "discount": partial(Discounted, discount=0.9),
}
CELLS = np.array([[0, 3, 7, 29], [1, 3, 8, 20]])
every_form = pytest.mark.parametrize("form", sorted(FORMS))


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
    np.testing.assert_allclose(surface.weight_norm(POINTS), model.weight_norm_at(None)[1], atol=1e-8)


@every_form
def test_it_stays_when_another_posterior_takes_over(form):
    model, heir = (posterior(GRAM, NOISE, 2, ROUNDS, form) for _ in range(2))
    learnt(model)
    for i in range(2):
        heir.condition_on(i, model.statistics(i))
    np.testing.assert_allclose(heir.weight_norm_at(None), model.weight_norm_at(None), atol=1e-9)
