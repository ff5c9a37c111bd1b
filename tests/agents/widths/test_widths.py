"""Widths and bands against the textbook, how often bands fail, and the regret bounds that widths imply."""

from typing import Any, NamedTuple

import numpy as np
import pytest
import references
from scipy.stats import binomtest
from sklearn.gaussian_process.kernels import RBF, Matern, RationalQuadratic

from agents.posteriors import posterior
from agents.widths.base import (
    CompactWidth,
    FiniteSetWidth,
    FixedWidth,
    KernelUCBWidth,
    covering,
    derivative_constants,
    derivative_covariance,
)
from agents.widths.bounded_norm import (
    AMMWidth,
    ImprovedWidth,
    PlainBand,
    RealBetaWidth,
    RKHSWidth,
    SelfNormalisedWidth,
    SplitBand,
)
from agents.widths.information_gain import ConstantGain, Rate
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel
from gpbandits.theory.regret import bayesian_bound, gp_ucb_bound, igp_ucb_bound

ROUND = np.array([1, 2, 10, 500])
GAIN = np.array([0.0, 0.4, 3.0, 21.0])
RATE = Rate(2 / 7, 1.0)
BEFORE = ROUND - 1.0
RATE_BEFORE = np.maximum(BEFORE, 1) ** (2 / 7) * np.log(np.maximum(BEFORE, 1))

WIDTHS = {
    "fixed": (FixedWidth(2.0), lambda: [2.0] * 4),
    "finite": (FiniteSetWidth(50, 0.05), lambda: [references.finite_set_width(50, t, 0.05) for t in ROUND]),
    "finite, a fifth of beta": (
        FiniteSetWidth(50, 0.05, scale=0.2),
        lambda: [references.finite_set_width(50, t, 0.05) / np.sqrt(5) for t in ROUND],
    ),
    "compact": (
        CompactWidth(2, 3.0, 4.0, 5.0, 0.05),
        lambda: [references.compact_width(2, 3.0, 4.0, 5.0, t, 0.05) for t in ROUND],
    ),
    "rkhs": (
        RKHSWidth(1.5, ConstantGain(3.0), 0.2),
        lambda: [references.rkhs_width(1.5, 3.0, t, 0.2) for t in ROUND],
    ),
    "improved": (
        ImprovedWidth(1.5, 0.3, delta=0.2),
        lambda: [references.improved_width(1.5, 0.3, g, 0.2) for g in GAIN],
    ),
    "improved with a rate": (
        ImprovedWidth(1.5, 0.3, RATE, delta=0.2),
        lambda: [references.improved_width(1.5, 0.3, g, 0.2) for g in RATE_BEFORE],
    ),
    "thompson": (
        ImprovedWidth(1.5, 0.3, delta=0.2, union=2),
        lambda: [references.improved_width(1.5, 0.3, g, 0.1) for g in GAIN],
    ),
    "self-normalised": (
        SelfNormalisedWidth(1.5, 0.3, 0.04, delta=0.2),
        lambda: [references.self_normalised_width(1.5, 0.3, 0.04, g, 0.2) for g in GAIN],
    ),
    "amm": (
        AMMWidth(1.5, 0.3, 0.04, delta=0.2),
        lambda: [references.amm_width(1.5, 0.3, 0.04, g, 0.2) for g in GAIN],
    ),
    "kernel-ucb": (KernelUCBWidth(0.6, 0.04), lambda: [3.0] * 4),
}


@pytest.fixture(params=sorted(WIDTHS))
def width_and_textbook(request):
    return WIDTHS[request.param]


def test_every_width_is_the_textbook_formula(width_and_textbook):
    width, textbook = width_and_textbook
    computed = width(ROUND, GAIN)
    assert computed.shape == ROUND.shape
    assert computed.dtype == np.float64
    np.testing.assert_allclose(computed, textbook(), rtol=1e-13)


def test_a_batch_of_trials_equals_single_trials(width_and_textbook):
    width, _ = width_and_textbook
    singles = [width(ROUND[i : i + 1], GAIN[i : i + 1])[0] for i in range(len(ROUND))]
    np.testing.assert_array_equal(width(ROUND, GAIN), singles)


