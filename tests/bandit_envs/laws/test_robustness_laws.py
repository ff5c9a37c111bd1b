"""Rewards that an attacker changes, and functions that leave the kernel's space."""

from typing import Any

import numpy as np
import pytest
from cases import by_hand

from bandit_envs import BanditEnv, Problem
from bandit_envs.basics.options import parse
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws import RKHSFunction
from bandit_envs.laws.corruption import LAWS, AgainstTheBest, AtRandom, AtTheStart
from bandit_envs.laws.derived import Misspecified
from bandit_envs.laws.noise import NoNoise
from bandit_envs.laws.tabulated import RecordedValues
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problems import build

ATTACKS = [name for name in LAWS if parse("corruption", name, LAWS).budget]
BUDGET = 2.0


def attacked(name: str, **laws: Any) -> Problem:
    law = parse("corruption", {"law": name, "budget": BUDGET, "by": 0.3}, LAWS)
    return by_hand(corruption=law, noise=NoNoise(), horizon=200, **laws)


def steps(problem: Problem, arms: Any) -> list[dict[str, Any]]:
    env = BanditEnv(problem)
    env.reset(seed=0)
    return [env.step(int(arm))[-1] for arm in arms]


@pytest.mark.parametrize("name", ATTACKS)
def test_the_budget_is_spent_on_the_best_arm_and_never_exceeded(name):
    env = BanditEnv(attacked(name))
    env.reset(seed=0)
    best = int(env.simulator.trials[0].means[0, 0].argmax())
    changes = np.array([env.step(best)[-1]["oracle"]["corruption"] for _ in range(200)])
    assert np.abs(changes).sum() == pytest.approx(BUDGET)
    assert np.abs(changes).max() <= 0.3 + 1e-12


@pytest.mark.parametrize("name", ATTACKS)
def test_rewards_are_changed_by_what_the_truth_says_and_regret_is_not(name):
    problem = attacked(name)
    arms = np.random.default_rng(0).integers(25, size=200)
    clean = steps(by_hand(noise=NoNoise(), horizon=200), arms)
    for before, after in zip(clean, steps(problem, arms), strict=True):
        oracle = after["oracle"]
        changed = before["feedback_reward"][0] + oracle["corruption"]
        assert after["feedback_reward"][0] == pytest.approx(changed)
        assert oracle["regret"] == before["oracle"]["regret"]


def test_the_attack_on_the_best_leaves_bad_plays_alone():
    problem = by_hand(corruption=AgainstTheBest(BUDGET, within=0.2), horizon=100)
    arms = np.random.default_rng(0).integers(25, size=100)
    for info in steps(problem, arms):
        assert info["oracle"]["corruption"] == 0.0 or info["oracle"]["regret"] <= 0.2
    assert any(info["oracle"]["corruption"] for info in steps(problem, arms))


def test_the_attack_at_the_start_is_over_when_the_budget_is():
    infos = steps(by_hand(corruption=AtTheStart(1.0, by=0.4)), range(20))
    changes = [info["oracle"]["corruption"] for info in infos]
    np.testing.assert_allclose(changes, [-0.4, -0.4, -0.2] + [0.0] * 17, atol=1e-12)


def test_random_attacks_are_the_same_whatever_is_played():
    problem = by_hand(corruption=AtRandom(100.0, probability=0.3))
    first, other = ([info["oracle"]["corruption"] for info in steps(problem, [arm] * 40)] for arm in (3, 20))
    assert first == other
    assert 3 < np.count_nonzero(first) < 25


def test_a_trial_that_begins_again_meets_an_attacker_who_has_all_his_budget():
    env = BanditEnv(attacked("start"))
    for _ in range(2):
        env.reset(seed=1)
        changes = [env.step(3)[-1]["oracle"]["corruption"] for _ in range(10)]
        assert np.sum(changes) == pytest.approx(-BUDGET)


def test_the_budget_is_published_with_the_model():
    assert attacked("random").setting().corruption == BUDGET
    assert attacked("random", publish_model=False).setting().corruption is None
    assert by_hand().setting().corruption is None


def test_a_misspecified_function_is_eps_from_one_of_the_space_at_every_point():
    gram = Gram(make_kernel("rbf"), unit_grid(60))
    plain, other = (
        law.draw(gram, np.random.default_rng(3))
        for law in (RKHSFunction(norm=1.5), Misspecified(RKHSFunction(norm=1.5), 0.2))
    )
    np.testing.assert_allclose(np.abs(other.values - plain.values), 0.2)
    assert 10 < np.count_nonzero(other.values > plain.values) < 50
    assert other.norm == 1.5
    assert other.between is None


def test_the_least_value_of_a_misspecified_function_is_eps_lower_and_bounds_it():
    recorded = RecordedValues(np.array([[0.0, 0.3, 0.9], [0.5, 0.0, 0.2]]), least=0.0)
    law = Misspecified(recorded, 0.2)
    assert law.least == -0.2
    gram = Gram(make_kernel("rbf"), unit_grid(3))
    drawn = np.array([law.draw(gram, np.random.default_rng(seed)).values for seed in range(20)])
    assert drawn.min() == law.least
    assert Misspecified(RKHSFunction(norm=1.5), 0.2).least is None


@pytest.mark.parametrize("noise", [{}, {"noise_std": 0.1}])  # a share of the range by default
def test_eps_and_the_norm_of_what_is_left_are_published(noise):
    options = {"misspecification": 0.1, "rkhs_norm": 2.0, "num_arms": 30, **noise}
    setting = build("rkhs", options).draw(0).setting
    assert (setting.misspecification, setting.rkhs_bound) == (0.1, 2.0)
    hidden = build("rkhs", options | {"publish_model": False}).setting()
    assert hidden.misspecification is None
    assert build("rkhs", {}).setting().misspecification is None
