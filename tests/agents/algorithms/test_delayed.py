"""Beliefs about pending feedback: identities, and the textbook on every play."""

from dataclasses import replace

import numpy as np
import pytest
import references
from agent_cases import GAUSSIAN, of_each_shape
from players import each_round, play
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import agents
from agents.beliefs.censored import Censored
from agents.beliefs.surface import Surface
from bandit_envs import Setting, make
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


@pytest.mark.parametrize("window", [0, 4, 100])
def test_sdf_is_the_posterior_on_all_plays_with_zero_for_what_has_not_arrived_in_time(window):
    playing = Playing("gp-ucb-sdf", window=window)
    steps = range(len(playing.points))
    values = [playing.shifted[s] if playing.delay.get(s, np.inf) <= window else 0.0 for s in steps]
    mean, covariance = playing.posterior(steps, values)
    belief = playing.agent.belief
    shifted = belief.mean(HERE)[0] - playing.setting.reward_lower_bound
    np.testing.assert_allclose(shifted, mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(belief.std(HERE)[0] ** 2, np.diag(covariance), rtol=0, atol=1e-8)


@pytest.mark.parametrize("window", [0, 3, 12, 1000])
def test_the_bias_is_the_sum_of_latent_deviations_over_the_last_plays(window):
    playing = Playing("gp-ucb-sdf", rounds=30, window=window, reward_bound=2.0)
    _, covariance = playing.posterior(range(30), np.zeros(30))
    recent = playing.points[max(0, 30 - window) :]
    expected = 2.0 * np.sqrt(np.maximum(np.diag(covariance)[recent], 0.0)).sum()
    np.testing.assert_allclose(playing.agent.belief.bias, expected, rtol=1e-6)


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
        agent = agents.make("gp-ucb-sdf", env, noisy=noisy, initial=3)
        agent.reset(0)
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
    agent = agents.make(name, setting)
    agent.reset(1)
    return play(environment, agent, observation, 25)[0], agent


@pytest.mark.parametrize("name", of_each_shape(name for name in GAUSSIAN if agents.features(name).delay))
def test_a_lower_bound_of_the_reward_matters_to_agents_that_censor_and_to_no_other(name):
    (plays, agent), (others, _) = plays_when_told(name, -1.0), plays_when_told(name, -7.0)
    assert (plays != others) == isinstance(getattr(agent, "belief", None), Censored)


def shifted_by(setting, name="gp-ucb-sdf", **options):
    """What an agent takes from a reward before its posterior sees it."""
    agent = agents.make(name, setting, **options)
    agent.reset(0)
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
    batch = agents.make("gp-ucb-sdf", batch_settings(trials), num_trials=2)
    batch.reset([0, 1])
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


def test_an_uncertainty_sampling_start_plays_like_pure_exploration():
    specs = {"start": ("gp-bucb", {"start": 10}), "variance": "pure-exploration"}
    plays = evaluate("GPBandit-GP-v0", specs, trials=3, env_kwargs={"horizon": 12}).actions
    np.testing.assert_array_equal(plays["start"][:, :10], plays["variance"][:, :10])
    assert not np.array_equal(plays["start"], plays["variance"])
