"""Laws of noise, of all arms alike or of each its own."""

from typing import Any

import numpy as np
import pytest
from cases import CONTEXTS, by_hand
from scipy import stats

from agents.kernels.amplitude import without_contexts
from bandit_envs import BanditEnv, Decisions
from bandit_envs.basics.options import parse
from bandit_envs.laws import Pareto, StudentT, UniformNoise
from bandit_envs.laws.noise import BASES, LAWS, Gaussian, Noise, NoiseByArm
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problems import build

COUNT = 200_000
NOISY = [name for name in LAWS if parse("noise", name, LAWS).stated_std]


def draws(law: Noise) -> np.ndarray:
    return law.scale(0.0, 0.0) * law.draw(COUNT, np.random.default_rng(0))


@pytest.mark.parametrize("std", [0.3, 2.0])
@pytest.mark.parametrize("name", NOISY)
def test_noise_of_every_law_has_mean_0_and_the_stated_deviation(name, std):
    law = parse("noise", {"law": name, "std": std}, LAWS)
    noise = draws(law)
    squares = (noise / std) ** 2
    error = squares.std() / np.sqrt(COUNT)
    assert law.stated_std == std
    assert noise.shape == (COUNT,)
    assert abs(noise.mean()) < 4 * std / np.sqrt(COUNT)
    assert error < 0.05  # or else the next line would say nothing: the default Student t has heavy tails
    assert abs(squares.mean() - 1.0) < 4 * error


@pytest.mark.parametrize("spec", [*LAWS, *({"law": "by-arm", "base": base} for base in BASES)], ids=str)
def test_laws_are_sub_gaussian_with_the_constant_that_they_state_or_with_none(spec):
    law = parse("noise", spec, LAWS)
    unit = law.draw(COUNT, np.random.default_rng(0))
    if law.sub_gaussian is None:  # four moments tell heavy tails: 3 of a normal law
        assert (unit**4).mean() > 8
        return
    for s in (-2.0, -0.5, 0.5, 2.0):
        grown = np.exp(s * unit)
        error = grown.std() / np.sqrt(COUNT)
        assert grown.mean() <= np.exp(s**2 * law.sub_gaussian**2 / 2) + 4 * error


@pytest.mark.parametrize("name", LAWS)
def test_noise_stays_in_the_bound_that_its_law_states_and_comes_near(name):
    law = parse("noise", name, LAWS)
    bound, largest = law.relative_bound, np.abs(law.draw(COUNT, np.random.default_rng(0))).max()
    if bound is None:
        assert largest > 3.0  # an unbounded law goes further than the bounded one of the same deviation
    else:
        assert 0.999 * bound <= largest <= bound


@pytest.mark.parametrize("name", NOISY)
def test_a_share_is_the_variance_in_units_of_the_functions_range(name):
    law = parse("noise", {"law": name, "share": 0.01}, LAWS)
    assert law.scale(-1.0, 3.0) == pytest.approx(np.sqrt(0.01 * 4.0))
    assert law.stated_std is None


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (Gaussian(), stats.norm()),
        (UniformNoise(), stats.uniform(-np.sqrt(3), 2 * np.sqrt(3))),
        (StudentT(degrees=5.0), stats.t(5, scale=np.sqrt(3 / 5))),
        (Pareto(index=4.0), stats.pareto(4, loc=-(4 / 3) * np.sqrt(4.5), scale=np.sqrt(4.5))),
    ],
)
def test_noise_has_the_named_law(law, expected):
    assert stats.kstest(law.draw(5000, np.random.default_rng(0)), expected.cdf).pvalue > 1e-3


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
    first, last = (noises(problem, arm) / EXPECTED[arm] for arm in (0, 24))
    np.testing.assert_allclose(first, last, rtol=1e-10)


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
