"""How values are written: there and back, slopes, moments, units, and the choice of a transform."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from agents.real.surrogate import PointValues
from agents.real.values import ALPHAS, Asinh, Bent, Compressed, Logarithm

DRAWS = np.random.default_rng(7).standard_normal(400_000)
STRAIGHT = {  # the inverses of the transforms
    "bent": lambda t, alpha: np.where(t < 0.0, -np.expm1(-alpha * np.minimum(t, 0.0)) / alpha, t),
    "compressed": lambda t, _: np.where(t < -1.5, -1.5 - np.expm1(np.maximum(-1.5 - t, 0.0)), t),
    "asinh": lambda t, _: np.sinh(t),
    "logarithm": lambda t, _: np.exp(t),
}


def of_arms(means, plays=None, squares=None):
    means = np.asarray(means, dtype=float)
    plays = np.ones(len(means)) if plays is None else plays
    squares = np.zeros(len(means)) if squares is None else squares
    return PointValues(np.arange(len(means)), plays, means, squares, plays)


def bent(alpha: float) -> Bent:
    """Rewards whose alpha is the likeliest under a height that knows it, and whose unit is 1."""
    found = Bent(False, None)
    means = STRAIGHT["bent"](np.array([-1.5, -1.2, -0.8, -0.2, 0.0, 1.0, 1.0, 1.0, 1.0]), alpha or 1e-12)
    found.learn(of_arms(means), [lambda t: 1e6 * float(np.isclose(t.min(), -1.5))])
    return found


def learnt(name: str):
    """Values of each kind after some that are their law's."""
    found = {"bent": bent(4.0), "compressed": Compressed(None)}
    found |= {"asinh": Asinh(), "logarithm": Logarithm()}
    if name != "bent":
        means = np.array([-60.0, -1.0, -0.6, 0.0, 0.3, 1.0, 2.0, 40.0])
        found[name].learn(of_arms(np.exp(means / 30.0) if name == "logarithm" else means), [])
    return found[name]


@pytest.mark.parametrize("name", STRAIGHT)
def test_values_come_back_from_the_transform(name):
    values = learnt(name)
    z = np.linspace(0.1, 3.0, 30) if name == "logarithm" else np.linspace(-5.0, 3.0, 41)
    t, _ = values.bent(z)
    np.testing.assert_allclose(STRAIGHT[name](t, 4.0), z, rtol=1e-12)
    back, spread = values.moments(t, np.zeros(len(t)))
    seen = z > -2.0  # values far below those that were seen count as a little below
    np.testing.assert_allclose(back[seen], z[seen], rtol=1e-9)
    np.testing.assert_allclose(spread, 0.0, atol=1e-9)


@pytest.mark.parametrize("name", STRAIGHT)
def test_slopes_of_transforms_are_those_of_differences(name):
    values = learnt(name)
    z = np.linspace(0.11, 3.0, 30) if name == "logarithm" else np.linspace(-5.01, 3.0, 40)
    difference = (values.bent(z + 1e-6)[0] - values.bent(z - 1e-6)[0]) / 2e-6
    np.testing.assert_allclose(values.bent(z)[1], difference, rtol=1e-6)


@pytest.mark.parametrize("name", STRAIGHT)
def test_moments_are_those_of_draws(name):
    values = learnt(name)
    mean, variance = np.array([-0.3, 0.0, 0.8]), np.array([0.04, 0.02, 0.09])
    found = values.moments(mean, variance)
    for i in range(3):
        z = STRAIGHT[name](mean[i] + np.sqrt(variance[i]) * DRAWS, 4.0)
        # Nine nodes across a kink are within 2 % of the std.
        assert found[0][i] == pytest.approx(z.mean(), abs=0.02 * z.std())
        assert found[1][i] == pytest.approx(z.var(), rel=0.05)


@pytest.mark.parametrize("variance", [None, 1.0])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_alpha_of_the_law_is_found_beside_a_published_model_too(alpha, variance):
    """Without the Jacobian the strongest compression would always win, as it makes all values small."""
    t = np.random.default_rng(0).standard_normal(400)
    t -= np.median(t)
    means = STRAIGHT["bent"](t, alpha) if alpha else t
    values = Bent(False, variance)
    values.learn(of_arms(means), [lambda each: -0.5 * len(each) * np.log(each @ each / len(each))])
    assert values.alpha == alpha


def test_few_values_and_values_of_several_contexts_are_not_bent():
    t = np.random.default_rng(0).standard_normal(400)
    means = STRAIGHT["bent"](t, 16.0)
    for several, count in ((True, 400), (False, 7)):
        values = Bent(several, None)
        values.learn(
            of_arms(means[:count]), [lambda each: -0.5 * len(each) * np.log(each @ each / len(each))]
        )
        assert values.alpha == 0.0


