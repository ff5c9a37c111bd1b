"""Hyperparameters: the likeliest are a minimum of the loss, and chains leave a known law as it is."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from real_cases import surrogate, values

from agents.real.learner import REACH, Chains, likeliest
from agents.real.priors import HyperPrior


@pytest.mark.parametrize("data_sets", [1, 3])
def test_at_the_likeliest_hyperparameters_the_loss_is_flat_and_no_larger_than_anywhere(data_sets):
    of, seen = surrogate(data_sets=data_sets), values(16)
    centre, far = of.prior.centre, of.prior.centre + of.prior.spread
    found = likeliest([(of, seen)], [far, centre])
    loss, slopes = of.loss(found, seen)
    assert loss < min(of.loss(start, seen)[0] for start in (centre, far))
    assert np.abs(slopes * of.prior.spread).max() < 0.05
    rng = np.random.default_rng(0)
    for _ in range(40):
        assert loss < of.loss(found + 0.3 * rng.standard_normal(len(found)), seen)[0] + 1e-3


def test_of_several_tasks_all_losses_count_and_the_prior_once():
    of, seen = surrogate(), [values(16, seed=seed) for seed in (1, 2, 3)]
    prior = of.prior
    found = likeliest([(of, each) for each in seen], [prior.centre])
    slopes = sum(of.loss(found, each)[1] for each in seen) - 2.0 * (found - prior.centre) / prior.spread**2
    assert np.abs(slopes * prior.spread).max() < 0.05
    np.testing.assert_array_equal(
        likeliest([(of, seen[0])], [prior.centre]), likeliest([(of, seen[0])], [prior.centre])
    )


def test_the_best_of_the_starts_counts():
    of, seen = surrogate(), values(16)
    centre = of.prior.centre
    far = centre + 5.9 * of.prior.spread
    assert (
        of.loss(likeliest([(of, seen)], [far, centre]), seen)[0]
        <= of.loss(likeliest([(of, seen)], [far]), seen)[0]
    )


def gaussian(std) -> SimpleNamespace:
    """A surrogate whose loss is that of a normal law around the prior's centre, of a std each."""
    prior = HyperPrior(np.array([1.0, -2.0]), np.array([0.5, 2.0]))

    def loss(theta, seen):
        gap = (theta - prior.centre) / std
        return 0.5 * float(gap @ gap), gap / std

    return SimpleNamespace(prior=prior, loss=loss)


def test_chains_leave_a_normal_law_as_it_is():
    """The first std is so small, in strides, that many moves are rejected."""
    std, rng, number = np.array([0.06, 1.4]), np.random.default_rng(0), 2000
    of = gaussian(std)
    chains = Chains(of, rng)
    chains.states = list(of.prior.centre + std * rng.standard_normal((number, 2)))
    before = np.array(chains.states)
    chains.move(values())
    gap = (np.array(chains.states) - of.prior.centre) / std
    moved = (before != np.array(chains.states)).all(axis=1).mean()
    assert 0.3 < moved < 0.95
    np.testing.assert_allclose(gap.mean(axis=0), 0.0, atol=4.0 / number**0.5)
    np.testing.assert_allclose(gap.var(axis=0), 1.0, atol=4.0 * (2.0 / number) ** 0.5)


def test_chains_find_the_law_from_the_centre_and_stay_within_reach():
    of = gaussian(np.array([0.5, 2.0]))
    chains = Chains(of, np.random.default_rng(1))
    chains.states = [of.prior.centre.copy() for _ in range(200)]
    for _ in range(6):
        chains.move(values())
    gap = (np.array(chains.states) - of.prior.centre) / of.prior.spread
    np.testing.assert_allclose(gap.var(axis=0), 1.0, atol=4.0 * (2.0 / 200) ** 0.5)
    assert np.abs(gap).max() < REACH
