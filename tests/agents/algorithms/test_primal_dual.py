"""PDCBO and CKB: multipliers that keep what is proved of them, and GP-UCB where nothing binds."""

from dataclasses import replace

import numpy as np
import pytest
from rectified_cases import cost, play, problem

import agents
from agents.algorithms.separate_models import RULES
from bandit_envs.laws import delays
from bandit_envs.problems import build
from gpbandits import evaluate

NAMES = ["ckb", "pdcbo"]
PROBLEMS = {
    "now": problem(),
    "late": problem(delay=delays.PoissonDelay(5)),
    "two": problem((cost, lambda x: 0.2 - x[:, 0])),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("place", PROBLEMS)
@pytest.mark.parametrize("options", [{}, {"step": 0.1}, {"restart": "never", "standardize": True}], ids=str)
def test_observed_costs_are_paid_by_the_multiplier_on_every_path(place, options):
    run = play(PROBLEMS[place], "pdcbo", **options)
    step = options.get("step", 1.0)
    final = run.agent.objective.phi
    phi = np.concatenate([run.phi[1:], final[None]])
    assert (np.cumsum(run.seen, axis=0) <= (phi - run.phi[0]) / step + 1e-9).all()
    assert (run.phi[0] == 0).all()
    np.testing.assert_allclose(phi, np.maximum(run.phi + step * run.seen, 0.0), atol=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("place", PROBLEMS)
@pytest.mark.parametrize("rule", RULES)
def test_the_multipliers_of_estimates_lie_within_their_cap(place, rule):
    run = play(PROBLEMS[place], "ckb", rule=rule, cap=0.5, step=0.4)
    assert (run.phi >= 0).all()
    assert (run.phi <= 0.5).all()
    assert len(np.unique(run.phi)) > 3


@pytest.mark.parametrize("place", PROBLEMS)
def test_the_multiplier_moves_by_the_estimate_at_the_play(place):
    run = play(PROBLEMS[place], "ckb", step=0.3, cap=2.0)
    lower = run.cost_mean - 3.0 * run.cost_std
    t, i = np.indices(run.arm.shape)
    expected = np.clip(run.phi + 0.3 * lower[t, i, :, run.arm], 0.0, 2.0)
    np.testing.assert_allclose(run.phi[1:], expected[:-1], atol=1e-8)


def test_costs_that_never_bind_leave_gp_ucb():
    slack = problem((lambda x: cost(x) - 4.0,))
    run = play(slack, "ckb")
    assert (run.phi == 0).all()
    actions = evaluate(slack, {"dual": "ckb", "plain": ("gp-ucb", {"width": 3.0})}, trials=2).actions
    np.testing.assert_array_equal(actions["dual"], actions["plain"])


@pytest.mark.parametrize("name", NAMES)
def test_a_multiplier_starts_over_with_its_trial(name):
    run = play(PROBLEMS["late"], name, restart="periodic", restart_options={"every": 20})
    assert (run.phi[::20] == 0).all()


@pytest.mark.parametrize("rule", RULES)
def test_a_batch_plays_what_its_trials_play_alone(rule):
    small = build("composite", {"horizon": 25, "num_arms": 15})
    both = evaluate(small, {"it": ("ckb", {"rule": rule})}, trials=2).actions["it"]
    for i in range(2):
        alone = evaluate(small, {"it": ("ckb", {"rule": rule})}, trials=1, first_trial=i).actions["it"]
        np.testing.assert_array_equal(alone[0], both[i])


def test_samples_of_costs_are_refused_on_a_box():
    box = replace(PROBLEMS["now"].setting(), arms=None, low=np.zeros(1), high=np.ones(1))
    assert agents.make("ckb", box, rule="random")
    with pytest.raises(ValueError, match='must not be "ts" on a box'):
        agents.make("ckb", box, rule="ts")


def test_estimates_may_be_clipped():
    run = play(PROBLEMS["now"], "ckb", clip=0.01, step=1.0, cap=9.0)
    assert np.abs(np.diff(run.phi, axis=0)).max() <= 0.01 + 1e-12
