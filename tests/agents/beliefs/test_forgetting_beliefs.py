"""Agents that forget play boxes: by the beliefs of the finite set, known between its points."""

from dataclasses import replace

import numpy as np
import pytest
from box_cases import landscape_of
from sklearn.gaussian_process.kernels import RBF, Matern

import agents
from agents.acquisition.rules import UCB
from agents.algorithms.changing import window_of
from agents.beliefs.delivered import Delivered
from agents.beliefs.surface import Surface, fantasies
from agents.box import AtPoints
from agents.model.model import Model
from agents.widths.base import FixedWidth
from bandit_envs import Setting
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problem.feedback import delivery

HERE = np.zeros(1)
GRID = unit_grid(9**2, 2)
COMMON = {"horizon": 40, "kernel": Matern([0.3, 0.5], nu=2.5), "noise_std": 0.1, "max_delay": 3}
BOX = Setting(low=np.zeros(2), high=np.ones(2), **COMMON)
FORGETFUL = {"sw-gp-ucb": {"window": 7}, "tv-gp-ucb": {"eps": 0.1}, "w-gp-ucb": {"discount": 0.8}}


def play(agent, rounds=30, delay=0, seed=0):
    """Play a drifting function; return the points."""
    rng, played, values = np.random.default_rng(seed), [], []
    for t in range(rounds):
        action = agent.act(HERE)
        x = agent.setting.to_point(action)
        played.append(x)
        values.append(np.sin(6.0 * x.sum() + 0.1 * t) + 0.1 * rng.normal())
        due = np.array([t - delay] if t >= delay else [], dtype=np.int64)
        rewards = np.array([values[s] for s in due.tolist()])
        agent.update(HERE, action, 0.0, delivery(t, due, rewards, np.empty((len(due), 0)), 3))
    return np.array(played), np.array(values)


def made(name, setting, **options):
    agent = agents.make(name, setting, **{"width": 1.5, **FORGETFUL[name], **options})
    agent.reset(2)
    return agent


@pytest.mark.parametrize("delay", [0, 2])
@pytest.mark.parametrize("name", FORGETFUL)
def test_a_box_restricted_to_grid_points_plays_as_the_finite_set(name, delay):
    finite = made(name, Setting(arms=GRID, **COMMON))
    box = made(name, BOX, search=AtPoints(GRID))
    np.testing.assert_allclose(play(box, delay=delay)[0], play(finite, delay=delay)[0], atol=1e-12)


def covariances(name, ages, kernel, x, at):
    """C of the plays with their noise and c(at), by the definition of each algorithm; oldest play first."""
    noise = 0.01
    if name == "sw-gp-ucb":
        kept = ages < 7
        return kernel(x[kept]) + noise * np.eye(kept.sum()), kernel(x[kept], at), kept
    kept = np.ones(len(x), dtype=bool)
    if name == "tv-gp-ucb":
        apart = 0.9 ** (np.abs(ages[:, None] - ages) / 2)
        return (
            apart * kernel(x) + noise * np.eye(len(x)),
            0.9 ** ((ages[:, None] + 1) / 2) * kernel(x, at),
            kept,
        )
    return kernel(x) + np.diag(noise / 0.8**ages), kernel(x, at), kept


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", FORGETFUL)
def test_the_surface_is_the_textbook_posterior_of_the_next_round(name):
    agent = made(name, BOX, search={"candidates": 32})
    x, y = play(agent, 20)
    at, kernel = np.random.default_rng(1).random((15, 2)), BOX.kernel
    full, cross, kept = covariances(name, np.arange(20)[::-1], kernel, x, at)
    solved = np.linalg.solve(full, cross)
    mean, std = Surface.of(agent.belief).predict(at)
    np.testing.assert_allclose(mean, solved.T @ y[kept], atol=1e-9)
    np.testing.assert_allclose(std, np.sqrt(kernel.diag(at) - (cross * solved).sum(axis=0)), atol=1e-9)


@pytest.mark.parametrize("name", FORGETFUL)
def test_worlds_of_a_belief_that_forgets_are_conditioned_on_the_plays_values_now(name):
    agent = made(name, BOX, search={"candidates": 32, "starts": 0}, width=50.0)  # plays lie apart
    x, y = play(agent, 20)
    at, white = np.random.default_rng(1).random((15, 2)), np.random.default_rng(2).normal(size=(3, 4))
    both, kernel = np.vstack([x[-4:], at]), BOX.kernel
    full, cross, kept = covariances(name, np.arange(20)[::-1], kernel, x, both)
    mean = np.linalg.solve(full, cross).T @ y[kept]
    covariance = kernel(both) - cross.T @ np.linalg.solve(full, cross)
    root = np.linalg.cholesky(covariance[:4, :4])
    toward = np.linalg.solve(covariance[:4, :4], covariance[:4, 4:]).T
    worlds = fantasies(Surface.of(agent.belief), x[-4:], white)
    local = worlds.surface.local(at)
    np.testing.assert_allclose(local.mean, mean[4:] + white @ root.T @ toward.T, atol=1e-6)
    variance = np.diag(covariance[4:, 4:] - toward @ covariance[:4, 4:])
    np.testing.assert_allclose(local.std, np.sqrt(variance), atol=1e-6)
    np.testing.assert_allclose(worlds.best, (mean[:4] + white @ root.T).max(axis=1), atol=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", FORGETFUL)
def test_slopes_are_those_of_finite_differences(name):
    agent = made(name, BOX, search={"candidates": 32})
    play(agent, 20)
    acquisition = landscape_of(UCB(FixedWidth(1.3)), Surface.of(agent.belief), age=20)
    at, step = np.random.default_rng(2).random((7, 2)), 1e-6
    _, slopes = acquisition.climb(at)
    for j, shift in enumerate(step * np.eye(2)):
        change = (acquisition.scores(at + shift) - acquisition.scores(at - shift)) / (2 * step)
        np.testing.assert_allclose(slopes[:, j], change, rtol=1e-4, atol=1e-5)


def test_new_hyperparameters_leave_the_age_of_plays():
    agent = made("w-gp-ucb", BOX, search={"candidates": 32})
    x, y = play(agent, 15)
    kernel, at = RBF(0.4), np.random.default_rng(1).random((9, 2))
    agent.remodel(replace(agent.model, kernel=kernel))
    full, cross, _ = covariances("w-gp-ucb", np.arange(15)[::-1], kernel, x, at)
    np.testing.assert_allclose(
        Surface.of(agent.belief).mean(at), cross.T @ np.linalg.solve(full, y), atol=1e-9
    )


def test_the_default_window_of_a_box_is_that_of_a_set_that_covers_it():
    box, finite = (Model.of(each) for each in (BOX, Setting(arms=unit_grid(16**2, 2), **COMMON)))
    assert window_of(box, 1.0) == window_of(finite, 1.0)


def test_a_belief_that_keeps_no_plays_is_refused_on_boxes():
    table = Delivered(Model.of(Setting(arms=GRID, **COMMON)), 1)
    with pytest.raises(ValueError, match="belief must keep its plays on a box, got one on"):
        Surface.of(table)
