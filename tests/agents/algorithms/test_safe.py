"""Agents that keep every cost in every round: what they may play, and that they keep it."""

from dataclasses import replace

import numpy as np
import pytest
from rectified_cases import KERNEL, LINE, NOISE, cost, play, problem

import agents
from agents.algorithms import safe
from agents.registry import resolve_agent
from bandit_envs import Decisions, Problem
from bandit_envs.laws import Gaussian, GPSample, changes, delays
from bandit_envs.laws.feasibility import FeasibleShare
from gpbandits import evaluate

NAMES = [name for name in agents.names() if resolve_agent(name).make.__module__ == safe.__name__]
TWO = (cost, lambda x: 0.2 - x[:, 0])
SAFE = {"safe_seed": True}
PROBLEMS = {
    "one cost": problem(**SAFE),
    "two costs": problem(TWO, **SAFE),
    "delay": problem(TWO, delay=delays.Poisson(5), **SAFE),
}


def bench(horizon=200, **laws):
    """Samples of a Gaussian process on 100 arms, of which 40 % are feasible."""
    return Problem(
        Decisions(np.linspace(0.0, 1.0, 100)[:, None]),
        GPSample(),
        KERNEL,
        noise=Gaussian(NOISE),
        constraints=(GPSample(),),
        feasibility=FeasibleShare(0.4),
        constraint_noise=Gaussian(NOISE),
        horizon=horizon,
        safe_seed=True,
        **laws,
    )


def unsafe_runs(problem, name, trials, **options):
    result = evaluate(problem, {"it": (name, options)}, trials=trials)
    return int((result.unsafe_plays["it"][:, -1] > 0).sum())


@pytest.mark.parametrize("place", PROBLEMS)
@pytest.mark.parametrize("name", NAMES)
def test_every_play_is_a_safe_seed_or_kept_by_all_bands(name, place):
    run = play(PROBLEMS[place], name, cost_width=2.0)
    (seed,) = np.unique(run.agent.setting.safe_seed)
    kept = (run.cost_mean + 2.0 * run.cost_std <= 0.0).all(axis=2)
    kept[..., seed] = True
    assert np.take_along_axis(kept, run.arm[..., None], 2).all()
    assert (run.arm != seed).any()


def test_safe_ucb_is_the_largest_score_among_them():
    run = play(PROBLEMS["two costs"], "safe-ucb", width=3.0, cost_width=2.0)
    kept = (run.cost_mean + 2.0 * run.cost_std <= 0.0).all(axis=2)
    kept[..., run.agent.setting.safe_seed] = True
    upper = run.mean + 3.0 * run.std
    best = np.where(kept, upper, -np.inf).max(axis=2)
    np.testing.assert_allclose(np.take_along_axis(upper, run.arm[..., None], 2)[..., 0], best, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_no_play_is_unsafe_at_the_width_of_the_theory(name):
    assert unsafe_runs(bench(60), name, 8) == 0


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_no_play_is_unsafe_in_two_hundred_runs(name):
    assert unsafe_runs(bench(), name, 200) == 0


@pytest.mark.parametrize("name", NAMES)
def test_plays_that_are_pending_certify_nothing(name):
    late = 12
    run = play(problem(delay=delays.Constant(late), **SAFE), name, cost_width=1.0)
    seed = run.agent.setting.safe_seed[0]
    assert (run.arm[: late + 1] == seed).all()
    assert (run.arm[late + 1 :] != seed).any()


@pytest.mark.parametrize("options", [{"restart": "periodic", "restart_options": {"every": 20}}], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_after_an_alarm_only_the_seed_is_safe(name, options):
    run = play(PROBLEMS["one cost"], name, cost_width=1.0, **options)
    seed = run.agent.setting.safe_seed[0]
    assert (run.arm[::20] == seed).all()
    assert (run.arm != seed).any()


def test_an_alarm_by_evidence_keeps_no_plays_and_uniform_rounds_stay_safe():
    changing = bench(90, changes=changes.AtRounds((45,)))
    for restart in ("evidence", "oracle"):
        run = play(changing, "safe-ucb", trials=4, cost_width=2.0, restart=restart)
        assert run.agent.diary is None
        kept = (run.cost_mean + 2.0 * run.cost_std <= 0.0).all(axis=2)
        kept[:, np.arange(4), run.agent.setting.safe_seed[:, 0]] = True
        assert np.take_along_axis(kept, run.arm[..., None], 2).all()
        assert run.agent.since is not None


def test_by_default_alarms_need_no_uniform_plays():
    setting = bench(30, changes=changes.AtRounds((15,))).draw(0).setting
    agent = agents.make("safe-ucb", setting)
    agent.reset(0)
    assert agent.alarms == []
    assert agent.restart.exploring is None


def test_noise_on_costs_that_is_larger_than_the_rewards_widens_the_bands():
    loud = bench().draw(0).setting
    one, other = (
        agents.make("safe-ucb", replace(loud, constraint_noise_std=std)).model.noise_variance
        for std in (0.05, 0.5)
    )
    assert (one, other) == (pytest.approx(NOISE**2), pytest.approx(0.25))


def test_without_costs_every_arm_may_be_played():
    field = {"safe": ("safe-ucb", {"width": 2.0}), "plain": ("gp-ucb", {"width": 2.0})}
    actions = evaluate(problem(()), field, trials=2).actions
    np.testing.assert_array_equal(actions["safe"], actions["plain"])


@pytest.mark.parametrize("name", NAMES)
def test_a_safe_seed_is_needed_and_may_be_given(name):
    setting = problem().setting()
    with pytest.raises(ValueError, match="safe_seed must be known to play safely"):
        agents.make(name, setting)
    agent = agents.make(name, setting, safe_seed=[3, 4])
    agent.reset(0)
    assert agent.act(np.zeros(1)) in (3, 4)
    with pytest.raises(ValueError, match="safe_seed must be arms"):
        agents.make(name, setting, safe_seed=[len(LINE)])


@pytest.mark.parametrize("option", [{"standardize": True}, {"initial": 3}, {"centre": 1.0}], ids=str)
def test_what_comes_of_uniform_plays_is_refused(option):
    (name,) = option
    with pytest.raises(ValueError, match=f"{name} must be left out where every play is to be safe"):
        agents.make("safe-ucb", problem().setting(), safe_seed=[3], **option)


def test_a_box_is_refused():
    box = replace(problem().setting(), arms=None, low=np.zeros(1), high=np.ones(1))
    with pytest.raises(ValueError, match="got a box"):
        agents.make("safe-ucb", box)
