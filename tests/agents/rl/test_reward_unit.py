"""What learners play does not depend on the unit of the reward: powers of two, in which floats are exact."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import agents
from agents.rl.bridge import RewardUnit, published_unit
from agents.rl.training import train_policy
from bandit_envs import Decisions, Problem, Setting
from bandit_envs.laws import Gaussian, GPSample, KnownFunction, delays
from bandit_envs.problem.decisions import unit_grid
from gpbandits import evaluate

torch = pytest.importorskip("torch", reason="needs the extra `rl`")

LEARNERS = [name for name in agents.names() if name.startswith("sb3-")]
FIRST = {agents.features(name): name for name in reversed(LEARNERS)}.values()  # of those that handle the same
UNITS = (2.0**-10, 2.0**10)
ROUNDS = 130  # off-policy learners play their first hundred at random


def problem(unit: float, published: bool = True, **more: Any) -> Problem:
    function = KnownFunction(lambda x: unit * (np.sin(8 * x[:, 0]) + x[:, 0]))
    return Problem(
        Decisions(unit_grid(12)),
        function,
        ConstantKernel(4.0 * unit**2) * RBF(0.2),
        noise=Gaussian(std=0.125 * unit),
        delay=delays.PoissonDelay(2),
        horizon=ROUNDS,
        publish_model=published,
        **more,
    )


def played(name: str, unit: float, published: bool, **options: Any) -> Any:
    factory = {"a": (name, options)}
    return evaluate(problem(unit, published), factory, trials=1).actions["a"]


@cache
def in_one(name: str, published: bool) -> Any:
    return played(name, 1.0, published)


@pytest.mark.long
@pytest.mark.parametrize("published", [True, pytest.param(False, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in FIRST else pytest.mark.further) for name in LEARNERS]
)
def test_every_learner_plays_the_same_in_any_unit(name, published):
    for unit in UNITS:
        np.testing.assert_array_equal(played(name, unit, published), in_one(name, published))


@pytest.mark.long
@pytest.mark.parametrize("observation", ["none", "history", "statistics"])
def test_so_it_does_whatever_it_sees_and_whatever_costs_take_off(observation):
    def play(unit):
        cost = KnownFunction(lambda x: unit * (x[:, 0] - 0.5))
        options = {"observation": observation, "penalty": 2.0}
        result = evaluate(problem(unit, constraints=(cost,)), {"a": ("sb3-a2c", options)}, trials=1)
        return result.actions["a"]

    for unit in UNITS:
        np.testing.assert_array_equal(play(unit), play(1.0))


@pytest.mark.long
@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("observation", ["history", "statistics"])
def test_a_policy_is_trained_to_the_same_weights_and_plays_the_same(wrapped, observation, tmp_path):
    found = []
    for unit in (1.0, *UNITS):
        drawn = Problem(
            Decisions(unit_grid(9)),
            GPSample(),
            ConstantKernel(unit**2) * RBF(0.2),
            noise=Gaussian(std=0.125 * unit),
            horizon=10,
        )
        environment = (lambda drawn=drawn: agents.rl.training.make(drawn)) if wrapped else drawn
        policy = train_policy(environment, "ppo", total_timesteps=80, num_envs=2, observation=observation)
        policy.save(tmp_path / "policy.zip")
        plays = evaluate(drawn, {"a": (agents.pretrained, {"path": str(tmp_path / "policy.zip")})}, trials=2)
        found.append((policy.weights, plays.actions["a"]))
    for weights, actions in found[1:]:
        np.testing.assert_array_equal(actions, found[0][1])
        for name, tensor in weights.items():
            torch.testing.assert_close(tensor, found[0][0][name], rtol=1e-6, atol=1e-7)


def test_the_unit_is_the_prior_deviation_or_the_root_mean_square_so_far():
    setting = Setting(arms=np.eye(3), horizon=9, kernel=ConstantKernel(9.0) * RBF())
    assert published_unit(setting) == pytest.approx(3.0)
    told, untold = RewardUnit(setting), RewardUnit(Setting(arms=np.eye(3), horizon=9))
    rng = np.random.default_rng(0)
    values = rng.standard_normal(12)
    for i in range(0, 12, 3):
        mask = np.array([True, False, True, True])
        info = {"feedback_mask": mask, "feedback_reward": np.insert(values[i : i + 3], 1, 99.0)}
        for unit in (told, untold):
            unit.note(info, float(values[i : i + 3].sum()))
        assert told.value == pytest.approx(3.0)
        assert untold.value == pytest.approx(np.sqrt((values[: i + 3] ** 2).mean()), rel=1e-12)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_no_square_is_too_small_or_too_large(size):
    unit = RewardUnit(Setting(arms=np.eye(3), horizon=9))
    for value in (3.0, -4.0):
        unit.note({}, value * size)
    assert unit.value == pytest.approx(np.sqrt(12.5) * size)


def test_before_anything_but_zeros_the_unit_is_one():
    unit = RewardUnit(Setting(arms=np.eye(3), horizon=9))
    assert unit.value == 1.0
    unit.note({}, 0.0)
    assert unit.value == 1.0