@pytest.mark.parametrize(
    "make",
    [
        lambda bound, noise: FixedWidth(bound),
        lambda bound, noise: RKHSWidth(bound, RATE),
        lambda bound, noise: ImprovedWidth(bound, noise),
        lambda bound, noise: SelfNormalisedWidth(bound, noise, noise**2),
        lambda bound, noise: AMMWidth(bound, noise, noise**2),
        lambda bound, noise: KernelUCBWidth(bound, noise),
    ],
)
def test_every_trial_may_have_its_own_bound_and_noise(make):
    bound, noise = np.array([0.5, 1.0, 2.0, 4.0]), np.array([0.1, 0.2, 0.3, 0.4])
    singles = [make(bound[i], noise[i])(ROUND[i : i + 1], GAIN[i : i + 1])[0] for i in range(4)]
    np.testing.assert_allclose(make(bound, noise)(ROUND, GAIN), singles, rtol=1e-14)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: FixedWidth(-1.0), "value"),
        (lambda: FiniteSetWidth(0), "size"),
        (lambda: FiniteSetWidth(10, delta=1.0), "delta"),
        (lambda: FiniteSetWidth(10, scale=0.0), "scale"),
        (lambda: CompactWidth(1, 0.0, 2.0, 1.0), "diameter"),
        (lambda: CompactWidth(1, 1.0, 0.5, 1.0), "a"),
        (lambda: RKHSWidth(-1.0, RATE), "bound"),
        (lambda: ImprovedWidth(np.array([1.0, np.nan]), 0.1), "bound"),
        (lambda: ImprovedWidth(1.0, -0.1), "noise_std"),
        (lambda: ImprovedWidth(1.0, 0.1, union=0), "union"),
        (lambda: SelfNormalisedWidth(1.0, 0.1, 0.0), "noise_variance"),
        (lambda: AMMWidth(1.0, 0.1, 0.0), "noise_variance"),
        (lambda: AMMWidth(-1.0, 0.1, 1.0), "bound"),
        (lambda: KernelUCBWidth(1.0, -1.0), "noise_variance"),
        (lambda: gp_ucb_bound(ROUND, GAIN, GAIN, 0.0), "noise_variance"),
    ],
)
def test_an_impossible_value_is_named(make, name):
    with pytest.raises(ValueError, match=f"^{name} must"):
        make()


# --- how fast draws change ---


