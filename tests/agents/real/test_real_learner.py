"""When hyperparameters are learnt, and moments over several of them."""

from __future__ import annotations

import numpy as np
import pytest
from real_cases import parameters, surrogate, values

from agents.real import learner as module
from agents.real.learner import FEWEST, FITTED, Chains, Learner
from agents.real.surrogate import PointValues, Surrogate
from agents.real.values import Asinh, Bent, Compressed


def learner(chained: bool = False, kind=lambda: Bent(False, None)) -> Learner:
    of = surrogate()
    return Learner(of, kind(), Chains(of, np.random.default_rng(0)) if chained else None)


def test_hyperparameters_are_learnt_every_third_value_and_later_less_often():
    found, fits = learner(), []
    for count in range(1, 61):
        found.learn(values(min(count, 18)), count)
        fits.append(found.fits)
    due = [count for count in range(1, 61) if fits[count - 1] > ([0, *fits])[count - 1]]
    assert due[:4] == [FEWEST, FEWEST + 3, FEWEST + 6, FEWEST + 9]
    assert np.diff(due)[-1] == 6


def test_values_alone_move_no_hyperparameters():
    found = learner()
    found.learn(values(6), 6)
    before, posterior = found.states[0].copy(), found.posteriors[0]
    found.learn(values(9), 0)
    np.testing.assert_array_equal(found.states[0], before)
    assert found.posteriors[0] is not posterior
    assert len(found.posteriors[0].seen.point) == 9


def test_a_restart_keeps_hyperparameters_and_learns_again_soon():
    found = learner()
    found.learn(values(18), 50)
    before = found.states[0].copy()
    found.restart(2)
    np.testing.assert_array_equal(found.states[0], before)
    found.learn(values(4), 4)
    assert found.fits == 1
    found.learn(values(5), 2 + FEWEST)
    assert found.fits == 2


@pytest.mark.parametrize("kind", [lambda: Bent(False, None), lambda: Compressed(None), Asinh])
def test_moments_are_those_of_the_mixture_of_posteriors(kind):
    found, rng = learner(chained=True, kind=kind), np.random.default_rng(3)
    for count in (3, 6, 9):
        found.learn(values(count), count)
    assert len({state.tobytes() for state in found.states}) > 1
    points = np.array([2, 13])
    draws = []
    likeliest, *chains = found.posteriors
    for posterior in [likeliest] * len(chains) + chains:  # half of the weight is the likeliest's
        each = posterior.at(points)
        t = each.mean + np.sqrt(each.known) * rng.standard_normal((40_000, 2))
        moments = found.values.moments(t.ravel(), np.zeros(t.size))[0]  # no variance is left
        draws.append(moments.reshape(t.shape))
    y = found.values.zero + found.values.size * np.concatenate(draws)
    mean, std = found.moments(points)
    np.testing.assert_allclose(mean, y.mean(axis=0), atol=0.03 * y.std(axis=0).max())
    np.testing.assert_allclose(std, y.std(axis=0), rtol=0.05)


def test_half_of_what_is_averaged_is_said_by_the_likeliest_hyperparameters():
    alone, both = learner(), learner(chained=True)
    for found in (alone, both):
        found.learn(values(9), 9)
    np.testing.assert_array_equal(both.states[0], alone.states[0])
    one = np.ones(2)
    np.testing.assert_allclose(both.averaged([6.0 * one, one, 2.0 * one, 3.0 * one]), 4.0 * one)
    np.testing.assert_array_equal(alone.averaged([6.0 * one]), 6.0 * one)


def test_a_published_model_stays_beside_the_learnt_one_until_the_values_refute_it():
    found = Learner(surrogate(), Bent(False, 1.0))
    found.learn(values(3), 3)
    _, published = found.states
    np.testing.assert_array_equal(published, found.surrogate.prior.centre)
    assert found.values.trusted
    wild = values(18)
    found.learn(wild._replace(mean=1e3 * wild.mean), 18)  # of quite another unit
    assert not found.values.trusted
    assert len(found.states) == 1


def test_fits_read_the_latest_points_alone(monkeypatch):
    """A fit of n points takes O(n^3): of more than `FITTED` the first ones are left to the posterior."""
    sizes, count = [], FITTED + 50
    monkeypatch.setattr(
        module, "likeliest", lambda tasks, starts: sizes.append(len(tasks[0][1].point)) or starts[0]
    )
    of, ones = Surrogate(parameters(points=count), surrogate().prior), np.ones(count)
    found = Learner(of, Bent(False, None))
    found.learn(PointValues(np.arange(count), ones, np.arange(count) / count, 0.0 * ones, ones), count)
    assert sizes == [FITTED]
    assert len(found.posteriors[0].seen.point) == count
