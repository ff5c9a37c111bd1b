"""Posteriors that know the same plays share the work of factorising them, and nothing else."""

import numpy as np
import pytest

from agents.kernels.visited import Visited, VisitedGram
from agents.posteriors import decomposition
from agents.posteriors.base import SufficientStatistics
from agents.posteriors.play_factor import PlayFactor
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel

NOISE = 0.1
POINTS = np.linspace(0.0, 1.0, 12)[:, None]


def plays(*point: int) -> SufficientStatistics:
    size = len(point)
    return SufficientStatistics(np.array(point), np.ones(size), np.arange(size, dtype=np.float64))


@pytest.fixture
def gram():
    return Gram(make_kernel("matern52", 0.3), POINTS)


@pytest.fixture
def factorised(monkeypatch):
    """How many rows each factorisation had."""
    factor, rows = decomposition.dpotrf, []

    def counted(matrix, **how):
        rows.append(len(matrix))
        return factor(matrix, **how)

    monkeypatch.setattr(decomposition, "dpotrf", counted)
    return rows


def test_the_same_plays_are_factorised_once(gram, factorised):
    factors = [PlayFactor(gram, NOISE, plays(1, 4, 7)) for _ in range(2)]
    first, second = (factor.triangle for factor in factors)
    assert factorised == [3]
    np.testing.assert_array_equal(np.tril(first), np.tril(second))


@pytest.mark.parametrize(("other", "noise"), [(plays(1, 4, 8), NOISE), (plays(1, 4, 7), 0.2)])
def test_other_plays_or_another_noise_are_factorised_anew(gram, factorised, other, noise):
    kept = [PlayFactor(gram, NOISE, plays(1, 4, 7)), PlayFactor(gram, noise, other)]
    for factor in kept:
        assert factor.gain > 0
    assert factorised == [3, 3]


def on_box() -> VisitedGram:
    """Return covariances of the same points, as a box agent numbers them."""
    visited = Visited(1)
    for point in POINTS:
        visited.index(point)
    return VisitedGram(make_kernel("matern52", 0.3), visited)


def test_on_a_box_factors_of_the_same_plays_are_one_until_their_plays_differ(factorised):
    gram = on_box()
    results, experiments = (PlayFactor(gram, NOISE, plays(1, 4, 7)) for _ in range(2))
    for x in (9, 2, 5):
        experiments.append(x, 0.0)
    results.append(9, 2.0)
    assert results.leads(experiments)
    assert not experiments.leads(results)
    assert factorised == [3]
    results.append(5, 1.0)  # before 2
    assert not results.leads(experiments)
    for factor, order in ((results, (9, 5)), (experiments, (9, 2, 5))):
        alone = PlayFactor(on_box(), NOISE, plays(1, 4, 7, *order))
        np.testing.assert_allclose(np.tril(factor.triangle), np.tril(alone.triangle), rtol=1e-12, atol=1e-14)
        assert factor.gain == pytest.approx(alone.gain, rel=1e-12)


def test_a_shared_factor_is_to_the_bit_what_it_would_be_alone():
    rng, gram = np.random.default_rng(0), on_box()
    order = rng.integers(12, size=100).tolist()  # more rows than fit at first
    late, early = (PlayFactor(gram, NOISE, plays()) for _ in range(2))
    alone = PlayFactor(on_box(), NOISE, plays())
    for t, x in enumerate(order):
        early.append(x, 0.0)
        assert early.gain > 0
        if t >= 5:
            for factor in (late, alone):
                factor.append(order[t - 5], 1.0)
            assert late.leads(early)
    np.testing.assert_array_equal(np.tril(late.triangle), np.tril(alone.triangle))
    np.testing.assert_array_equal(late.weights, alone.weights)
    assert late.gain == alone.gain


@pytest.mark.parametrize("size", [3, decomposition.BLOCK, 2 * decomposition.BLOCK + 5])
def test_on_a_box_blocks_solve_as_the_whole_factor(size):
    rng, visited = np.random.default_rng(0), Visited(2)
    gram = VisitedGram(make_kernel("matern52", 0.3), visited)
    factor = PlayFactor(gram, 1e-6, plays())
    for point in rng.random((size, 2)):
        factor.append(visited.index(point), 1.0)
    values, lower = rng.standard_normal((size, 4)), np.tril(factor.triangle)
    np.testing.assert_allclose(factor.solve(values), np.linalg.solve(lower, values), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(factor.back(values), np.linalg.solve(lower.T, values), rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(factor.solve(values)[:, 0], factor.solve(values[:, 0]), rtol=1e-9, atol=1e-9)


def test_on_a_box_what_was_solved_before_changes_no_bit():
    gram, fresh = on_box(), on_box()
    order = np.random.default_rng(0).integers(12, size=70).tolist()
    long, short = (PlayFactor(gram, NOISE, plays()) for _ in range(2))
    alone, values = PlayFactor(fresh, NOISE, plays()), np.random.default_rng(1).standard_normal((50, 4))
    for t, x in enumerate(order):
        long.append(x, 0.0)
        long.solve(np.ones((t + 1, 1)))
    for x in order[:50]:
        short.append(x, 0.0)
        alone.append(x, 0.0)
    assert short.leads(long)
    np.testing.assert_array_equal(short.solve(values), alone.solve(values))
    np.testing.assert_array_equal(short.back(values), alone.back(values))


def test_each_goes_its_own_way_afterwards(gram):
    one, other = (PlayFactor(gram, NOISE, plays(1, 4, 7)) for _ in range(2))
    assert one.gain == other.gain
    one.append(9, 2.0)
    other.append(2, -1.0)
    for factor in (one, other):
        alone = PlayFactor(Gram(gram.kernel, POINTS), NOISE, plays(1, 4, 7))
        alone.append(int(factor.point[-1]), float(factor.statistics.total.sum()))
        np.testing.assert_array_equal(np.tril(factor.triangle), np.tril(alone.triangle))


def test_a_factor_that_is_gone_is_not_kept_for_others(gram, factorised):
    for _ in range(2):
        assert PlayFactor(gram, NOISE, plays(1, 4, 7)).gain > 0
    assert factorised == [3, 3]
