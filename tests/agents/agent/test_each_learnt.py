"""Reward and costs learn a kernel and a noise each; what they found is what a fit of each alone finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from agents.algorithms.constrained import constrained_ei
from agents.beliefs.surface import Surface
from agents.model.hyperparameters import Fitter, Spreads
from agents.model.model import Model
from bandit_envs import Setting
from bandit_envs.problem.feedback import delivery

ARMS = np.random.default_rng(0).uniform(size=(40, 2))
KERNEL = RBF([0.3, 0.3], (0.05, 5.0))
TOLD = {"horizon": 60, "num_constraints": 2, "constraint_noise_std": None, "kernel": KERNEL}
FINITE = Setting(arms=ARMS, **TOLD)
BOX = Setting(low=np.zeros(2), high=np.ones(2), **TOLD)
SEEN = np.zeros(1)
LIGHT = {"search": {"candidates": 32, "starts": 1, "steps": 3}}
SETTINGS = {"arms": (FINITE, {}), "box": (BOX, LIGHT)}
EVERY = 6


def outcome(x: Any) -> np.ndarray:
    """The reward varies in both features; the costs in one each, and one of them slowly."""
    return np.array([50.0 * np.sin(6 * x[0]) * np.cos(5 * x[1]), 3.0 * np.sin(8 * x[0]), 0.2 * x[1] - 0.1])


def play(agent: Any, setting: Setting, rounds: range, scale: float = 1.0) -> list[Any]:
    played = []
    for t in rounds:
        action = agent.act(SEEN)
        reward, *cost = scale * outcome(setting.to_point(action))
        agent.update(SEEN, action, reward, delivery(t, np.array([t]), np.array([reward]), np.array([cost])))
        played.append(action)
    return played


def quantities(agent: Any) -> list[tuple[Any, np.ndarray, np.ndarray]]:
    """Return the model, the points and the scaled values of the reward and of each cost."""
    rows, objective = agent.book.rows(np.zeros(1, dtype=int)), agent.objective
    values = [
        objective.values(rows.trial, rows.reward, rows.cost),
        *objective.scaled_costs(rows.trial, rows.cost).T,
    ]
    models = [agent.model, *objective.cost_models(objective.scale)]
    return [(model, rows.point, value) for model, value in zip(models, values, strict=True)]


def started(name: str, scale: float = 1.0, **options: Any) -> tuple[Any, Setting]:
    setting, light = SETTINGS[name]
    setting = replace(setting, kernel=ConstantKernel(scale**2, (1e-4 * scale**2, 1e4 * scale**2)) * KERNEL)
    agent = constrained_ei(setting, refit_every=EVERY, **light, **options)
    agent.reset(0)
    return agent, setting


@pytest.mark.parametrize("name", SETTINGS)
def test_each_quantity_finds_the_kernel_that_a_fit_of_it_alone_finds(name):
    agent, setting = started(name, fit_restarts=0)
    play(agent, setting, range(EVERY))
    learning = Model.of(setting, refit_every=EVERY).learning
    assert learning is not None
    spreads = Spreads(learning.spread, noise=learning.noise_spread)
    for model, point, value in quantities(agent):
        alone = Fitter(setting.kernel, 0.01, 1.0, spreads=spreads)
        found = alone.fit(agent.features, point, value, 0, np.random.default_rng(0))
        assert found is not None
        np.testing.assert_allclose(model.kernel.theta, found.kernel.theta, atol=1e-6)
        np.testing.assert_allclose(model.noise_variance, found.noise_variance, rtol=1e-5)


@pytest.mark.parametrize("name", SETTINGS)
def test_beliefs_are_those_of_the_learnt_kernels(name):
    agent, setting = started(name)
    play(agent, setting, range(EVERY))
    pairs, each = ARMS[:7], [agent.belief, *agent.objective.costs]
    for belief, (model, point, value) in zip(each, quantities(agent), strict=True):
        covariance = model.kernel(agent.features[point]) + model.noise_variance * np.eye(len(point))
        gain = np.linalg.solve(covariance, model.kernel(agent.features[point], pairs))
        on_box = name == "box"
        found = Surface.of(belief).predict(pairs)[0] if on_box else belief.mean(np.zeros(1, int))[0, :7]
        np.testing.assert_allclose(found, gain.T @ value, rtol=1e-6, atol=1e-6)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", SETTINGS)
def test_workers_ask_for_nothing_that_is_pending(name):
    agent, setting = started(name, hallucinate=True)
    play(agent, setting, range(12))
    asked = []
    for t in range(12, 20):
        asked.append(tuple(np.atleast_1d(agent.act(SEEN)).tolist()))
        nothing = delivery(t, np.empty(0, dtype=int), np.empty(0), np.empty((0, 2)))
        agent.update(SEEN, np.array(asked[-1]) if name == "box" else asked[-1][0], 0.0, nothing)
    assert len(set(asked)) == len(asked)


def test_told_one_after_another_it_fits_once():
    agent, setting = started("arms")
    with agent.listening():
        play(agent, setting, range(20))
    assert len(agent.assumptions.fits) == 1
