"""Bands for plays that look at no value: the worst function, the noise, and how often they fail."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import binomtest

from agents.posteriors import posterior
from agents.widths.bounded_norm import PlainBand, SplitBand
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel

GRAM = Gram(make_kernel("matern52", 0.2), np.linspace(0, 1, 50)[:, None])
NOISE, BOUND, DELTA, LAMBDA = 0.3, 1.5, 0.1, 0.05
BANDS = [SplitBand, PlainBand]


class Design(NamedTuple):
    """What plays chosen beforehand say of every point."""

    played: Any  # (n,)
    weights: Any  # (n, N) a_x
    std: Any  # (1, N)
    weight_norm: Any  # (1, N)


@pytest.fixture(scope="module")
def design() -> Design:
    played = np.random.default_rng(0).integers(50, size=60)
    knows = posterior(GRAM, LAMBDA, 1, 60)
    for x in played:
        knows.observe(np.zeros(1, dtype=np.int64), np.array([x]), np.zeros(1))
    among = GRAM.dense[np.ix_(played, played)] + LAMBDA * np.eye(60)
    weights = np.linalg.solve(among, GRAM.dense[played])
    std = np.sqrt(np.maximum(knows.variance_at(None), 0.0))
    return Design(played, weights, std, knows.weight_norm_at(None))


def test_the_posterior_offers_the_norm_of_the_weights(design):
    np.testing.assert_allclose(design.weight_norm[0], np.linalg.norm(design.weights, axis=0), rtol=1e-8)


def test_the_bias_of_the_worst_function_is_what_is_left_of_the_variance(design):
    played, weights = design.played, design.weights
    k = GRAM.dense
    bias = (
        np.diag(k)
        - 2.0 * np.einsum("px,px->x", k[played], weights)
        + np.einsum("px,pq,qx->x", weights, k[np.ix_(played, played)], weights)
    )
    np.testing.assert_allclose(bias, design.std[0] ** 2 - LAMBDA * design.weight_norm[0] ** 2, atol=1e-12)


def test_the_split_band_is_the_formula_and_never_wider_than_the_plain_one(design):
    split, plain = (kind(BOUND, NOISE, LAMBDA, DELTA, 150)(design.std, design.weight_norm) for kind in BANDS)
    quantile = np.sqrt(2.0 * np.log(2.0 * 150 / DELTA))
    bias = np.sqrt(np.maximum(design.std**2 - LAMBDA * design.weight_norm**2, 0.0))
    np.testing.assert_allclose(split, BOUND * bias + NOISE * design.weight_norm * quantile, rtol=1e-12)
    np.testing.assert_allclose(plain, (BOUND + NOISE / np.sqrt(LAMBDA) * quantile) * design.std, rtol=1e-12)
    assert np.all(split <= plain * (1.0 + 1e-12))
    assert np.mean(split / plain) < 0.9


def failures(design: Design, band: Any, trials: int = 3000) -> Any:
    """Of noise alone, for the function of norm B that is worst at the first point."""
    rng = np.random.default_rng(1)
    alpha = np.eye(50)[0] - np.bincount(design.played, design.weights[:, 0], minlength=50)
    f = BOUND * GRAM.dense @ alpha / np.sqrt(alpha @ GRAM.dense @ alpha)
    noise = NOISE * rng.standard_normal((trials, len(design.played)))
    mean = (f[design.played] + noise) @ design.weights
    missed = np.abs(mean - f) > band(design.std, design.weight_norm)
    return binomtest(int(missed.any(axis=1).sum()), trials).proportion_ci(0.999)


@pytest.mark.parametrize("kind", BANDS)
def test_the_band_contains_the_function_as_often_as_promised(kind, design):
    assert failures(design, kind(BOUND, NOISE, LAMBDA, DELTA, 50)).low <= DELTA


def test_every_trial_may_have_its_own_numbers(design):
    bound, noise, level = np.array([1.0, 2.0]), np.array([0.1, 0.4]), np.array([0.1, 0.01])
    std, norm = np.tile(design.std, (2, 1)), np.tile(design.weight_norm, (2, 1))
    for kind in BANDS:
        both = kind(bound, noise, noise**2, level, 50)(std, norm)
        for i in range(2):
            one = kind(bound[i], noise[i], noise[i] ** 2, level[i], 50)(std[:1], norm[:1])
            np.testing.assert_allclose(both[i], one[0], rtol=1e-14)


@pytest.mark.parametrize("kind", BANDS)
def test_with_half_the_noise_it_fails_more_often(kind, design):
    assert failures(design, kind(BOUND, NOISE / 2, LAMBDA, DELTA, 1)).low > DELTA
