"""A safe seed keeps every cost everywhere, and nothing else of a trial changes with it."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from bandit_envs import BanditVectorEnv, Decisions, Problem, Setting
from bandit_envs.laws import GPSample, KnownFunction, Uniform
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problem.safety import CAUTION, MARGIN, lipschitz
from bandit_envs.problems import build

SMALL = {"num_arms": 30, "horizon": 30, "num_constraints": 2}
WHERE = {"constrained": {}, "composite": {}, "one segment": {"changes": None}}
ARMS = unit_grid(5)


def safe(place, **keywords):
    name = place if place != "one segment" else "composite"
    return build(name, {**SMALL, **WHERE[place], **keywords})


@pytest.mark.parametrize("place", WHERE)
def test_a_safe_seed_keeps_all_costs_by_a_margin_in_every_context_and_segment(place):
    problem = safe(place, safe_seed=True)
    for entropy in range(8):
        trial = problem.draw(entropy)
        (arm,) = trial.setting.safe_seed
        costs = trial.means[:, 1:].reshape(-1, problem.decisions.num_arms)
        assert costs[:, arm].max() <= -MARGIN
        assert costs[:, arm].max() == costs.max(axis=0).min()


def test_the_margin_is_in_prior_deviations():
    wide = Problem(
        Decisions(unit_grid(30)),
        GPSample(),
        100.0 * RBF(0.2),
        constraints=(GPSample(),),
        safe_seed=True,
    )
    for entropy in range(5):
        trial = wide.draw(entropy)
        assert trial.means[0, 1, trial.setting.safe_seed[0]] <= -10.0 * MARGIN


def test_only_the_costs_are_drawn_again():
    told, untold = (safe("composite", safe_seed=given) for given in (True, False))
    redrawn = 0
    for entropy in range(8):
        one, other = told.draw(entropy), untold.draw(entropy)
        np.testing.assert_array_equal(one.means[:, 0], other.means[:, 0])
        np.testing.assert_array_equal(one.noise, other.noise)
        np.testing.assert_array_equal(one.context, other.context)
        redrawn += not np.array_equal(one.means[:, 1:], other.means[:, 1:])
    assert redrawn


@pytest.mark.parametrize("place", WHERE)
def test_published_slopes_bound_all_differences_and_not_by_much(place):
    problem = safe(place, safe_seed=True)
    trial, points = problem.draw(3), problem.decisions.points
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    for slope, values in zip(trial.setting.lipschitz, np.swapaxes(trial.means[:, 1:], 0, 1), strict=True):
        gap = np.abs(values[:, :, None] - values[:, None])
        assert (gap <= slope * distance + 1e-12).all()
        steepest = (gap[:, distance > 0] / distance[distance > 0]).max()
        assert slope == pytest.approx(CAUTION * steepest)


def test_slopes_do_not_depend_on_how_pairs_are_divided(monkeypatch):
    points = np.random.default_rng(0).random((40, 2))
    values = np.random.default_rng(1).standard_normal((2, 3, 40))
    whole = lipschitz(values, points)
    monkeypatch.setattr("bandit_envs.problem.safety.BLOCK_BYTES", 1000)
    np.testing.assert_allclose(lipschitz(values, points), whole)


def test_a_batch_is_told_what_its_trials_are_told_alone():
    problem = safe("composite", safe_seed=True)
    env = BanditVectorEnv(problem, 3)
    env.reset(seed=[1, 2, 3])
    assert env.setting.safe_seed.shape == (3, 1)
    assert env.setting.lipschitz.shape == (3, 2)
    for i, trial in enumerate(env.simulator.trials):
        alone = env.setting.of_trial(i)
        np.testing.assert_array_equal(alone.safe_seed, trial.setting.safe_seed)
        np.testing.assert_array_equal(alone.lipschitz, trial.setting.lipschitz)


def test_the_seed_is_told_without_the_model_and_the_slopes_are_not():
    told, withheld = (safe("constrained", safe_seed=True, publish_model=given) for given in (True, False))
    assert {"safe_seed", "lipschitz"} <= set(told.trial_facts)
    assert withheld.trial_facts == ("safe_seed",)
    setting = withheld.draw(0).setting
    assert setting.safe_seed is not None
    assert setting.lipschitz is setting.constraint_noise_bound is None
    assert told.setting().safe_seed is None  # before a draw


def test_bounded_noise_on_costs_is_told():
    bounded = safe("constrained", constraint_noise={"law": "uniform", "std": 0.2})
    assert bounded.setting().constraint_noise_bound == pytest.approx(0.2 * 3**0.5)
    assert safe("constrained", constraint_noise_std=0.2).setting().constraint_noise_bound is None


@pytest.mark.parametrize(
    ("laws", "words"),
    [
        ({}, "must be False but with constraints"),
        ({"constraints": {"law": "rkhs"}, "continuous": True}, "must be False but on a finite set"),
        ({"constraints": {"law": "gp"}, "drift": {"law": "ornstein-uhlenbeck"}}, "but without drift"),
    ],
    ids=str,
)
def test_a_seed_is_refused_where_there_can_be_none(laws, words):
    with pytest.raises(ValueError, match=f"safe_seed {words}|safe_seed.*{words.removeprefix('must be ')}"):
        build("gp", {"num_arms": 20, "horizon": 20, "safe_seed": True, **laws})


def test_costs_that_no_arm_keeps_everywhere_are_an_error():
    never = Problem(
        Decisions(ARMS),
        GPSample(),
        RBF(0.2),
        constraints=(KnownFunction(lambda x: 0.0 * x[:, 0]),),
        safe_seed=True,
    )
    with pytest.raises(ValueError, match="safe_seed must be False here: in 1 draws"):
        never.draw(0)


@pytest.mark.parametrize("seed", [[5], [-1], [], [0.5], "no", [[[0]]]], ids=str)
def test_a_setting_refuses_seeds_that_are_no_arms(seed):
    with pytest.raises(ValueError, match=r"safe_seed must be arms in 0\.\.4"):
        Setting(arms=ARMS, num_constraints=1, safe_seed=seed)


def test_a_setting_refuses_what_says_nothing():
    with pytest.raises(ValueError, match="safe_seed must be None without constraints"):
        Setting(arms=ARMS, safe_seed=[1])
    for slopes in ([1.0], [1.0, -1.0], [1.0, np.inf], "no"):
        with pytest.raises(ValueError, match="lipschitz must be 2 finite numbers"):
            Setting(arms=ARMS, num_constraints=2, lipschitz=slopes)


def test_noise_on_costs_that_is_bounded_has_a_scale():
    problem = Problem(
        Decisions(ARMS),
        GPSample(),
        RBF(0.2),
        constraints=(KnownFunction(lambda x: x[:, 0] - 0.7),),
        constraint_noise=Uniform(0.05),
        safe_seed=True,
    )
    trial = problem.draw(0)
    assert np.abs(trial.noise[:, 1]).max() <= trial.setting.constraint_noise_bound
    assert trial.setting.safe_seed.tolist() == [0]
