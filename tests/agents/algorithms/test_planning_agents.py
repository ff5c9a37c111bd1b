"""Agents that plan their plays: RGP-PE strikes arms off under attack, RAHBO weighs means against noise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from players import at_once, play, started
from scipy.stats import binomtest

import agents
from agents.algorithms.planning import EXTRAS, READINGS, RGPPE
from agents.model.model import Model
from agents.posteriors import posterior
from bandit_envs import BanditEnv, BanditVectorEnv, Setting
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.problems import build
from gpbandits import evaluate
from gpbandits.evaluation import risk_averse_regret, trial_seeds

ARMS = np.linspace(0.0, 1.0, 15)[:, None]
SETTING = Setting(arms=ARMS, horizon=200, kernel=make_kernel("rbf"), noise_std=0.1, rkhs_bound=1.5)
ONE = np.zeros(1)
HERE = np.zeros(1, dtype=np.int64)


def arms_of(agent: Any, value: Any, rounds: int) -> list[int]:
    agent.reset(0)
    arms = []
    for t in range(rounds):
        arms.append(agent.act(ONE))
        reward = np.array([value(arms[-1], t)])
        agent.update(ONE, arms[-1], reward[0], at_once(t, reward))
    return arms


def planned_one_by_one(active: np.ndarray, length: int, eta: float, order: np.ndarray) -> np.ndarray:
    """The plan of the pseudocode: variances are looked at again when the determinant has grown by eta."""
    model = Model.of(SETTING)
    known, looked = (posterior(model.gram, 0.01, 1, 200) for _ in range(2))
    count = np.zeros(len(active))
    for _ in range(length):
        variance = np.where(active, looked.variance_at(None)[0], -np.inf)
        x = next(x for x in order if variance[x] >= variance.max() - 1e-9)
        count[x] += 1
        known.observe(HERE, np.array([x]), np.zeros(1))
        if known.gain[0] > looked.gain[0] + 0.5 * np.log(eta):
            looked.condition_on(0, known.statistics(0))
    return count


@pytest.mark.parametrize("eta", [1.5, 2.0, 30.0])
def test_the_plan_is_that_of_the_pseudocode(eta):
    agent = RGPPE(Model.of(SETTING), 1.0, eta, 1e-3, "sharp", 0.1)  # no arm is played oftener than planned
    agent.reset(0)
    agent.active[3:9] = False
    for epoch in (0, 2, 5):
        agent.epoch, agent.size = epoch - 1, 0
        order = np.random.default_rng(int(ONE.item() * 2**53)).permutation(len(agent.active))
        expected = planned_one_by_one(agent.active, 2 ** (epoch + 1), eta, order)
        np.testing.assert_array_equal(np.bincount(agent.plan(ONE), minlength=15), expected)


def test_every_planned_point_is_played_often_enough():
    agent = started(RGPPE(Model.of(SETTING), 1.0, 2.0, 0.3, "sharp", 0.1))
    plan = agent.plan(ONE)
    order = np.random.default_rng(int(ONE.item() * 2**53)).permutation(len(agent.active))
    count = planned_one_by_one(agent.active, 2, 2.0, order)
    played = np.bincount(plan, minlength=15)
    np.testing.assert_array_equal(played, np.ceil(np.where(count > 0, np.maximum(count, 2 * 0.3), 0.0)))
    assert agent.size == len(plan)


def test_plays_of_the_first_epoch_depend_on_no_value():
    agent = agents.rgp_pe(SETTING)
    one, other = (arms_of(agent, value, 12) for value in (lambda a, t: 0.3 * a, lambda a, t: -0.3 * a))
    agent.reset(0)
    first = len(agent.plan(ONE))
    assert one[:first] == other[:first]
    assert one != other


@pytest.mark.parametrize("noise_variance", [0.01, 4.0])
def test_the_sharp_allowance_is_the_smallest_and_the_heuristic_is_none(noise_variance):
    half = {}
    for extra in EXTRAS:
        agent = RGPPE(Model.of(SETTING, noise_variance=noise_variance), 5.0, 2.0, 0.05, extra, 0.1)
        arms_of(agent, lambda a, t: 0.0, 30)
        half[extra] = agent.half_width
    assert (half["sharp"] <= half["tight"] + 1e-9).all()
    assert (half["tight"] <= half["paper"] + 1e-9).all()
    assert (half["heuristic"] < half["paper"]).all()


def attacked(horizon: int, budget: float) -> Any:
    corruption = {"law": "near-optimal", "budget": budget}
    keywords = {"kernel": "rbf", "rkhs_norm": 2.0, "num_arms": 30, "points": "grid", "noise_std": 0.1}
    return build("rkhs", keywords | {"corruption": corruption, "horizon": horizon})


def survivors(problem: Any, trials: int, **options: Any) -> tuple[int, float]:
    """In how many trials the best arm was struck off, and the share of arms that are left."""
    env = BanditVectorEnv(problem, trials, autoreset_mode="Disabled")
    observation, _ = env.reset(seed=list(range(trials)))
    agent = started(agents.make("rgp-pe", env.setting, trials, **options), list(range(trials)))
    play(env, agent, observation, problem.horizon)
    means = np.array([trial.means[0, 0] for trial in env.simulator.trials])
    left = np.array([each.active for each in agent.agents])
    return int((~left[np.arange(trials), means.argmax(axis=1)]).sum()), float(left.mean())


@pytest.mark.long
def test_no_attacker_within_the_budget_makes_it_strike_off_the_best_arm():
    struck, left = survivors(attacked(250, 0.6), 8)
    assert binomtest(struck, 8).proportion_ci(0.99).low <= 0.1
    assert left < 0.8  # and others are


def test_with_the_allowance_of_the_paper_nothing_is_struck_off():
    assert survivors(attacked(250, 10.0), 2, extra="paper") == (0, 1.0)


# --- RAHBO ---


def risk(agent: Any) -> tuple[np.ndarray, np.ndarray]:
    """Mean and std of rho^2, whose share of R^2 has the prior mean 1/2."""
    mean, variance = agent.variance.mean_at(None)[0], agent.variance.variance_at(None)[0]
    return agent.model.noise_std**2 * (0.5 + mean), agent.model.noise_std**2 * np.sqrt(variance)


LOUD = {"law": "by-arm", "std": 0.5, "quietest": 0.1}


def test_an_arm_is_played_k_times_and_learnt_as_their_mean():
    agent = agents.rahbo(SETTING, repeats=4)
    rng = np.random.default_rng(0)
    arms = arms_of(agent, lambda a, t: rng.normal(), 40)
    assert all(len(set(arms[i : i + 4])) == 1 for i in range(0, 40, 4))
    assert agent.variance.statistics(0).plays.sum() == 9  # the last plan's values are not looked at yet


@pytest.mark.parametrize("reading", READINGS)
def test_the_mean_of_k_values_has_the_noise_of_the_reading(reading):
    """The paper's is the upper bound of the variance, of R^2 at most, over k; the code's the sample's."""
    agent = agents.rahbo(replace(SETTING, noise_std=0.5), repeats=4, reading=reading)
    rng, weight, seen = np.random.default_rng(0), np.zeros(15), np.zeros(15)
    agent.begin()
    for arm in (3, 3, 9, 3):
        values = rng.normal(0.0, 0.2, 4)
        agent.learn(np.full(4, arm), values)
        agent.plan(np.zeros(1))
        mean, std = risk(agent)
        upper = min(mean[arm] + 2.0**0.5 * std[arm], 0.25)
        weight[arm] += 4 * 0.25 / (upper if reading == "paper" else values.var(ddof=1))
    known = agent.reward.mean_posterior.statistics(0)
    seen[known.point] = known.plays
    np.testing.assert_allclose(seen, weight)


