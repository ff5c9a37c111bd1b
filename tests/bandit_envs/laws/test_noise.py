"""Every registered law of noise has the mean, the deviation and the bound that it states."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bandit_envs.laws import Pareto, StudentT, UniformNoise
from bandit_envs.laws.noise import BASES, LAWS, Gaussian, Noise
from bandit_envs.laws.parameters import parse

COUNT = 200_000
NOISY = [name for name in LAWS if parse("noise", name, LAWS).stated_std]
EXACT = [name for name in LAWS if name not in NOISY]


def draws(law: Noise) -> np.ndarray:
    return law.scale(0.0, 0.0) * law.draw(COUNT, np.random.default_rng(0))


@pytest.mark.parametrize("std", [0.3, 2.0])
@pytest.mark.parametrize("name", NOISY)
def test_noise_of_every_law_has_mean_0_and_the_stated_deviation(name, std):
    law = parse("noise", {"law": name, "std": std}, LAWS)
    noise = draws(law)
    squares = (noise / std) ** 2
    error = squares.std() / np.sqrt(COUNT)
    assert law.stated_std == std
    assert noise.shape == (COUNT,)
    assert abs(noise.mean()) < 4 * std / np.sqrt(COUNT)
    assert error < 0.05  # or else the next line would say nothing: the default Student t has heavy tails
    assert abs(squares.mean() - 1.0) < 4 * error


@pytest.mark.parametrize("spec", [*LAWS, *({"law": "by-arm", "base": base} for base in BASES)], ids=str)
def test_laws_are_sub_gaussian_with_the_constant_that_they_state_or_with_none(spec):
    law = parse("noise", spec, LAWS)
    unit = law.draw(COUNT, np.random.default_rng(0))
    if law.sub_gaussian is None:  # four moments tell heavy tails: 3 of a normal law
        assert (unit**4).mean() > 8
        return
    for s in (-2.0, -0.5, 0.5, 2.0):
        grown = np.exp(s * unit)
        error = grown.std() / np.sqrt(COUNT)
        assert grown.mean() <= np.exp(s**2 * law.sub_gaussian**2 / 2) + 4 * error


@pytest.mark.parametrize("name", EXACT)
def test_a_law_of_deviation_0_draws_zeros(name):
    law = parse("noise", name, LAWS)
    assert not law.draw(10, np.random.default_rng(0)).any()
    assert law.scale(0.0, 2.0) == 0.0


@pytest.mark.parametrize("name", LAWS)
def test_noise_stays_in_the_bound_that_its_law_states_and_comes_near(name):
    law = parse("noise", name, LAWS)
    bound, largest = law.relative_bound, np.abs(law.draw(COUNT, np.random.default_rng(0))).max()
    if bound is None:
        assert largest > 3.0  # an unbounded law goes further than the bounded one of the same deviation
    else:
        assert 0.999 * bound <= largest <= bound


@pytest.mark.parametrize("name", NOISY)
def test_a_share_is_the_variance_in_units_of_the_functions_range(name):
    law = parse("noise", {"law": name, "share": 0.01}, LAWS)
    assert law.scale(-1.0, 3.0) == pytest.approx(np.sqrt(0.01 * 4.0))
    assert law.stated_std is None


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (Gaussian(), stats.norm()),
        (UniformNoise(), stats.uniform(-np.sqrt(3), 2 * np.sqrt(3))),
        (StudentT(degrees=5.0), stats.t(5, scale=np.sqrt(3 / 5))),
        (Pareto(index=4.0), stats.pareto(4, loc=-(4 / 3) * np.sqrt(4.5), scale=np.sqrt(4.5))),
    ],
)
def test_noise_has_the_named_law(law, expected):
    assert stats.kstest(law.draw(5000, np.random.default_rng(0)), expected.cdf).pvalue > 1e-3
