"""Sets of ranks: how often they hold the truth, and what they say of known values."""

import numpy as np
import pytest

from gpbandits.evaluation.statistics import joint_tests, rank_sets

LAWS = {  # of mean 0
    "normal": lambda rng, size: rng.normal(size=size),
    "laplace": lambda rng, size: rng.laplace(size=size),
    "lognormal": lambda rng, size: rng.lognormal(size=size) - np.exp(0.5),
    "15 % stuck": lambda rng, size: 3 * ((rng.random(size) < 0.15) - 0.15) + rng.normal(0, 0.3, size),
}
MEANS = {"equal": np.zeros(9), "graded": np.linspace(0, 2, 9), "pairs": np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])}
SPREADS = {"even": np.ones(9), "uneven": np.linspace(0.1, 2, 9)}


def coverage(law, means, spread, repetitions, num_trials=20):
    """Share of repetitions in which the sets hold the true rank of each agent, (p,), and of all."""
    rng, held = np.random.default_rng(5), []
    best = 1 + (means < means[:, None]).sum(axis=1)
    worst = len(means) - (means > means[:, None]).sum(axis=1)
    for _ in range(repetitions):
        shared = rng.normal(size=(num_trials, 1))
        losses = means + shared + spread * LAWS[law](rng, (num_trials, len(means)))
        sets = rank_sets(dict(enumerate(losses.T))).values()
        low, high = np.array([(each.low, each.high) for each in sets]).T
        held.append((low <= best) & (high >= worst))
    return np.mean(held, axis=0), np.mean(np.all(held, axis=1))


@pytest.mark.parametrize("law", LAWS)
def test_sets_hold_the_ranks_of_best_middle_and_worst(law):
    each, together = coverage(law, MEANS["equal"], SPREADS["even"], 100)
    four_errors = 4 * np.sqrt(0.05 * 0.95 / 100)
    assert together > 0.95 - four_errors
    assert each[[0, 4, 8]].min() > 0.95 - four_errors


@pytest.mark.long
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("means", MEANS)
@pytest.mark.parametrize("law", LAWS)
def test_sets_hold_all_ranks_together_whatever_the_law_the_means_and_the_spread(law, means, spread):
    each, together = coverage(law, MEANS[means], SPREADS[spread], 1000)
    skewed = spread == "uneven" and law in ("lognormal", "15 % stuck")
    nominal = 0.9 if skewed else 0.95  # as `joint_tests` says
    four_errors = 4 * np.sqrt(nominal * (1 - nominal) / 1000)
    assert together > nominal - four_errors
    assert each[[0, 4, 8]].min() > nominal - four_errors


# Mean violation and loss of five agents.
FIRST = {
    "equal": (np.zeros(5), np.linspace(0, 2, 5)),
    "near, losses reversed": (np.linspace(0, 0.4, 5), np.linspace(2, 0, 5)),
    "groups, losses reversed": (np.array([0, 0, 0.8, 0.8, 3]), np.array([2, 0, 1, 0, 0])),
}


def coverage_by_violation(law, means, repetitions, kept=False, num_trials=20):
    """Share of repetitions in which the sets hold all true ranks; `kept`: the least violation is 0 in all."""
    rng, held, keys = np.random.default_rng(5), [], list(zip(*means, strict=True))
    best = np.array([1 + sum(key < own for key in keys) for own in keys])
    worst = np.array([len(keys) - sum(key > own for key in keys) for own in keys])
    for _ in range(repetitions):
        shared = rng.normal(size=(2, num_trials, 1))
        first, losses = shared + np.stack(means)[:, None] + LAWS[law](rng, (2, num_trials, len(keys)))
        if kept:
            first[:, means[0] == 0] = 0.0
        sets = rank_sets(dict(enumerate(losses.T)), first=dict(enumerate(first.T))).values()
        low, high = np.array([(each.low, each.high) for each in sets]).T
        held.append(np.all((low <= best) & (high >= worst)))
    return np.mean(held)


@pytest.mark.parametrize("kept", [False, True])
def test_sets_hold_ranks_by_violation_where_losses_say_the_opposite(kept):
    four_errors = 4 * np.sqrt(0.05 * 0.95 / 60)
    assert coverage_by_violation("normal", FIRST["groups, losses reversed"], 60, kept) > 0.95 - four_errors


@pytest.mark.long
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("means", FIRST)
@pytest.mark.parametrize("law", LAWS)
def test_sets_hold_all_ranks_by_violation_first_whatever_the_law_and_the_means(law, means, kept):
    assert coverage_by_violation(law, FIRST[means], 1000, kept) > 0.95 - 4 * np.sqrt(0.05 * 0.95 / 1000)


def test_agents_apart_have_one_rank_each_and_twins_share_theirs():
    rng = np.random.default_rng(0)
    close = {name: i + rng.normal(0, 0.01, 20) for i, name in enumerate("abc")}
    sets = rank_sets(close | {"twin of b": close["b"]})
    assert [tuple(sets[label]) for label in "abc"] == [(1, 1, 1), (2, 2, 3), (4, 4, 4)]
    assert sets["twin of b"] == sets["b"]
    assert rank_sets({"alone": np.ones(3)})["alone"] == (1, 1, 1)


def test_few_trials_that_differ_tell_nobody_apart_and_do_not_hide_others():
    base = np.random.default_rng(1).normal(size=20)
    almost = base + 5 * (np.arange(20) < 5)
    clear = base + np.random.default_rng(2).normal(1, 0.1, 20)
    sets = rank_sets({"base": base, "almost": almost, "clear": clear})
    assert sets["base"].high == 2
    assert sets["almost"].low == 1
    assert joint_tests((almost - base)[:, None]) == 1.0


def test_two_agents_that_are_nearly_equal_do_not_hide_who_differs():
    """They differ in six of 20 trials, five of them by less: resamples without the first have a studentised
    mean of thousands, and the largest of all pairs was what every pair was judged by."""
    rng, hair = np.random.default_rng(3), np.array([1e-9, *[1e-13] * 5, *[0.0] * 14])
    losses = {f"agent {i}": i + rng.normal(0, 0.4, 20) for i in range(8)}
    for i in range(8):
        losses[f"twin {i}"] = losses[f"agent {i}"] + hair
    sets = rank_sets(losses)
    assert tuple(sets["agent 0"])[1:] == (1, 2)
    assert tuple(sets["twin 7"])[1:] == (15, 16)
    assert all(rank.high - rank.low <= 3 for rank in sets.values())


def test_an_agent_that_repeats_another_costs_no_power():
    rng = np.random.default_rng(3)
    differences = rng.normal(0.5, 1.0, size=(20, 5))
    again = np.concatenate([differences, -differences, differences], axis=1)
    np.testing.assert_allclose(joint_tests(again)[:5], joint_tests(differences))


def test_each_quantity_has_a_scale_of_its_own():
    rng = np.random.default_rng(3)
    differences, quantity = rng.normal(0.7, 1.0, size=(20, 6)), np.array([0, 1, 0, 1, 0, 1])
    p_values = joint_tests(differences, quantity)
    np.testing.assert_allclose(joint_tests(differences * np.where(quantity, 1e6, 1.0), quantity), p_values)
    assert (p_values <= 0.05).any()


def test_equal_differences_of_no_spread_are_significant():
    p_values = joint_tests(np.stack([np.full(8, 0.1), np.zeros(8)], axis=1))
    assert p_values[0] < 0.001
    assert p_values[1] == 1.0
