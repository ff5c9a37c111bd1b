"""After many rounds at little noise every form still is the posterior, next to a solution in long doubles."""

from __future__ import annotations

import numpy as np
import pytest
import references

from agents.posteriors import FORMS, posterior
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel

NOISE, POINTS = 1e-6, 24
every_form = pytest.mark.parametrize("form", sorted(FORMS))
every_kernel = pytest.mark.parametrize("kernel", ["rbf", "matern52", "matern12"])


def furthest(form: str, kernel: str, rounds: int) -> float:
    """How far mean and variance are from exact after so many plays, most of them of a few points."""
    gram = Gram(make_kernel(kernel, 0.2), np.linspace(0.0, 1.0, POINTS)[:, None])
    rng, trial = np.random.default_rng(0), np.zeros(1, dtype=np.int64)
    point = (POINTS * rng.random(rounds) ** 3).astype(np.int64)
    value = np.sin(7.0 * gram.points[point, 0]) + NOISE**0.5 * rng.standard_normal(rounds)
    model = posterior(gram, NOISE, 1, rounds, form)
    for x, y in zip(point, value, strict=True):
        model.observe(trial, np.array([x]), np.array([y]))
    count, total = np.bincount(point, minlength=POINTS), np.bincount(point, value, POINTS)
    mean, variance = references.exact_posterior(gram.dense, NOISE, count, total)
    errors = model.mean_at(None)[0] - mean, model.variance_at(None)[0] - variance
    return float(max(np.abs(error).max() for error in errors))


@every_form
@every_kernel
def test_a_form_is_exact_after_many_rounds_at_little_noise(form, kernel):
    assert furthest(form, kernel, 1000) < 1e-9


@pytest.mark.long
@every_form
@every_kernel
def test_a_form_is_exact_after_thirty_thousand_rounds_at_little_noise(form, kernel):
    assert furthest(form, kernel, 30_000) < 1e-9
