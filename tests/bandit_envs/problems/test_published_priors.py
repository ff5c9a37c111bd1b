"""The prior that is published is that of the functions which are drawn."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import qmc

from bandit_envs.problems import FACTORIES, build, data_files, keywords_of
from bandit_envs.problems.benchmarks import FUNCTIONS

TRIALS = 20
# Duels show chances against the best arm, and publish the prior of utilities: see test_duels.
VALUED = [name for name in FACTORIES if name != "duel"]
PRIORS = [name for name in VALUED if "published, no prior" not in str(FACTORIES[name].__doc__)]


def each_of(names):
    marked = [pytest.param(name, marks=pytest.mark.needs_data(*data_files(name))) for name in names]
    return pytest.mark.parametrize("name", marked)


@cache
def drawn(name):
    """A problem, and its mean rewards and costs over segments of trials, (n, 1 + C, N)."""
    problem = build(name, {})
    trials = [problem.draw(0, function_seed=seed) for seed in range(TRIALS)]
    return problem, np.concatenate([trial.means for trial in trials])


def deviations(problem):
    return np.sqrt(problem.setting().kernel.diag(problem.decisions.points))


def is_of_its_prior(values):
    return abs(values.mean()) <= 0.5 and 0.5 <= values.std() <= 2.0


@each_of(VALUED)
def test_the_published_mean_and_deviation_are_those_of_the_functions_or_none_are_published(name):
    problem, means = drawn(name)
    setting = problem.setting()
    if setting.kernel is None:
        assert "No model is published" in str(FACTORIES[name].__doc__)
    else:
        of_prior = is_of_its_prior((means[:, 0] - setting.prior_mean) / deviations(problem))
        assert of_prior == (name in PRIORS)


@each_of(name for name in FACTORIES if "constraints" in str(FACTORIES[name].__code__.co_consts))
@pytest.mark.parametrize("variance", [0.01, 100.0])
def test_costs_that_are_drawn_under_the_published_kernel_are_of_its_size(name, variance):
    problem = build(name, {"signal_variance": variance})
    costs = np.concatenate([problem.draw(seed).means[:, 1:] for seed in range(TRIALS)])
    assert is_of_its_prior(costs / deviations(problem))


@each_of(VALUED)
def test_a_lower_bound_is_seldom_above_the_function(name):
    problem, means = drawn(name)
    setting = problem.setting()
    least = means[:, 0].min() if setting.reward_lower_bound is None else setting.reward_lower_bound
    assert (means[:, 0] < least - 1e-12).mean() < 0.02


LINKED = ["clicks"]  # its functions are links of those that are drawn
WITH_KERNEL = [name for name in PRIORS if "kernel" in keywords_of(name) and name not in LINKED]


@each_of(WITH_KERNEL)
def test_signal_variance_scales_the_published_kernel_and_the_functions_that_are_drawn_from_it(name):
    keywords = {"normalize": False, "horizon": 30, "function_seed": 3}
    unit, nine = (build(name, {**keywords, "signal_variance": variance}) for variance in (1.0, 9.0))
    np.testing.assert_allclose(deviations(nine), 3.0 * deviations(unit))
    factor = 3.0 if unit.reward.moments is None else 1.0
    means = [problem.draw(0).means[:, 0] for problem in (unit, nine)]
    np.testing.assert_allclose(means[1], factor * means[0], atol=1e-4 * deviations(nine).max())


@each_of(VALUED)
def test_a_prior_mean_is_the_laws_own_unless_it_is_off_or_a_number(name):
    told = {"publish_model": True}
    means = [build(name, {**told, "prior_mean": mean}).setting().prior_mean for mean in (True, False, 0.25)]
    np.testing.assert_array_equal(means[0], build(name, told).setting().prior_mean)
    assert means[1:] == [0.0, 0.25]


@each_of(name for name in PRIORS if name not in LINKED)
def test_rescaled_functions_have_a_prior_of_their_own(name):
    problem = build(name, {"normalize": True, "publish_model": True})
    trials = [problem.draw(0, function_seed=seed) for seed in range(TRIALS)]
    means = np.concatenate([trial.means[:, 0] for trial in trials])
    if build(name, {}).setting().kernel is not None:  # else no prior suits it, rescaled or not
        assert is_of_its_prior((means - problem.setting().prior_mean) / deviations(problem))
    assert 0.0 < problem.setting().prior_mean < 1.0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_moments_of_a_given_function_are_those_over_its_box(name):
    function, dim, moments, side, _ = FUNCTIONS[name]
    values = function(side * qmc.Sobol(dim, scramble=False).random_base2(15))
    assert moments == pytest.approx((values.mean(), values.std()), rel=0.01)
