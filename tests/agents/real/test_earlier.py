"""Earlier tasks as a prior: covariance, slopes, joint fits; siblings that help, lie or say nothing."""

import gymnasium as gym
import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import agents
from agents.real.earlier import EarlierTasks, checked_results
from agents.real.posterior import BoxPosterior, ImprovementSurface, SurrogatePosterior, best_mean
from agents.real.priors import Parameters, usual_prior
from agents.real.surrogate import PointValues, Surrogate
from bandit_envs import Decisions, Problem
from bandit_envs.laws import KnownFunction, UniformNoise
from gpbandits import evaluate

DIM = 3
LOW, SPAN = np.array([-1.0, 0.0, 2.0]), np.array([2.0, 1.0, 0.5])


def sibling(points):
    """Return a function with one clear peak, (n, D) in [0, 1] -> (n,)."""
    return np.exp(-4.0 * np.square(points - [0.3, 0.7, 0.5]).sum(axis=1))


def results(function, size=40, seed=0):
    """Return the results of a task, in features of the box."""
    points = np.random.default_rng(seed).random((size, DIM))
    return LOW + SPAN * points, function(points)


def silence(points):
    """Return values that say nothing."""
    return np.random.default_rng(7).standard_normal(len(points))


def informed(tasks, size=10, more=5):
    """Return a posterior with earlier tasks, whose points are the first ones of some columns."""
    rng = np.random.default_rng(1)
    columns, none = rng.random((size + more, DIM)), np.zeros(size + more, dtype=int)
    parameters = Parameters(columns, np.arange(DIM), none, 1, none[:DIM] > 0)
    surrogate = tasks.informed(Surrogate(parameters, usual_prior(parameters)))
    ones = np.ones(size)
    seen = PointValues(np.arange(size), ones, rng.standard_normal(size), 0.0 * ones, ones)
    return SurrogatePosterior(surrogate, surrogate.prior.centre + 0.2, seen)


@pytest.fixture(scope="module")
def two():
    """Return two tasks."""
    return EarlierTasks.of([results(sibling), results(lambda x: x[:, 0] - x[:, 1], 30, 3)], LOW, SPAN)


def test_means_are_those_of_each_task_in_its_own_unit(two):
    features, values = results(sibling)
    found = two.means((features - LOW) / SPAN)[:, 0] * np.sqrt(two.number / two.shares[0])
    np.testing.assert_allclose(found, (values - values.mean()) / values.std(), atol=0.05)


def test_weights_of_the_earlier_means_are_part_of_the_posterior(two):
    """The posterior is that of f = g + w'e with unknown weights, conditioned by hand."""
    known = informed(two)
    surrogate, points = known.surrogate, np.arange(15)
    told = two.means(surrogate.parameters.columns)
    alone = Surrogate(surrogate.parameters, surrogate.prior)
    smooth = alone.covariance(known.theta, points, points)
    np.testing.assert_allclose(
        surrogate.covariance(known.theta, points, points), smooth + told @ told.T, atol=1e-12
    )
    noise = known.noise / known.seen.weight
    # The joint normal law of w and the values, conditioned by hand.
    seen = known.seen.point
    within = smooth[np.ix_(seen, seen)] + told[seen] @ told[seen].T + np.diag(noise)
    within += np.ones_like(within) / surrogate.prior.mean_precision
    weights = told[seen].T @ np.linalg.solve(within, known.seen.mean)
    mean = 1.0 / surrogate.prior.mean_precision * np.linalg.solve(within, known.seen.mean).sum()
    rest = smooth[:, seen] @ np.linalg.solve(within, known.seen.mean)
    np.testing.assert_allclose(known.at(points).mean, mean + told @ weights + rest, atol=1e-6)


def test_slopes_of_the_loss_are_differences(two):
    known = informed(two)
    surrogate, seen = known.surrogate, known.seen._replace(plays=2.0 * known.seen.plays)
    _, slopes = surrogate.loss(known.theta, seen)
    step = 1e-6 * np.eye(len(slopes))
    ahead, behind = (
        np.array([surrogate.loss(known.theta + sign * one, seen)[0] for one in step]) for sign in (1, -1)
    )
    np.testing.assert_allclose(slopes, (ahead - behind) / 2e-6, rtol=1e-4, atol=1e-5)


def test_on_a_box_values_are_those_at_points_and_slopes_are_differences(two):
    known = informed(two)
    at, found = known.at(np.arange(15)), BoxPosterior(known, two).at(known.surrogate.parameters.columns)
    np.testing.assert_allclose(found.mean, at.mean, atol=1e-9)
    np.testing.assert_allclose(found.variance, at.known, atol=1e-9)
    surface = ImprovementSurface(BoxPosterior(known, two), best_mean(known), LOW, SPAN)
    arms = LOW + SPAN * np.random.default_rng(1).random((6, DIM))
    scores, slopes = surface.climb(arms)
    np.testing.assert_allclose(scores, surface.scores(arms), atol=1e-9)
    step = 1e-6 * np.eye(DIM)
    ahead, behind = (np.column_stack([surface.scores(arms + sign * one) for one in step]) for sign in (1, -1))
    np.testing.assert_allclose(slopes, (ahead - behind) / 2e-6, rtol=1e-3, atol=1e-4)