def test_a_published_deviation_is_taken_for_known():
    profile = np.linspace(0.1, 1.0, 15)
    told = Setting(arms=ARMS, horizon=40, kernel=SETTING.kernel, noise_std=0.5, noise_profile=profile)
    agent = agents.rahbo(told, repeats=2)
    arms = arms_of(agent, lambda a, t: 1.0, 6)
    seen = agent.reward.mean_posterior.statistics(0)
    expected = {a: sum(2 * profile[a] ** -2 for _ in range(arms[:4].count(a) // 2)) for a in set(arms[:4])}
    np.testing.assert_allclose(seen.plays, [expected[a] for a in seen.point.tolist()])
    np.testing.assert_allclose(agent.known, (0.5 * profile) ** 2)


def test_the_variance_is_learnt_from_the_spread_of_values():
    loud = Setting(arms=ARMS, horizon=600, kernel=SETTING.kernel, noise_std=1.0)
    agent = agents.rahbo(loud, explore=60)
    rng = np.random.default_rng(1)
    arms_of(agent, lambda a, t: rng.normal() * (0.2 + 0.8 * a / 14), 600)
    expected = (0.2 + 0.8 * np.arange(15) / 14) ** 2
    mean, std = risk(agent)
    assert (np.abs(mean - expected) < 4 * std).all()
    assert np.corrcoef(mean, expected)[0, 1] > 0.9


def test_the_risk_averse_regret_is_that_of_the_formula():
    problem = build("gp", {"num_arms": 20, "horizon": 5, "noise": LOUD})
    result = evaluate(problem, ["random"], trials=1, seed=2)
    env = BanditEnv(problem)
    env.reset(seed=trial_seeds(2, 0)[0])
    mean = env.simulator.trials[0].means[0, 0]
    worth = mean - 3.0 * (0.5 * (0.1 + 0.9 * np.linspace(0, 1, 20))) ** 2
    played = result.actions["random"][0]
    expected = np.cumsum(worth.max() - worth[played])
    np.testing.assert_allclose(risk_averse_regret(problem, played[None], 3.0, seed=2)[0], expected)
    thinned = evaluate(problem, ["random"], trials=1, seed=2, checkpoints=[2, 5])
    with pytest.raises(ValueError, match=r"actions must be of all 5 rounds.*checkpoints drop rounds"):
        risk_averse_regret(problem, thinned.actions["random"], 3.0, seed=2)


def test_without_a_price_of_variance_its_regret_is_the_regret():
    problem = build("gp", {"num_arms": 20, "horizon": 20, "noise": LOUD})
    result = evaluate(problem, ["rahbo"], trials=3, seed=5)
    ours = risk_averse_regret(problem, result.actions["rahbo"], 0.0, seed=5)
    np.testing.assert_allclose(ours, result.regret["rahbo"], atol=1e-9)


@pytest.mark.long
def test_who_minds_noise_pays_less_than_who_does_not():
    noise = {"law": "by-arm", "std": 1.0, "quietest": 0.1}
    problem = build("gp", {"num_arms": 30, "horizon": 200, "noise": noise, "length_scale": 0.3})
    result = evaluate(problem, {"rahbo": ("rahbo", {"alpha": 2.0}), "ucb": "gp-ucb"}, trials=8)
    final = {name: risk_averse_regret(problem, result.actions[name], 2.0)[:, -1] for name in result.actions}
    assert final["rahbo"].mean() < 0.9 * final["ucb"].mean()
