"""Noise whose deviation grows over the arms: what is drawn, and what is told of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import CONTEXTS, by_hand

from agents.kernels.amplitude import without_contexts
from bandit_envs import BanditEnv, BanditVectorEnv, Decisions, Setting
from bandit_envs.laws.noise import BASES, LAWS, NoiseByArm
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problems import build

ARMS = unit_grid(25)
EXPECTED = 0.4 * (0.25 + 0.75 * ARMS[:, 0])
ROUNDS = 4000
LOUD = {"law": "by-arm", "std": 0.4, "quietest": 0.25}


def noises(problem: Any, arm: int) -> np.ndarray:
    """What the rewards of one arm differ from its mean."""
    env = BanditEnv(problem)
    env.reset(seed=0)
    steps = [env.step(arm) for _ in range(problem.horizon)]
    return np.array([info["feedback_reward"][0] - info["oracle"]["mean"] for *_, info in steps])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("arm", [0, 12, 24])
def test_the_deviation_of_an_arm_is_its_share_of_the_stated_one(base, arm):
    law = NoiseByArm(0.4, base={"law": base}, quietest=0.25)
    squares = noises(by_hand(noise=law, horizon=ROUNDS), arm) ** 2 / EXPECTED[arm] ** 2
    assert abs(squares.mean() - 1.0) < 6 * squares.std() / np.sqrt(ROUNDS)


def test_the_same_draw_is_scaled_whatever_is_played():
    problem = by_hand(noise=NoiseByArm(0.4, quietest=0.25))
    np.testing.assert_allclose(
        noises(problem, 0) / EXPECTED[0], noises(problem, 24) / EXPECTED[24], rtol=1e-10
    )


def test_a_batch_of_trials_observes_what_single_trials_do():
    problem, arms = by_hand(noise=NoiseByArm(0.4, quietest=0.25), horizon=10), np.array([0, 24])
    batch, singles = BanditVectorEnv(problem, 2), [BanditEnv(problem), BanditEnv(problem)]
    batch.reset(seed=[3, 4])
    for seed, env in zip((3, 4), singles, strict=True):
        env.reset(seed=seed)
    for _ in range(5):
        observed = batch.step(arms)[-1]["feedback_reward"][:, 0]
        assert observed.tolist() == [
            env.step(arm)[-1]["feedback_reward"][0] for env, arm in zip(singles, arms.tolist(), strict=True)
        ]


def test_a_declared_law_tells_the_deviation_of_every_point_and_of_every_reward():
    problem = build("gp", {"num_arms": 25, "noise": LOUD, "delay": {"law": "constant", "rounds": 2}})
    setting = problem.setting()
    assert setting.noise_std == 0.4
    np.testing.assert_allclose(setting.noise_std * setting.noise_profile, EXPECTED)
    env = BanditEnv(problem)
    env.reset(seed=0)
    told = [env.step(arm)[-1]["feedback_std"] for arm in (3, 20, 7, 7)]
    np.testing.assert_array_equal(told[:2], np.zeros((2, 3)))
    np.testing.assert_allclose([each[2] for each in told[2:]], EXPECTED[[3, 20]])


@pytest.mark.parametrize("hidden", [{"noise": LOUD | {"declared": False}}, {"publish_model": False}])
def test_one_that_is_not_declared_tells_the_largest_deviation_at_most(hidden):
    problem = build("gp", {"num_arms": 25, "noise": LOUD, **hidden})
    setting = problem.setting()
    assert setting.noise_profile is None
    assert setting.noise_std == (0.4 if problem.publish_model else None)
    env = BanditEnv(problem)
    env.reset(seed=0)
    assert "feedback_std" not in env.step(3)[-1]


def test_on_a_box_it_is_told_with_the_reward():
    problem = build("gp", {"num_arms": 25, "noise": LOUD, "continuous": True})
    assert problem.setting().noise_profile is None
    env = BanditEnv(problem)
    env.reset(seed=0)
    info = env.step(np.array([0.5]))[-1]
    np.testing.assert_allclose(info["feedback_std"], [0.4 * (0.25 + 0.75 * 0.75)])


def test_it_is_that_of_the_arm_in_every_context():
    problem = by_hand(decisions=Decisions(ARMS, contexts=CONTEXTS), noise=NoiseByArm(0.4, quietest=0.25))
    profile = problem.setting().noise_profile
    np.testing.assert_allclose(0.4 * profile.reshape(len(CONTEXTS), -1), [EXPECTED] * len(CONTEXTS))
    np.testing.assert_allclose(0.4 * without_contexts(problem.setting()).noise_profile, EXPECTED)


def test_a_batch_is_told_what_its_trials_are_told():
    problem = by_hand(noise=NoiseByArm(0.4, quietest=0.25))
    batch = BanditVectorEnv(problem, 3, autoreset_mode="Disabled")
    batch.reset(seed=[1, 2, 3])
    arms = np.array([0, 10, 24])
    told = batch.step(arms)[-1]["feedback_std"]
    np.testing.assert_allclose(told[:, 0], EXPECTED[arms])


@pytest.mark.parametrize("profile", [np.ones(3), np.zeros(25), np.full(25, 1.5), np.full(25, np.nan), 0.5])
def test_an_impossible_profile_is_named(profile):
    with pytest.raises(ValueError, match="noise_profile must"):
        Setting(arms=ARMS, noise_profile=profile)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("quietest", 0.0),
        ("quietest", 1.5),
        ("declared", 1),
        ("base", "none"),
        ("base", {"law": "gaussian", "std": 2.0}),
    ],
)
def test_an_impossible_parameter_is_named(option, value):
    with pytest.raises(ValueError, match=option):
        LAWS["by-arm"](**{option: value})