def test_a_task_that_predicts_nothing_of_itself_does_not_count():
    assert EarlierTasks.of([results(silence)], LOW, SPAN) is None
    assert EarlierTasks.of([results(lambda x: np.full(len(x), 3.0))], LOW, SPAN) is None
    both = EarlierTasks.of([results(silence), results(sibling)], LOW, SPAN)
    assert both.number == 1


def test_hyperparameters_are_those_of_all_tasks_together():
    """A second task that varies along other sides changes them; the same one twice hardly does."""
    of_one = EarlierTasks.of([results(sibling)], LOW, SPAN)
    twice = EarlierTasks.of([results(sibling), results(sibling)], LOW, SPAN)
    other = EarlierTasks.of([results(sibling), results(lambda x: np.sin(12.0 * x[:, 0]))], LOW, SPAN)
    assert np.abs(twice.theta - of_one.theta)[:DIM].max() < 0.1
    assert other.theta[0] < of_one.theta[0]


@pytest.mark.parametrize("scale", [1e-3, 1e4])
def test_units_of_earlier_values_do_not_matter(scale):
    features, values = results(sibling)
    one = EarlierTasks.of([(features, values)], LOW, SPAN)
    other = EarlierTasks.of([(features, 7.0 + scale * values)], LOW, SPAN)
    points = np.random.default_rng(2).random((9, DIM))
    np.testing.assert_allclose(one.means(points), other.means(points), rtol=1e-4, atol=1e-4)


def test_earlier_values_whose_squares_are_no_numbers_count_as_in_another_unit():
    setting = gym.make("GPBandit-GP-v0", dim=DIM, publish_model=False).unwrapped.setting
    features, values = results(sibling)
    large, small = (checked_results([(features, scale * values)], setting) for scale in (1e300, 1.0))
    points = np.random.default_rng(2).random((9, DIM))
    one, other = (EarlierTasks.of(each, LOW, SPAN).means(points) for each in (large, small))
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def regret(goal, function, trials=12, rounds=12):
    """Return the mean loss of a trial whose earlier task had a function; None for none."""
    rng = np.random.default_rng(3)
    arms = LOW + SPAN * rng.random((60, DIM))
    problem = Problem(
        decisions=Decisions(arms=arms),
        reward=KnownFunction(lambda x: sibling((x - LOW) / SPAN + 0.03)),
        kernel=RBF(0.5),
        noise=UniformNoise(std=0.02),
        horizon=rounds,
        publish_model=False,
    )
    like = [] if function is None else [results(function)]
    result = evaluate(
        problem,
        {"it": lambda setting: agents.make("gp-agent", setting, goal=goal, like=like)},
        trials=trials,
        seed=0,
    )
    return result.regret["it"][:, -1].mean()


@pytest.mark.long
@pytest.mark.parametrize("goal", ["regret", "best"])
def test_a_sibling_helps_and_one_that_lies_is_seen_through(goal):
    alone = regret(goal, None)
    assert regret(goal, sibling) < 0.7 * alone
    assert regret(goal, lambda x: -sibling(x)) < 1.5 * alone
    assert regret(goal, silence) == pytest.approx(alone, rel=0.5)


WRONG = {
    "text": "like must be a list",
    "a pair": [(np.ones((3, DIM)), np.ones(4))],
    "too few": [(np.ones((2, DIM)), np.ones(2))],
    "not a number": [(np.ones((3, DIM)), np.array([1.0, np.nan, 2.0]))],
    "other parameters": [(np.ones((3, DIM + 1)), np.ones(3))],
    "no pair": [3.0],
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_result_is_refused_by_name(name):
    setting = gym.make("GPBandit-GP-v0", dim=DIM, publish_model=False).unwrapped.setting
    with pytest.raises(ValueError, match="like"):
        agents.make("gp-agent", setting, like=WRONG[name])


def test_parts_and_contexts_refuse_earlier_tasks():
    setting = gym.make("GPBandit-GP-v0", dim=DIM, publish_model=False).unwrapped.setting
    with pytest.raises(ValueError, match="like must be left out with parts"):
        agents.make("gp-agent", setting, like=[results(sibling)], rule="ucb")
    contextual = gym.make("GPBandit-Contextual-v0").unwrapped.setting
    with pytest.raises(ValueError, match="like must be left out in contexts"):
        agents.make("gp-agent", contextual, like=[(np.ones((3, contextual.dim)), np.arange(3.0))])
