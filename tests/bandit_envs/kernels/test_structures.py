"""Kernels on grids by factors and by Fourier transforms say what the whole covariance says."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

from bandit_envs.kernels.circulant import EVEN, LARGEST_ERROR, Circulant, Torus
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import OnColumns
from bandit_envs.kernels.kronecker import parts_of, split
from bandit_envs.kernels.random_features import SPECTRA, RandomFeatures, feature_count
from bandit_envs.problem.decisions import unit_grid

SCATTERED = np.random.default_rng(0).random((5, 2))


def product_of(*sets):
    """Points whose features are those of the sets, the last one fastest."""
    index = np.indices([len(each) for each in sets]).reshape(len(sets), -1)
    return np.hstack([each[i] for each, i in zip(sets, index, strict=True)])


def axis(size):
    return np.sort(np.random.default_rng(size).random(size))[:, None]


PRODUCTS = {  # kernel, points, how many factors
    "anisotropic": (2.0 * RBF([0.2, 0.4]), unit_grid(42**2, 2)[: 42 * 20], 2),
    "uneven-axes": (RBF(0.3), product_of(axis(7), axis(5), axis(4)), 3),
    "matern-by-column": (
        OnColumns(Matern(0.2, nu=2.5), [0]) * OnColumns(Matern(0.3, nu=1.5), [1]) * ConstantKernel(3.0),
        product_of(axis(8), axis(6)),
        2,
    ),
    "contexts": (
        OnColumns(RBF(0.5), [0, 1]) * OnColumns(Matern(0.2), [2, 3]),
        product_of(SCATTERED, unit_grid(9, 2)),
        2,
    ),
    "together": (
        OnColumns(Matern(0.2), [0, 2]) * OnColumns(RBF(0.2), [1]),
        product_of(axis(3), axis(4), axis(5)),
        1,
    ),
    "unseen": (OnColumns(RBF(0.2), [1]), product_of(axis(3), axis(4)), 2),
    "sum": (RBF(0.2) + RBF(0.5), unit_grid(36, 2), 1),
    "scattered": (RBF(0.2), np.random.default_rng(1).random((30, 2)), 1),
}
each_product = pytest.mark.parametrize(("kernel", "points", "count"), PRODUCTS.values(), ids=PRODUCTS)


@each_product
def test_a_product_kernel_on_a_product_of_sets_has_a_factor_a_set(kernel, points, count):
    parts = parts_of(kernel, points)
    assert len(parts) == count
    whole = np.ones((1, 1))
    for part in parts:
        whole = np.kron(whole, part.kernel(part.points))
    np.testing.assert_allclose(whole, kernel(points), atol=1e-14, rtol=1e-14)


def test_points_are_split_wherever_they_are_a_product():
    sets = [axis(4), SCATTERED, axis(3)]
    found = split(product_of(*sets))
    assert [each.columns for each in found] == [(0,), (1, 2), (3,)]
    for each, given in zip(found, sets, strict=True):
        np.testing.assert_array_equal(each.points, given)


@each_product
def test_the_factors_are_a_root(kernel, points, count):
    gram = Gram(kernel, points)
    kronecker, dense = gram.kronecker, gram.dense
    root = kronecker.expand(np.eye(kronecker.rank))
    np.testing.assert_allclose(root.T @ root, dense, atol=1e-12)
    everything = np.arange(len(points))
    np.testing.assert_allclose(kronecker.features(everything), root.T, atol=1e-14)
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((kronecker.rank, 3))
    quadratic = np.einsum("rn,rn->n", root, factor @ (factor.T @ root))
    np.testing.assert_allclose(kronecker.quadratic(factor @ factor.T), quadratic, rtol=1e-9, atol=1e-9)
    for few in (0, 1, 200):  # by columns, and by weights where that is less work
        point, weight = rng.integers(len(points), size=few), rng.standard_normal(few)
        np.testing.assert_allclose(kronecker.combine(point, weight), dense[:, point] @ weight, atol=1e-11)


def test_combinations_of_many_points_are_cut_into_blocks(monkeypatch):
    gram = Gram(RBF([0.2, 0.4]), unit_grid(42**2, 2))
    point, weight = np.arange(0, 42**2, 5), np.random.default_rng(0).standard_normal(353)
    assert gram.kronecker.products(353) < 353 * gram.size
    whole = gram.kronecker.combine(point, weight)
    monkeypatch.setattr("bandit_envs.kernels.kronecker.BLOCK_BYTES", 8 * gram.kronecker.rank * 7)
    np.testing.assert_allclose(gram.kronecker.combine(point, weight), whole, atol=1e-12)


STATIONARY = {
    "rbf": RBF(0.2),
    "matern52": Matern(0.2, nu=2.5),
    "matern12": 2.0 * Matern(0.3, nu=0.5),
    "white": Matern(0.2) + WhiteKernel(0.5),
    "by-column": OnColumns(Matern(0.2), [0]) * OnColumns(RBF(0.5), [1]),
}


@pytest.mark.parametrize("kernel", STATIONARY.values(), ids=STATIONARY)
def test_a_grids_covariances_are_those_of_a_torus(kernel):
    points = unit_grid(64, 2)
    circulant, gram = Circulant.of(kernel, points), Gram(kernel, points)
    assert circulant is not None
    assert circulant.torus.error <= LARGEST_ERROR
    columns = [circulant.combine(np.array([x]), np.ones(1)) for x in range(64)]
    np.testing.assert_allclose(columns, gram.dense, atol=1e-12)


def test_the_error_of_a_torus_bounds_that_of_every_covariance():
    points, kernel = unit_grid(40), RationalQuadratic(0.2, alpha=0.5)
    torus = Torus(kernel, np.array([1 / 39]), (39,))
    drawn = np.array([torus.filter(row, np.maximum(torus.spectrum, 0.0), (40,)) for row in np.eye(40)])
    worst = np.abs(drawn - kernel(points)).max()
    assert 1e-5 < worst <= torus.error * (1 + 1e-9)


@pytest.mark.parametrize("kernel", [DotProduct(), RBF(0.2) * DotProduct(), RandomFeatures(RBF(0.2), 8)])
def test_only_kernels_that_are_even_in_each_feature_are_put_on_a_torus(kernel):
    assert Circulant.of(kernel, unit_grid(25, 2)) is None
    assert not any(type(kernel) is even for even in EVEN)


def test_a_kernel_that_no_torus_fits_is_not_drawn(monkeypatch):
    monkeypatch.setattr("bandit_envs.kernels.circulant.MOST_LAGS", 2**12)
    circulant = Circulant.of(RationalQuadratic(5.0, alpha=0.1), unit_grid(100))
    assert circulant is not None
    with pytest.raises(
        ValueError, match=r"kernel must have covariances that decay .* got .*RationalQuadratic"
    ):
        circulant.draw(np.random.default_rng(0))


def test_a_drawn_function_keeps_the_memory_of_its_points_and_not_that_of_the_torus():
    circulant = Circulant.of(Matern(0.2, nu=2.5), unit_grid(50))
    assert circulant is not None
    drawn = circulant.draw(np.random.default_rng(0))
    assert drawn.shape == (50,)
    assert drawn.base is None or drawn.base.size == 50


def test_only_regular_grids_are_put_on_a_torus():
    assert Circulant.of(RBF(0.2), product_of(axis(5), axis(6))) is None
    assert Circulant.of(RBF(0.2), SCATTERED) is None


@pytest.mark.parametrize("kernel", SPECTRA)
def test_random_features_approach_the_kernel_whose_waves_they_are(kernel):
    points = np.random.default_rng(0).random((60, 3))
    count = 40_000
    near = RandomFeatures(kernel(0.5), count)
    # 3600 pairs: the deviation of each is at most 1 / sqrt(m).
    assert np.abs(near(points) - kernel(0.5)(points)).max() < 5 / np.sqrt(count)


def test_random_features_are_a_kernel_of_their_own():
    kernel, points = 3.0 * RandomFeatures(Matern(0.2), 64, 5), np.random.default_rng(0).random((300, 3))
    gram = Gram(kernel, points)
    assert feature_count(kernel) == 64
    assert len(gram.root) == 64
    np.testing.assert_allclose(gram.root.T @ gram.root, gram.dense, atol=1e-12)
    np.testing.assert_allclose(gram.diagonal, np.diag(gram.dense), atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((DotProduct(),), "kernel must be one of RBF"),
        ((RBF(), 7), "must be even"),
        ((RBF(), 0), "at least 2"),
    ],
)
def test_features_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        RandomFeatures(*arguments)
