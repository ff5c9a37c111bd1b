"""Algorithms that know a bound on the length-scale, or a few priors."""

from __future__ import annotations

import numpy as np
import pytest
from players import at_once, play, started
from scipy.stats import binomtest
from sklearn.gaussian_process.kernels import RBF, Matern

import agents
from agents.agent.assumptions import LengthScaleGrowth
from agents.agent.model_ensemble import NOBODY, CandidateRecord
from agents.algorithms import unknown_kernel
from agents.kernels.amplitude import inflation
from agents.registry import resolve_agent
from bandit_envs import BanditEnv, BanditVectorEnv, Decisions, Problem, Setting
from bandit_envs.kernels.kernels import TableKernel, make_kernel
from bandit_envs.laws import Gaussian, GPSample, KnownFunction, RKHSFunction, delays
from bandit_envs.problem.decisions import unit_grid
from gpbandits import evaluate

NAMED = [name for name in agents.names() if resolve_agent(name).make.__module__ == unknown_kernel.__name__]
SINGLE = {  # of one candidate, each is GP-UCB with a band of this delta
    "a-gp-ucb": ({"g": 0.0, "delta": 0.1}, 0.1),
    "lb-gp-ucb": ({"scales": [1.0], "delta": 0.2}, 0.1),
    "pe-gp-ucb": ({"priors": [{}], "delta": 0.2}, 0.1),
}
LIGHT = {"search": {"candidates": 32, "starts": 1, "steps": 3}}
LAWS = {"plain": {}, "late": {"delay": delays.PoissonDelay(3.0)}}


def drawn(arms=40, horizon=60, **laws):
    parts = Decisions(unit_grid(arms)), GPSample(), make_kernel("matern52", 0.1), Gaussian(0.1)
    return Problem(*parts, horizon=horizon, **laws)


def needle(x):
    return np.exp(-(((x[:, 0] - 0.7) / 0.05) ** 2)) + 0.3 * x[:, 0]


def known(horizon=80, noise=0.0):
    parts = Decisions(unit_grid(50)), KnownFunction(needle), make_kernel("rbf", 0.2), Gaussian(noise)
    return Problem(*parts, horizon=horizon)


def actions(problem, *spec, trials=3):
    return evaluate(problem, {"it": spec}, trials=trials).actions["it"]


def played(agent, problem, rounds, seed=0):
    """An agent that has played some rounds of one trial."""
    env = BanditEnv(problem)
    observation, _ = env.reset(seed=seed)
    agent = agent(env.get_wrapper_attr("setting"))
    agent.reset(seed)
    play(env, agent, observation, rounds)
    return agent