@pytest.mark.parametrize(
    "kernel", [RBF(0.3), RBF([0.3, 0.7]), 2.0 * Matern(0.3, nu=2.5), Matern(0.4, nu=3.5)]
)
def test_the_covariance_of_derivatives_is_the_mixed_difference_of_the_kernel(kernel):
    points, step = np.random.default_rng(0).uniform(size=(6, 2)), 1e-4
    for j in range(2):
        shift = step * np.eye(2)[j]
        ahead, behind = points + shift, points - shift
        difference = (
            kernel(ahead, ahead) - kernel(ahead, behind) - kernel(behind, ahead) + kernel(behind, behind)
        )
        # Of second order in the step; nu = 2.5 has no more than |s|^5, which leaves O(step) on the diagonal.
        numeric = difference / (2.0 * step) ** 2
        np.testing.assert_allclose(derivative_covariance(kernel, points, j), numeric, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(("kernel", "deviation"), [(RBF(0.2), 5.0), (9.0 * RBF(0.2), 15.0)])
def test_derivative_constants_of_the_squared_exponential(kernel, deviation):
    a, b = derivative_constants(kernel, covering(np.array([[0.0, 1.0]])))
    assert b == pytest.approx(2.0 * deviation, rel=1e-9)
    # Eigenvalues that are 0 but for rounding, 1e-14 of the largest, leave 1e-7 of the largest in the draws,
    # in directions that are every processor's own; a is the exponential of half the square of their size, 2.
    assert a == pytest.approx(derivative_constants(RBF(0.2), covering(np.array([[0.0, 1.0]])))[0], rel=1e-6)


@pytest.mark.parametrize("nu", [1.5, 2.5])
def test_derivative_deviation_of_a_matern_kernel(nu):
    _, b = derivative_constants(Matern(0.2, nu=nu), covering(np.array([[0.0, 1.0]])))
    assert b == pytest.approx(2.0 * np.sqrt(nu / (nu - 1.0)) / 0.2, rel=1e-6)


def test_derivatives_of_draws_exceed_the_bound_as_rarely_as_promised():
    kernel, grid = RBF(0.2), np.linspace(0.0, 1.0, 400)[:, None]
    a, b = derivative_constants(kernel, covering(np.array([[0.0, 1.0]])))
    draws = (
        np.random.default_rng(5).standard_normal((2000, len(Gram(kernel, grid).root)))
        @ Gram(kernel, grid).root
    )
    slope = np.abs(np.diff(draws, axis=1) / np.diff(grid[:, 0])).max(axis=1)
    for bound in np.linspace(0.0, 40.0, 20):
        assert np.mean(slope > bound) <= a * np.exp(-((bound / b) ** 2))


def test_the_compact_width_of_a_kernel_reads_the_box():
    bounds = np.array([[-1.0, 1.0], [0.0, 0.5]])
    width = CompactWidth.for_kernel(RBF(0.2), bounds)
    assert (width.dim, width.diameter) == (2, 2.0)
    points = covering(bounds)
    assert np.all((points >= bounds[:, 0]) & (points <= bounds[:, 1]))


# --- regret bounds ---


def test_regret_bounds_are_the_textbook_formulas():
    horizon, width, gamma, noise = np.array([10, 100]), np.array([3.0, 4.0]), np.array([5.0, 9.0]), 1.5
    factor = 8.0 / np.log(1.0 + 1.0 / noise)
    srinivas = np.sqrt(factor * horizon * width**2 * gamma)
    np.testing.assert_allclose(gp_ucb_bound(horizon, width, gamma, noise), srinivas, rtol=1e-14)
    igp = 2.0 * width * np.sqrt(4.0 * (horizon + 2.0) * gamma)
    np.testing.assert_allclose(igp_ucb_bound(horizon, width, gamma), igp, rtol=1e-14)


def test_the_bayesian_bound_is_the_textbook_formula():
    horizon, gamma, noise = np.array([10, 100]), np.array([5.0, 9.0]), 0.5
    factor = 2.0 / np.log(1.0 + 1.0 / noise)
    expected = np.sqrt(factor * (2.0 + 2.0 * np.log(40 / 2)) * horizon * gamma)
    np.testing.assert_allclose(bayesian_bound(horizon, 40, gamma, noise), expected, rtol=1e-14)


@pytest.mark.parametrize("noise", [0.1, 1.0, 2.5])
def test_real_beta_is_printed_above_one_and_self_normalised_below(noise):
    t, plays = np.array([13]), 12
    x = np.random.default_rng(0).random((plays, 1))
    covariance = make_kernel("rbf", 0.3)(x)
    gain = np.array([0.5 * np.linalg.slogdet(np.eye(plays) + covariance / noise)[1]])
    width = RealBetaWidth(1.5, 0.3, noise, delta=0.05, relative_variance=noise)(t, gain)
    if noise < 1.0:
        np.testing.assert_allclose(width, SelfNormalisedWidth(1.5, 0.3, noise, delta=0.05)(t, gain))
        return
    determinant = np.linalg.slogdet(covariance + noise * np.eye(plays))[1]
    expected = 1.5 + 0.3 / np.sqrt(noise) * np.sqrt(determinant - 2.0 * np.log(0.05))
    np.testing.assert_allclose(width, expected)


def test_no_width_ever_falls(width_and_textbook):
    width, _ = width_and_textbook
    assert np.all(np.diff(width(np.arange(1, 1001), np.linspace(0.0, 30.0, 1000))) >= 0.0)


@pytest.mark.parametrize("kernel", [Matern(0.2, nu=0.5), RationalQuadratic()])
def test_rough_and_unknown_kernels_name_the_remedy(kernel):
    with pytest.raises(ValueError, match="FiniteSetWidth"):
        derivative_constants(kernel, np.zeros((2, 1)))


# --- bands of plays that look at no value ---


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