def test_the_unit_is_that_of_the_better_half():
    values, others = Bent(False, None), Bent(False, None)
    values.learn(of_arms([-1e6, -3.0, 0.0, 3.0, 4.0]), [])
    others.learn(of_arms([-1.0, -3.0, 0.0, 3.0, 4.0]), [])
    assert (values.zero, values.size) == (others.zero, others.size) == (0.0, pytest.approx(12.5**0.5))


@pytest.mark.parametrize("kind", [partial(Bent, False), Compressed])
def test_plays_repeated_of_one_arm_do_not_move_the_unit(kind):
    means, plays = [0.0, 1.0, 2.0, 5.0], np.array([1.0, 1.0, 1.0, 50.0])
    once, often = kind(None), kind(None)
    once.learn(of_arms(means), [])
    often.learn(of_arms(means, plays), [])
    assert (once.zero, once.size) == (often.zero, often.size)


def test_a_published_variance_is_the_unit_until_the_model_is_refuted():
    values = Bent(False, 9.0)
    values.learn(of_arms(np.array([5.0, 6.0, 7.0, 8.0])), [])
    assert (values.zero, values.size) == (0.0, 3.0)


def test_squares_are_scaled_by_the_slope_at_the_mean():
    values = bent(4.0)
    seen = of_arms([values.zero - 2.0 * values.size, values.zero + values.size], squares=np.array([0.3, 0.3]))
    found = values.transformed(seen)
    slope = values.bent(np.array([-2.0, 1.0]))[1]
    np.testing.assert_allclose(found.squares, 0.3 / values.size**2 * slope**2)
    np.testing.assert_allclose(found.mean, values.bent(np.array([-2.0, 1.0]))[0])


def test_expected_violations_are_those_of_draws():
    values = Asinh()
    values.learn(of_arms([-6.0, -2.0, 2.0, 30.0]), [])
    mean, variance = np.array([-1.0, -0.2, 0.0, 0.9]), np.array([0.3, 0.09, 0.04, 0.01])
    found = values.excess(mean, variance)
    for i in range(4):
        excess = np.maximum(np.sinh(mean[i] + np.sqrt(variance[i]) * DRAWS), 0.0)
        assert found[i] == pytest.approx(excess.mean(), abs=4.0 * excess.std() / len(DRAWS) ** 0.5)


def test_expected_violations_are_at_most_the_largest_cost_seen():
    values = Asinh()
    values.learn(of_arms([-6.0, -2.0, 2.0, 30.0]), [])
    assert values.excess(np.array([40.0]), np.array([9.0])) == 30.0 / 4.0


def test_quantiles_of_prices_are_those_of_their_logarithm():
    values = Logarithm()
    values.learn(of_arms([1.0, 2.0, 8.0]), [])
    assert values.quantile(np.array([0.5]), np.array([0.25]), 3.0**0.5)[0] == pytest.approx(
        2.0 * np.exp(0.5 + 0.75**0.5)
    )


@pytest.mark.parametrize("kind", [partial(Bent, False), Compressed])
def test_a_published_variance_counts_as_four_arms_of_mean_zero(kind):
    values, plain = kind(9.0), kind(None)
    assert values.size == 3.0
    values.trusted = False  # the published model is refuted
    means = np.array([5.0, 6.0, 7.0, 8.0])
    values.learn(of_arms(means), [])
    plain.learn(of_arms(means), [])
    assert values.zero == pytest.approx(plain.zero / 2.0)
    assert values.size**2 == pytest.approx((plain.size**2 + 9.0) / 2.0)


def test_prices_that_may_be_negative_are_no_logarithms():
    values = Logarithm()
    values.learn(of_arms([-1.0, 1.0, 3.0]), [])
    z = np.array([-1.0, 0.5])
    np.testing.assert_array_equal(values.bent(z)[0], z)
    assert values.quantile(np.zeros(1), np.ones(1), 2.0)[0] == pytest.approx(1.0 + 2.0 * values.size)


@pytest.mark.parametrize("kind", [lambda: Bent(False, None), lambda: Compressed(None), Asinh, Logarithm])
@pytest.mark.parametrize(
    "means", [[3.0] * 9, [0.0] * 9, [3.0], [1e-300, 2e-300], [1.0, -1e139], [1e-200, 1e139]]
)
def test_any_values_have_a_unit(kind, means):
    values = kind()
    values.learn(of_arms(means), [])
    found = values.transformed(of_arms(means))
    assert values.size > 0.0
    assert np.isfinite(found.mean).all()
    for moment in values.moments(found.mean, np.ones(len(means))):
        assert np.isfinite(moment).all()