@pytest.mark.sampled(2)
@pytest.mark.parametrize("laws", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("name", NAMED)
def test_of_one_candidate_it_is_gp_ucb(name, laws):
    options, delta = SINGLE[name]
    expected = actions(drawn(**laws), "gp-ucb", {"width": "amm", "delta": delta})
    np.testing.assert_array_equal(actions(drawn(**laws), name, options), expected)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", NAMED)
def test_so_it_is_on_a_box(name):
    options, delta = SINGLE[name]
    box = Problem(
        Decisions(np.array([[0.0], [1.0]]), continuous=True), KnownFunction(needle), RBF(0.2), horizon=12
    )
    expected = actions(box, "gp-ucb", {"width": "amm", "delta": delta, **LIGHT}, trials=2)
    np.testing.assert_array_equal(actions(box, name, {**options, **LIGHT}, trials=2), expected)


@pytest.mark.parametrize("name", sorted({*NAMED} - {"pe-gp-ucb"}))
def test_a_kernel_without_a_length_scale_has_nothing_to_shorten(name):
    table = TableKernel(RBF(0.2)(unit_grid(20)))
    problem = Problem(Decisions(np.arange(20.0)[:, None]), GPSample(), table, horizon=30)
    delta = 0.1 if name == "a-gp-ucb" else 0.05
    expected = actions(problem, "gp-ucb", {"width": "amm", "delta": delta})
    np.testing.assert_array_equal(actions(problem, name, {"delta": 0.1}), expected)


def test_an_absurd_length_scale_is_struck_off_where_there_is_no_noise():
    options = {"scales": [50.0, 1.0, 0.25], "noise_std": 0.0, "noise_variance": 1e-4, "rkhs_bound": 4.0}
    agent = played(lambda setting: agents.lb_gp_ucb(setting, **options), known(), 80)
    assert agent.alive.tolist() == [[False, True, True]]
    assert agent.open.tolist() == agent.alive.tolist()
    assert agent.leader[0] > 0


def test_a_right_prior_mean_stays_and_wrong_ones_are_struck_off():
    priors = [{"prior_mean": mean} for mean in (5.0, 0.0, -5.0)]
    agent = played(lambda setting: agents.pe_gp_ucb(setting, priors=priors, kernel=RBF(0.1)), drawn(), 60)
    assert agent.alive[0, 1]
    assert not agent.alive[0, 0]
    assert not agent.refuted.any()


def test_that_every_prior_is_contradicted_is_said():
    options = {"priors": [{"prior_mean": 50.0}], "rkhs_bound": 0.1}
    agent = played(lambda setting: agents.pe_gp_ucb(setting, **options), known(noise=0.1), 10)
    assert agent.refuted.all()
    assert agent.alive.all()


def test_of_nested_length_scales_the_shortest_promises_most():
    lengths = [{"length_scale": length} for length in (0.4, 0.2, 0.1)]
    for prior, length in zip(lengths, (0.4, 0.2, 0.1), strict=True):
        prior["rkhs_bound"] = inflation(0.4 / length, 1)
    agent = played(lambda setting: agents.pe_gp_ucb(setting, priors=lengths), drawn(), 60)
    assert agent.record.chosen[0, 2] > 50


def test_the_turn_is_that_of_the_smallest_regret_bound():
    agent = played(lambda setting: agents.lb_gp_ucb(setting, scales=[1.0, 0.5, 0.1]), drawn(), 40)
    observation = np.zeros(1)
    for _ in range(10):
        gain = np.array([each.belief.gain[0] for each in agent.agents])
        bound = np.array([each.model.rkhs_bound for each in agent.agents])
        turns = agent.record.chosen[0].copy()
        expected = np.argmin(np.sqrt(turns + 1) * (bound * np.sqrt(gain) + gain))
        action = agent.act(observation)
        agent.update(observation, action, 0.3, at_once(agent.round, 0.3))
        assert np.flatnonzero(agent.record.chosen[0] > turns) == [expected]


@pytest.mark.parametrize(("kernel", "divisor"), [(RBF(0.8), 1), (Matern(0.8, nu=2.5), 6)])
def test_five_shorter_candidates_are_there_at_the_start_and_more_as_g_grows(kernel, divisor):
    setting = Setting(arms=unit_grid(10), horizon=10**5, kernel=kernel)
    agent = started(agents.lb_gp_ucb(setting))
    lengths = [each.model.kernel.length_scale for each in agent.agents]
    np.testing.assert_allclose(lengths, 0.8 * np.exp(-np.arange(len(lengths)) / divisor))
    assert agent.open.sum() == 6
    assert min(lengths) >= 0.8 / 10**2.5 > min(lengths) * np.exp(-1 / divisor)
    bounds = [each.model.rkhs_bound for each in agent.agents]
    np.testing.assert_allclose(bounds, np.sqrt(0.8 / np.array(lengths)))


def test_the_length_scale_shrinks_with_the_rounds_and_the_bound_grows():
    agent = played(lambda setting: agents.a_gp_ucb(setting, start=2.0, b=0.25, rkhs_bound=3.0), drawn(), 24)
    assert agent.model.kernel.length_scale == pytest.approx(0.1 / 5.0)  # of the 25th round
    assert agent.model.rkhs_bound == pytest.approx(3.0 * 5**0.5 * 25**0.25)
    assert LengthScaleGrowth(0.5, 2.0)(3) == 2.0


def test_its_posterior_is_that_of_the_kernel_of_the_round():
    agent = played(lambda setting: agents.a_gp_ucb(setting), drawn(), 20)
    again = started(agents.gp_ucb(agent.setting, kernel=agent.model.kernel, form="dense"))
    seen = agent.belief.mean_posterior.statistics(0)
    again.belief.mean_posterior.condition_on(0, seen)
    for one, other in zip(agent.posterior(np.zeros(1)), again.posterior(np.zeros(1)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-8)


def test_plays_of_somebody_else_are_learnt_and_charged_to_nobody():
    setting = Setting(arms=unit_grid(20), horizon=9, kernel=RBF(0.2), noise_std=0.1)
    for name in ("lb-gp-ucb", "pe-gp-ucb"):
        agent = started(agents.make(name, setting))
        for t in range(3):
            proposed = agent.act(np.zeros(1))
            agent.update(np.zeros(1), (proposed + 1) % 20, 1.0, at_once(t, 1.0))
        assert agent.record.chosen.sum() == 0
        assert agent.record.arrived.sum() == 0
        assert agent.posterior(np.zeros(1))[0].max() > 0.5


def test_values_are_credited_to_who_chose_the_play_and_dropped_ones_to_nobody():
    turns, rng = CandidateRecord(2, 3, 4), np.random.default_rng(0)
    who = rng.integers(NOBODY, 3, (9, 2))
    mean, band, value = rng.random((3, 9, 2))
    for row in zip(who, mean, band, strict=True):
        turns.play(*row)
    for t in (3, 0, 8, 7):
        turns.add(np.arange(2), np.full(2, t), value[t])
    turns.drop(np.array([0, 1]), np.array([5, 5]))
    came = np.isin(np.arange(9), (0, 3, 7, 8))[:, None]
    for k in range(3):
        mine = who == k
        kept = mine & (np.arange(9) != 5)[:, None]
        np.testing.assert_array_equal(turns.chosen[:, k], kept.sum(axis=0))
        np.testing.assert_array_equal(turns.arrived[:, k], (mine & came).sum(axis=0))
        for sums, terms in ((turns.value, value), (turns.promised, band), (turns.surprise, value - mean)):
            np.testing.assert_allclose(sums[:, k], np.where(mine & came, terms, 0.0).sum(axis=0))


RIGHT = {  # candidates of which the one in the middle is right
    "lb-gp-ucb": {"scales": [2.0, 1.0, 0.5], "rkhs_bound": 2.0},
    "pe-gp-ucb": {"priors": [{"prior_mean": mean} for mean in (0.7, 0.0, -0.7)], "rkhs_bound": 2.0},
}


@pytest.mark.parametrize(("name", "options"), RIGHT.items(), ids=RIGHT)
def test_a_right_candidate_is_struck_off_in_no_more_trials_than_delta(name, options):
    law, kernel = RKHSFunction(norm=2.0), make_kernel("matern52", 0.2)
    problem = Problem(Decisions(unit_grid(30)), law, kernel, Gaussian(0.1), horizon=60)
    env = BanditVectorEnv(problem, 24, autoreset_mode="Disabled")
    observation, _ = env.reset(seed=list(range(24)))
    agent = started(agents.make(name, env.setting, 24, delta=0.1, **options), list(range(24)))
    play(env, agent, observation, problem.horizon)
    assert binomtest(int((~agent.alive[:, 1]).sum()), 24, 0.1, "greater").pvalue > 1e-3
