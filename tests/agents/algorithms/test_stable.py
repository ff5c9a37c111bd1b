"""StableOpt chooses the arm whose worst neighbour is best, and plays the neighbour that it fears most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from players import at_once, play

import agents
from agents.algorithms.robust import neighbours, worst_nearby
from bandit_envs import BanditVectorEnv, Decisions, Problem
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws import Gaussian, KnownFunction, delays
from bandit_envs.problems import build
from gpbandits import evaluate
from gpbandits.evaluation import robust_regret

LINE = np.linspace(0.0, 1.0, 40)[:, None]
EPS, WIDTH = 0.08, 3.0
BENCH = build("gp", {"num_arms": 100, "horizon": 150, "noise_std": 0.1})


def spike_and_plateau(x):
    return 1.5 * np.exp(-(((x[:, 0] - 0.2) / 0.07) ** 2)) + np.exp(-(((x[:, 0] - 0.7) / 0.15) ** 2))


PROBLEM = Problem(
    Decisions(LINE),
    KnownFunction(spike_and_plateau),
    make_kernel("rbf", 0.07),
    noise=Gaussian(0.1),
    delay=delays.PoissonDelay(2),
    horizon=80,
)


def by_hand(values, eps):
    """min over |x' - x| <= eps, with a loop."""
    return np.array([values[np.abs(LINE[:, 0] - x) <= eps + 1e-9].min() for x in LINE[:, 0]])


def test_the_worst_nearby_is_that_of_a_loop():
    f = spike_and_plateau(LINE)
    for eps in (0.0, 0.05, EPS, 2.0):
        np.testing.assert_array_equal(worst_nearby(f[None], neighbours(LINE, eps))[0], by_hand(f, eps))


def test_with_no_distance_it_is_gp_ucb():
    field = {"ours": ("stable-opt", {"eps": 0.0, "width": 2.0}), "theirs": ("gp-ucb", {"width": 2.0})}
    result = evaluate(PROBLEM, field, trials=3)
    np.testing.assert_array_equal(result.actions["ours"], result.actions["theirs"])


def test_robust_regret_of_a_round_is_within_the_band_of_the_play_where_bands_hold():
    env = BanditVectorEnv(PROBLEM, 4, autoreset_mode="Disabled")
    observation, _ = env.reset(seed=[1, 2, 3, 4])
    agent = agents.make("stable-opt", env.setting, eps=EPS, width=WIDTH, num_trials=4)
    agent.reset([0, 1, 2, 3])
    f, here, rows = spike_and_plateau(LINE), np.zeros(4, dtype=int), np.arange(4)
    worst = by_hand(f, EPS)
    held = np.ones(4, dtype=bool)
    for _ in range(PROBLEM.horizon):
        mean, std = agent.belief.mean(here).copy(), agent.belief.std(here).copy()
        action = agent.act(observation)
        upper, lower = mean + WIDTH * std, mean - WIDTH * std
        held &= (np.abs(mean - f) <= WIDTH * std).all(axis=1)
        robust = np.array([by_hand(row, EPS) for row in upper])
        np.testing.assert_allclose(robust[rows, agent.centre], robust.max(axis=1), atol=1e-8)
        assert (np.abs(LINE[action, 0] - LINE[agent.centre, 0]) <= EPS + 1e-9).all()
        for i in rows:
            near = np.abs(LINE[:, 0] - LINE[agent.centre[i], 0]) <= EPS + 1e-9
            assert lower[i, action[i]] <= lower[i, near].min() + 1e-8
        loss = worst.max() - worst[agent.centre]
        assert (loss <= 2.0 * WIDTH * std[rows, action] + 1e-8)[held].all()
        following, reward, _, _, info = env.step(action)
        agent.update(observation, action, reward, info)
        observation = following
    assert held.any()


def test_what_is_missing_is_no_choice_and_no_play_but_a_neighbour_that_is_feared():
    agent = agents.make("stable-opt", replace(PROBLEM.setting(), volatile=True), eps=EPS, width=WIDTH)
    agent.reset(0)
    agent.start({"action_mask": np.ones(40, np.int8)})
    rng, f, seen = np.random.default_rng(0), spike_and_plateau(LINE), np.zeros(1)
    for t in range(30):
        mask = agent.offered[0]
        mean, std = (each[0].copy() for each in (agent.belief.mean(seen.astype(int)), agent.belief.std([0])))
        action = agent.act(seen)
        worst = np.where(mask, by_hand(mean + WIDTH * std, EPS), -np.inf)
        assert worst[agent.centre[0]] >= worst.max() - 1e-8
        playable = mask & (np.abs(LINE[:, 0] - LINE[agent.centre[0], 0]) <= EPS + 1e-9)
        assert playable[action]
        assert (mean - WIDTH * std)[action] <= (mean - WIDTH * std)[playable].min() + 1e-8
        offered = rng.random(40) < 0.3
        offered[rng.integers(40)] = True
        arrived = at_once(t, f[[action]])
        agent.update(seen, action, f[action], arrived | {"action_mask": offered.astype(np.int8)})


def test_it_recommends_the_plateau_and_gp_ucb_the_spike():
    env = BanditVectorEnv(PROBLEM, 4, autoreset_mode="Disabled")
    found = {}
    for name, options in (("stable-opt", {"eps": EPS}), ("gp-ucb", {})):
        observation, _ = env.reset(seed=[1, 2, 3, 4])
        agent = agents.make(name, env.setting, num_trials=4, width=WIDTH, **options)
        agent.reset([0, 1, 2, 3])
        play(env, agent, observation, PROBLEM.horizon)
        found[name] = agent.recommend().point[:, 0]
    np.testing.assert_allclose(found["stable-opt"], 0.7, atol=0.1)
    np.testing.assert_allclose(found["gp-ucb"], 0.2, atol=0.03)


def test_robust_regret_without_distance_is_regret():
    plain = evaluate(BENCH, ["gp-ucb"], trials=3, seed=5).regret["gp-ucb"]
    np.testing.assert_allclose(robust_regret(BENCH, "gp-ucb", 0.0, trials=3, seed=5), plain, atol=1e-10)


def test_robust_regret_grows_slower_than_that_of_gp_ucb():
    ours, theirs = (
        robust_regret(BENCH, (name, {"width": 2.0}), 0.05, trials=4).mean(axis=0)
        for name in ("stable-opt", "gp-ucb")
    )
    assert ours[-1] < 0.8 * theirs[-1]
    assert ours[-1] - ours[75] < 0.5 * (theirs[-1] - theirs[75])


@pytest.mark.parametrize(
    ("problem", "agent", "eps", "message"),
    [
        (build("contextual", {"horizon": 5}), "gp-ucb", 0.1, "problem must"),
        (PROBLEM, lambda setting: None, 0.1, "agent must"),
        (PROBLEM, "gp-ucb", -1.0, "eps must"),
    ],
)
def test_what_has_no_robust_regret_is_refused(problem, agent, eps, message):
    with pytest.raises(ValueError, match=message):
        robust_regret(problem, agent, eps)
