"""Clicks and counts: outcomes of the means, the moment-matched model, and what may not be combined."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from cases import by_hand
from scipy import stats
from sklearn.gaussian_process.kernels import RBF

from bandit_envs import Decisions
from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.environment.registration import IDS
from bandit_envs.kernels.kernels import LinkedKernel, amplified, make_kernel
from bandit_envs.laws import KnownFunction, RecordedValues
from bandit_envs.laws.drift import STILL, Replay
from bandit_envs.laws.outcomes import BernoulliOutcomes, OfOutcome, PoissonCounts
from bandit_envs.problems import build, keywords_of
from gpbandits import evaluate

OUTCOMES: dict[str, dict[str, Any]] = {
    "bernoulli": {"law": "bernoulli", "base": -1.0},
    "poisson": {"law": "poisson", "base": 0.5, "exposure": 2.0},
}
every_outcome = pytest.mark.parametrize("outcome", OUTCOMES.values(), ids=OUTCOMES.keys())
DRAWS = 200_000


def problem(outcome: Any, **keywords: Any) -> Any:
    return build("clicks", {"outcome": outcome, "num_arms": 12, "horizon": 40, **keywords})


@every_outcome
@pytest.mark.parametrize("variance", [0.3, 2.0])
def test_kernel_mean_and_noise_are_the_moments_of_the_means(outcome, variance):
    setting = problem(outcome, signal_variance=variance).setting()
    points = setting.decisions.points[::3]
    factor = np.linalg.cholesky(setting.latent_kernel(points) + 1e-10 * np.eye(len(points)))
    latent = factor @ np.random.default_rng(0).standard_normal((len(points), DRAWS))
    mean = setting.outcome.mean(latent)
    error = mean.std(axis=1) / np.sqrt(DRAWS)
    assert (np.abs(mean.mean(axis=1) - setting.prior_mean) < 4 * error).all()
    centred = mean - setting.prior_mean
    products = centred[:, None] * centred[None]
    gap = np.abs(products.mean(axis=2) - setting.kernel(points))
    assert (gap < 4.5 * products.std(axis=2) / np.sqrt(DRAWS)).all()
    spread = setting.outcome.variance(mean)
    assert abs(spread.mean() - setting.noise_std**2) < 4 * spread[0].std() / np.sqrt(DRAWS)
    np.testing.assert_allclose(setting.kernel.diag(points), np.diag(setting.kernel(points)))


def test_the_covariance_of_counts_is_that_of_log_normals():
    law, v = PoissonCounts(0.3, exposure=2.0), 0.7
    kernel = LinkedKernel(amplified(RBF(0.2), v), law.covariances(np.sqrt(v)))
    points = np.linspace(0, 1, 7)[:, None]
    rho = np.asarray(RBF(0.2)(points))
    exact = (2.0 * np.exp(0.3 + v / 2)) ** 2 * np.expm1(v * rho)
    np.testing.assert_allclose(kernel(points), exact, rtol=1e-9)
    assert np.linalg.eigvalsh(kernel(points)).min() > -1e-12


def test_clicks_are_as_frequent_as_their_probability_says():
    uniform = np.random.default_rng(0).random(DRAWS)
    for mean in (0.0, 0.03, 0.5, 1.0):
        clicks = BernoulliOutcomes().drawn(uniform, np.full(DRAWS, mean))
        assert set(np.unique(clicks)) <= {0.0, 1.0}
        assert abs(clicks.mean() - mean) <= 4 * np.sqrt(mean * (1 - mean) / DRAWS)


@pytest.mark.parametrize("mean", [1e-3, 0.4, 3.0, 80.0, 5000.0])
def test_counts_are_quantiles_of_the_uniform_number(mean):
    uniform = np.append(np.random.default_rng(0).random(2000), [0.0, 1e-12, 1 - 1e-12])
    found = PoissonCounts().drawn(uniform, np.full(uniform.size, mean))
    np.testing.assert_array_equal(found, np.maximum(stats.poisson.ppf(uniform, mean), 0.0))


def test_agents_meet_the_same_randomness():
    """Arms of a larger probability are clicked in every round in which another is."""
    env = gym.make("GPBandit-Clicks-v0", num_arms=12, horizon=200, oracle=True)
    plays = []
    for arm in (2, 9):
        env.reset(seed=4)
        rounds = [env.step(arm) for _ in range(200)]
        plays.append((rounds[0][4]["oracle"]["mean"], np.array([each[1] for each in rounds])))
    (_, fewer), (_, more) = sorted(plays, key=lambda play: play[0])
    assert (fewer <= more).all()
    assert fewer.sum() < more.sum()


@every_outcome
def test_regret_is_in_the_unit_of_the_mean_and_rewards_are_whole_numbers(outcome):
    env = gym.make("GPBandit-Clicks-v0", outcome=outcome, num_arms=12, horizon=30, oracle=True)
    env.reset(seed=1)
    law = env.get_wrapper_attr("problem").reward.outcome
    for arm in range(12):
        _, reward, _, _, info = env.step(arm)
        assert float(reward).is_integer()
        assert info["oracle"]["regret"] == info["oracle"]["optimum"] - info["oracle"]["mean"]
        assert law.mean(-8.0) < info["oracle"]["mean"] < law.mean(8.0)


def test_nothing_that_is_published_depends_on_the_function():
    it = problem(OUTCOMES["bernoulli"], function="rkhs", rkhs_norm=4.0)
    assert it.trial_facts == ()
    first, second = (it.draw(seed).setting for seed in range(2))
    assert first.latent_bound == second.latent_bound == 4.0
    assert first.rkhs_bound is None  # p is no member of a space of known norm
    assert repr(first) == repr(second)
    withheld = problem(OUTCOMES["bernoulli"], publish_model=False).setting()
    assert (withheld.outcome, withheld.latent_kernel, withheld.kernel) == (None, None, None)


@pytest.mark.parametrize(
    "keywords",
    [
        {"delay": {"law": "geometric", "mean": 4, "lost": 0.3}},
        {"num_contexts": 3},
        {"change_points": [5]},
        {"constraints": {"law": "gp", "quantile": 0.4}},
        {"availability": {"law": "bernoulli", "p": 0.7}},
        {"budget": 12},
        {"continuous": True},
    ],
    ids=lambda keywords: next(iter(keywords)),
)
def test_clicks_go_with_the_other_features(keywords):
    """GP-UCB plays them as they are, with finite regret, and is marked as taking clicks for values."""
    env = {"num_arms": 12, "horizon": 12, **keywords}
    result = evaluate("GPBandit-Clicks-v0", ["gp-ucb", "random"], trials=2, env_kwargs=env)
    assert np.isfinite(result.regret["gp-ucb"]).all()
    assert "gp-ucb" in result.unfit
    assert "random" not in result.unfit


@pytest.mark.parametrize("env_id", [each for each, name in IDS.items() if "outcome" in keywords_of(name)])
def test_outcomes_replace_what_an_id_rescales_by_itself_and_an_unknown_one_is_named(env_id):
    env = gym.make(env_id, outcome="bernoulli", num_arms=9, horizon=5)
    env.reset(seed=0)
    assert 0.0 <= env.step(env.action_space.sample())[4]["oracle"]["mean"] <= 1.0
    with pytest.raises(ArgumentError, match=r'outcome\["law"\] must be one of bernoulli, poisson, got'):
        gym.make(env_id, outcome="x")


def test_noise_of_clicks_is_bounded_and_sub_gaussian_in_its_own_unit():
    law: Any = OfOutcome(0.4, outcome=BernoulliOutcomes())
    assert law.std * law.sub_gaussian == pytest.approx(0.5)
    assert law.std * law.relative_bound >= 1.0
    assert OfOutcome(0.4, outcome=PoissonCounts()).relative_bound is None


def test_a_kernel_of_links_is_a_kernel_of_scikit_learn():
    kernel = LinkedKernel(make_kernel("rbf"), BernoulliOutcomes().covariances(1.0))
    points = np.linspace(0, 1, 5)[:, None]
    copied: Any = kernel.clone_with_theta(kernel.theta)
    np.testing.assert_array_equal(copied(points), kernel(points))
    values, slopes = kernel(points, eval_gradient=True)
    assert slopes.shape == (5, 5, 0)
    np.testing.assert_array_equal(values, kernel(points, points))


IMPOSSIBLE = {
    "rates below 0 and above 1": (BernoulliOutcomes(), [-0.2, 1.3], "from 0 to 1"),
    "a rate above 1": (BernoulliOutcomes(), [0.2, 1.0 + 1e-6], "from 0 to 1"),
    "a negative count": (PoissonCounts(), [2.0, -2.0], "0 or positive"),
}


@pytest.mark.parametrize(("outcome", "means", "must"), IMPOSSIBLE.values(), ids=IMPOSSIBLE.keys())
@pytest.mark.parametrize("drift", [STILL, Replay(5)], ids=["still", "replay"])
def test_means_that_outcomes_cannot_have_are_refused_when_the_function_is_drawn(outcome, means, must, drift):
    law = {"noise": OfOutcome(0.4, outcome=outcome), "drift": drift, "horizon": 10, "prior_mean": 0.5}
    decisions = Decisions(np.array([[0.0], [1.0]]))
    impossible = by_hand(decisions=decisions, reward=RecordedValues(np.array([[0.3, 0.6], means])), **law)
    with pytest.raises(ArgumentError, match=f"reward must be {must}, as means of .* outcomes are, got"):
        [impossible.draw(entropy) for entropy in range(20)]  # each draws one of both rows
    by_hand(decisions=decisions, reward=RecordedValues(np.eye(2)), **law).draw(0)


def test_means_between_the_points_of_a_box_are_means_that_outcomes_can_have():
    """The function is 0.9 at both points and 1.15 halfway."""
    decisions = Decisions(np.array([[0.0], [1.0]]), continuous=True)
    law = KnownFunction(lambda x: 0.9 + x[:, 0] * (1 - x[:, 0]))
    with pytest.raises(ArgumentError, match="reward must be from 0 to 1"):
        by_hand(decisions=decisions, reward=law, noise=OfOutcome(0.4)).draw(0)
