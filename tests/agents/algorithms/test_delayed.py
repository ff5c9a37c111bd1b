"""Beliefs about pending feedback, by identities and the textbook, and GP-UCB on sums of anonymous rewards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import references
from agent_cases import GAUSSIAN, of_each_shape, on_a_line
from players import each_round, play, started
from scipy import stats
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import agents
from agents.algorithms.delayed import Functionals, chances_of
from agents.beliefs.censored import Censored
from agents.beliefs.surface import Surface
from agents.model.model import Model
from bandit_envs import Setting, make
from bandit_envs.kernels import gram
from bandit_envs.kernels.gram import DENSE_LIMIT
from bandit_envs.laws import delays
from bandit_envs.problem.setting import batch_settings
from bandit_envs.problems import build
from gpbandits import evaluate

DELAYED = {"horizon": 60, "num_arms": 80, "length_scale": 0.1, "delay": {"law": "poisson", "mean": 6}}
HERE = np.zeros(1, dtype=np.int64)


class Playing:
    """An agent on a delayed environment, one trial, with a log of its plays and what it was told."""

    def __init__(self, name, rounds=40, env=DELAYED, **options):
        environment = make("GPBandit-GP-v0", **env)
        observation, _ = environment.reset(seed=5)
        self.setting = environment.get_wrapper_attr("setting")
        self.agent = agents.make(name, environment, **options)
        self.agent.reset(1)
        self.points, self.value, self.delay = [], {}, {}
        for t, (action, _, info, _) in enumerate(each_round(environment, self.agent, observation, rounds)):
            self.points.append(action)
            for slot in np.flatnonzero(info["feedback_mask"]):
                step = int(info["feedback_step"][slot])
                self.value[step], self.delay[step] = info["feedback_reward"][slot], t - step

    def posterior(self, steps, values):
        """The textbook posterior on some plays, values shifted by the prior mean."""
        model = self.agent.model
        gram = model.kernel(self.setting.arms)
        points = np.array([self.points[s] for s in steps], dtype=np.int64)
        noise, values = float(model.noise_variance), np.asarray(values, dtype=float)
        return references.posterior(gram, noise, points, values)

    @property
    def shifted(self):
        """Values above the published lower bound."""
        return {s: value - self.setting.reward_lower_bound for s, value in self.value.items()}


def test_the_bias_is_in_units_of_the_learnt_prior_deviation():
    learnt = Playing("gp-ucb-sdf", rounds=5, window=4).agent
    learnt.remodel(replace(learnt.model, kernel=ConstantKernel(0.3**2) * learnt.model.kernel))
    given = Playing("gp-ucb-sdf", rounds=5, window=4, reward_bound=0.3).agent
    given.remodel(learnt.model)
    np.testing.assert_allclose(learnt.belief.bias, given.belief.bias, rtol=1e-12)
    assert learnt.model.prior_std == pytest.approx(0.3)


def test_noisy_deviations_are_those_of_observations_in_width_and_bias():
    playing = Playing("gp-ucb-sdf", rounds=30, window=5, noisy=True)
    _, covariance = playing.posterior(range(30), np.zeros(30))
    expected = np.sqrt(np.diag(covariance) + float(playing.agent.model.noise_variance))
    belief = playing.agent.belief
    np.testing.assert_allclose(belief.std(HERE)[0], expected, rtol=1e-6)
    np.testing.assert_allclose(belief.bias, expected[playing.points[25:]].sum(), rtol=1e-6)


def test_deviations_with_and_without_noise_are_the_same_on_a_box_and_on_its_points():
    box = {"dim": 2, "continuous": True, "horizon": 12, "delay": {"law": "constant", "rounds": 2}}
    env = make("GPBandit-RKHS-v0", **box)
    for noisy in (False, True):
        observation, _ = env.reset(seed=1)
        agent = started(agents.make("gp-ucb-sdf", env, noisy=noisy, initial=3))
        play(env, agent, observation, 6)
        std = Surface.of(agent.belief).predict(agent.features)[1]
        np.testing.assert_allclose(std, agent.belief.std(HERE)[0], rtol=1e-9)
        assert (std**2 >= 0.99 * float(agent.model.noise_variance)).all() == noisy


@pytest.mark.parametrize("form", ["weight-space", "pairs"])
def test_without_a_bound_on_rewards_samples_are_those_of_the_posterior_itself(form):
    drawn = Playing("gp-ts-sdf", window=6, reward_bound=0.0, form=form)
    censored = {"belief": "censored", "belief_options": {"window": 6, "reward_bound": 0.0}}
    plain = Playing("gp-agent", rule="thompson", width=1.0, form=form, **censored)
    assert drawn.agent.belief.bias == 0.0
    assert drawn.points == plain.points


def test_filling_in_the_posterior_mean_is_hallucination():
    imputed = Playing("gp-ucb-sdf", window=1000, reward_bound=0.0, fill_in="mean")
    hallucinated = Playing("gp-bucb")
    assert imputed.points == hallucinated.points
    means = [playing.agent.belief.mean(HERE)[0] for playing in (imputed, hallucinated)]
    np.testing.assert_allclose(means[0], means[1], rtol=0, atol=1e-8)


def test_filling_in_nearest_means_lies_between_zero_and_hallucination():
    plays = {fill: Playing("gp-ucb-sdf", window=1000, fill_in=fill) for fill in ("zero", "nearest", "mean")}
    playing = plays["nearest"]
    belief, values = playing.agent.belief, dict(playing.value)
    delivered = sorted({playing.points[s] for s in values})
    arms = playing.setting.arms[:, 0]
    pending = sorted(set(range(40)) - values.keys())
    assert pending
    for s in pending:
        nearest = sorted(delivered, key=lambda y: (arms[y] - arms[playing.points[s]]) ** 2)[:3]
        values[s] = belief.delivered.mean[0, nearest].mean()
    mean, _ = playing.posterior(list(values), list(values.values()))
    np.testing.assert_allclose(belief.mean(HERE)[0], mean, rtol=0, atol=1e-8)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("length_scale", [0.02, 0.2])
def test_no_delay_makes_all_delay_policies_equal(length_scale):
    specs = {
        "ucb": ("gp-ucb", {"width": 1.0}),
        "sdf": ("gp-ucb-sdf", {"window": 0}),
        "default": "gp-ucb-sdf",
        "bucb": "gp-bucb",
    }
    keywords = {"horizon": 80, "length_scale": length_scale}
    plays = evaluate("GPBandit-GP-v0", specs, trials=4, env_kwargs=keywords).actions
    for label in ("sdf", "default", "bucb"):
        np.testing.assert_array_equal(plays["ucb"], plays[label])
    samplers = {"ts": ("gp-ts", {"width": 1}), "asy": "asy-ts", "bts": "gp-bts", "sdf": "gp-ts-sdf"}
    plays = evaluate("GPBandit-GP-v0", samplers, trials=4, env_kwargs=keywords).actions
    for label in ("asy", "bts", "sdf"):
        np.testing.assert_array_equal(plays["ts"], plays[label])


def plays_when_told(name, bound):
    """The plays of an agent on a delayed environment whose setting states this lower bound, and the agent."""
    environment = make("GPBandit-GP-v0", **DELAYED)
    observation, _ = environment.reset(seed=5)
    setting = replace(environment.get_wrapper_attr("setting"), reward_lower_bound=bound)
    agent = started(agents.make(name, setting), 1)
    return play(environment, agent, observation, 25)[0], agent


@pytest.mark.parametrize("name", of_each_shape(name for name in GAUSSIAN if agents.features(name).delay))
def test_a_lower_bound_of_the_reward_matters_to_agents_that_censor_and_to_no_other(name):
    (plays, agent), (others, _) = plays_when_told(name, -1.0), plays_when_told(name, -7.0)
    assert (plays != others) == isinstance(getattr(agent, "belief", None), Censored)


def shifted_by(setting, name="gp-ucb-sdf", **options):
    """What an agent takes from a reward before its posterior sees it."""
    agent = started(agents.make(name, setting, **options))
    return float(agent.belief.prior_mean[0, 0])


def test_pending_feedback_counts_as_the_users_mean_the_published_bound_or_three_deviations_below_the_mean():
    arms = np.linspace(0, 1, 30)[:, None]
    untold = Setting(arms=arms, kernel=ConstantKernel(4.0) * RBF(0.2), prior_mean=1.0, max_delay=5)
    told = replace(untold, reward_lower_bound=-2.5)
    assert shifted_by(untold) == 1.0 - 3.0 * 2.0
    assert shifted_by(told) == -2.5
    assert shifted_by(told, prior_mean=0.5) == 0.5
    assert shifted_by(replace(told, max_delay=0)) == 1.0
    assert shifted_by(told, "gp-ucb") == shifted_by(told, fill_in="mean") == 1.0


def test_each_trial_of_a_batch_censors_at_its_own_lower_bound():
    trials = [Setting(arms=np.eye(3), kernel=RBF(), max_delay=5, reward_lower_bound=b) for b in (-1.0, -4.0)]
    batch = started(agents.make("gp-ucb-sdf", batch_settings(trials), num_trials=2), [0, 1])
    np.testing.assert_array_equal(batch.belief.prior_mean[:, 0], [-1.0, -4.0])
    assert [shifted_by(batch_settings(trials).of_trial(i)) for i in range(2)] == [-1.0, -4.0]


def test_the_delayed_width_is_the_formula_of_the_theorem():
    setting = build("rkhs", {**DELAYED, "rkhs_norm": 2.0}).setting()
    agent = agents.gp_ucb_sdf(setting, width="delayed", rkhs_bound=2.0, noise_std=0.5, reward_bound=3.0)
    width = agent.rule.width(np.array([7]), np.array([1.3]))
    expected = 2.0 + (0.5 + 3.0) * np.sqrt(2 * (1.3 + 1 + np.log(2 / 0.1)))
    np.testing.assert_allclose(width, expected, rtol=1e-14)


IN_TIME = {**DELAYED, "delay": {"law": "exponential", "mean": 3.0, "interval": 0.5}}


@pytest.mark.parametrize(
    ("name", "options"),
    [("gp-ucb-sdf", {}), ("gp-ts-sdf", {"fill_in": "mean"}), ("gp-agent", {"belief": "censored"})],
)
def test_delays_that_are_long_in_units_of_time_are_waited_for(name, options):
    law = {"law": "exponential", "mean": 600.0, "interval": 60.0}
    playing = Playing(name, rounds=120, env={**DELAYED, "horizon": 120, "delay": law}, **options)
    times = playing.setting.query_times
    assert times is not None
    taken = np.array([times[min(s + delay + 1, 119)] - times[s] for s, delay in playing.delay.items()])
    assert len(taken) > 90
    assert (taken <= playing.agent.belief.window).mean() > 0.9


def test_windows_and_biases_are_in_units_of_time_where_query_times_are_published():
    playing = Playing("gp-ucb-sdf", env=IN_TIME, window=2.0)
    times = playing.setting.query_times
    assert times is not None
    np.testing.assert_allclose(times, 0.5 * np.arange(60))
    used = {s: times[s + delay + 1] - times[s] for s, delay in playing.delay.items()}
    assert min(used.values()) <= 2.0 < max(used.values())
    values = [playing.shifted[s] if used.get(s, np.inf) <= 2.0 else 0.0 for s in range(40)]
    mean, covariance = playing.posterior(range(40), values)
    belief = playing.agent.belief
    shifted = belief.mean(HERE)[0] - playing.setting.reward_lower_bound
    np.testing.assert_allclose(shifted, mean, rtol=0, atol=1e-8)
    recent = [playing.points[s] for s in range(40) if times[40] - times[s] < 2.0]
    assert len(recent) == 3
    expected = np.sqrt(np.maximum(np.diag(covariance)[recent], 0.0)).sum()
    np.testing.assert_allclose(belief.bias, expected, rtol=1e-6)


def test_the_initial_plays_are_uniform_and_the_first_of_the_horizon():
    keywords = {"horizon": 8, "num_arms": 20}
    result = evaluate("GPBandit-GP-v0", {"a": ("gp-ucb", {"initial": 5})}, trials=64, env_kwargs=keywords)
    first = result.actions["a"][:, :5].ravel()
    count = np.bincount(first, minlength=20)
    assert count.min() > 0
    assert ((count - 16) ** 2 / 16).sum() < 43.8  # chi-squared with 19 degrees, 1 in 1000


# Sums

SUMMED = on_a_line(12, horizon=60, prior_mean=0.4, delay=delays.PoissonDelay(3.0), aggregated=True)
ONE = np.zeros(1)
BENCH = {"num_arms": 100, "horizon": 400, "noise_std": 0.1, "delay": {"law": "poisson", "mean": 5}}


def summed(total: float) -> dict:
    return {
        "feedback_mask": np.ones(1, dtype=bool),
        "feedback_step": np.full(1, -1),
        "feedback_reward": np.array([total]),
    }


@pytest.mark.parametrize("limit", [DENSE_LIMIT, 1], ids=["table", "no table"])
@pytest.mark.parametrize("count", [8, 30], ids=["fewer than points", "more"])
def test_sums_are_conditioned_on_exactly(count, limit, monkeypatch):
    monkeypatch.setattr(gram, "DENSE_LIMIT", limit)
    model, rng = Model.of(SUMMED), np.random.default_rng(0)
    belief = Functionals(model)
    rows, values = rng.random((count, 12)), rng.normal(size=count)
    variances = rng.random(count) + 0.1
    for row, value, variance in zip(rows, values, variances, strict=True):
        point = np.r_[np.arange(12), 3]  # one of them in two parts
        weight = np.r_[row, 0.25]
        weight[3] -= 0.25
        belief.observe(point, weight, value, variance)
    prior = model.gram.dense
    noisy = rows @ prior @ rows.T + np.diag(variances)
    gain = prior @ rows.T @ np.linalg.inv(noisy)
    np.testing.assert_allclose(belief.mean, 0.4 + gain @ (values - rows @ np.full(12, 0.4)), atol=1e-10)
    np.testing.assert_allclose(belief.covariance, prior - gain @ rows @ prior, atol=1e-10)
    np.testing.assert_allclose(belief.variance, np.diag(belief.covariance), atol=1e-12)


def test_a_round_tells_what_the_chances_say_of_the_last_plays():
    agent = started(agents.make("gp-ucb-aggregated", SUMMED, chances=[0.5, 0.3, 0.1]))
    expected = Functionals(agent.model)
    for t, (arm, total) in enumerate([(2, 1.0), (7, -0.5), (7, 2.0), (4, 0.0)]):
        agent.act(ONE)
        agent.update(ONE, arm, total, summed(total))
        recent = np.array([2, 7, 7, 4][: t + 1][::-1][:3])
        chance = np.array([0.5, 0.3, 0.1])[: t + 1]
        square = expected.mean[recent] ** 2 + np.maximum(expected.variance[recent], 0.0)
        uncertain = (chance * (1 - chance)) @ square
        expected.observe(recent, chance, total, 0.01 * chance.sum() + uncertain)
        np.testing.assert_allclose(agent.functionals.mean, expected.mean, atol=1e-12)
        np.testing.assert_allclose(agent.functionals.covariance, expected.covariance, atol=1e-12)


def test_where_nothing_is_late_or_summed_it_plays_as_gp_ucb():
    for aggregated in (False, True):
        problem = {**BENCH, "horizon": 60, "delay": None, "aggregated": aggregated}
        ours = evaluate("GPBandit-GP-v0", ["gp-ucb-aggregated"], trials=2, env_kwargs=problem)
        plain = {**problem, "aggregated": False}
        theirs = evaluate("GPBandit-GP-v0", {"it": ("gp-ucb", {"width": 2.0})}, trials=2, env_kwargs=plain)
        np.testing.assert_array_equal(ours.actions["gp-ucb-aggregated"], theirs.actions["it"])


def test_chances_are_those_of_the_published_law():
    found = chances_of(SUMMED)
    exact = stats.poisson.pmf(np.arange(len(found)), 3.0)
    assert np.abs(found - exact).max() < 4.0 * 0.5 / np.sqrt(100_000)
    lossy = chances_of(replace(SUMMED, delay=delays.PoissonDelay(3.0, lost=0.5)))
    assert abs(lossy.sum() - 0.5) < 0.01
    np.testing.assert_array_equal(chances_of(replace(SUMMED, max_delay=0)), [1.0])


@pytest.mark.parametrize(
    ("setting", "options", "message"),
    [
        (replace(SUMMED, delay=None, max_delay=5), {}, "chances must be given"),
        (replace(SUMMED, delay=delays.ByReward()), {}, "chances must be given"),
        (replace(SUMMED, delay=delays.DelayByArm()), {}, "chances must be given"),
        (SUMMED, {"chances": [0.7, 0.7]}, "chances must be a list of numbers"),
        (SUMMED, {"chances": [-0.1, 0.7]}, "chances must be a list of numbers"),
        (SUMMED, {"form": "pairs"}, "form must be left out"),
        (SUMMED, {"repeat": 2.0}, "repeat must be 1"),
        (Setting(low=np.zeros(1), high=np.ones(1), aggregated=True), {}, "setting must have arms"),
    ],
)
def test_what_it_cannot_do_is_refused(setting, options, message):
    with pytest.raises(ValueError, match=message):
        agents.make("gp-ucb-aggregated", setting, **options)
