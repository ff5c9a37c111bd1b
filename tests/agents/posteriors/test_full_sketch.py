"""A sketched posterior whose dictionary has every played point is exact."""

import numpy as np
from sklearn.gaussian_process.kernels import RBF

from agents.posteriors.sketched import SketchedPosterior
from bandit_envs.kernels.gram import Gram

NOISE = 0.1
POINTS = np.linspace(0.0, 1.0, 12)[:, None]
PLAYS = np.array([3, 3, 7, 0, 11, 7, 5])


def test_the_gain_of_plays_is_half_the_log_determinant_and_the_posterior_is_the_dense_one():
    kernel, values = RBF(0.2), np.sin(7.0 * PLAYS)
    posterior, rng = SketchedPosterior(Gram(kernel, POINTS), NOISE, 1), np.random.default_rng(0)
    for point, value in zip(PLAYS, values, strict=True):
        posterior.play(np.array([point]))
        posterior.observe(np.array([0]), np.array([point]), np.array([value]))
        posterior.renew(0, np.ones(len(POINTS)), rng)
    noisy = kernel(POINTS[PLAYS]) + NOISE * np.eye(len(PLAYS))
    gain = 0.5 * np.linalg.slogdet(noisy / NOISE)[1]
    np.testing.assert_allclose(posterior.gain, [gain], rtol=1e-6)
    cross = kernel(POINTS, POINTS[PLAYS])
    np.testing.assert_allclose(posterior.mean_at(None)[0], cross @ np.linalg.solve(noisy, values), atol=1e-6)
    variance = 1.0 - np.einsum("ij,ji->i", cross, np.linalg.solve(noisy, cross.T))
    np.testing.assert_allclose(posterior.variance_at(None)[0], variance, atol=1e-6)
