"""A safe seed keeps every cost everywhere, and nothing else of a trial changes with it."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

from bandit_envs import BanditVectorEnv, Decisions, Problem, Setting
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.validity import RARELY, steepest
from bandit_envs.laws import GPSample, KnownFunction, RecordedValues, RKHSFunction
from bandit_envs.laws.derived import Normalized, UnderKernel
from bandit_envs.laws.functions import Moments
from bandit_envs.laws.hard import Bumps, HardFunctions
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problem.truth import MARGIN
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
    safest = safe(place, safe_seed="safest")
    chosen = []
    for entropy in range(8):
        trial = problem.draw(entropy)
        (arm,) = trial.setting.safe_seed
        costs = trial.means[:, 1:].reshape(-1, problem.decisions.num_arms)
        assert costs[:, arm].max() <= -MARGIN
        best = safest.draw(entropy)
        np.testing.assert_array_equal(best.means, trial.means)
        assert costs[:, best.setting.safe_seed[0]].max() == costs.max(axis=0).min()
        chosen.append(arm == best.setting.safe_seed[0])
    assert not all(chosen)


def test_a_safe_seed_is_drawn_among_all_arms_that_are_safe_by_the_margin():
    problem = safe("constrained", safe_seed=True, function_seed=3)
    costs = problem.draw(0).means[:, 1:].max(axis=(0, 1))
    assert len({int(problem.draw(entropy).setting.safe_seed[0]) for entropy in range(9)}) == 1  # frozen too
    kept = np.flatnonzero(costs <= -MARGIN)
    known = (KnownFunction(lambda x: costs, Moments(0.0, 1.0)),)
    given = Problem(problem.decisions, GPSample(), problem.kernel, constraints=known, safe_seed=True)
    drawn = [int(given.draw(entropy).setting.safe_seed[0]) for entropy in range(40 * len(kept))]
    seen = np.bincount(drawn, minlength=len(costs))[kept]
    assert seen.sum() == len(drawn)
    assert (abs(seen - 40) < 5 * 40**0.5).all()  # five standard errors of a Poisson count


def test_the_margin_is_in_prior_deviations():
    drawn = {"constraints": (GPSample(),), "safe_seed": True}
    wide = Problem(Decisions(unit_grid(30)), GPSample(), 100.0 * RBF(0.2), **drawn)
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
def test_published_slopes_are_the_laws_own_and_bound_all_differences(place):
    problem = safe(place, safe_seed=True)
    points, published = problem.decisions.points, problem.setting().lipschitz
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    for entropy in range(4):
        trial = problem.draw(entropy)
        np.testing.assert_array_equal(trial.setting.lipschitz, published)
        gap = np.abs(trial.means[:, 1:, :, None] - trial.means[:, 1:, None])  # (V, C, N, N)
        assert (gap <= published[:, None, None] * distance + 1e-12).all()


POINTS = np.random.default_rng(0).random((40, 2))
LAWS = {
    "gp": GPSample(),
    "rkhs": RKHSFunction(),
    "rkhs of one norm": RKHSFunction(norm=2.0),
    "under a kernel of its own": UnderKernel(GPSample(), Matern(0.5, nu=2.5)),
    "given": KnownFunction(lambda x: np.sin(9.0 * x[:, 0])),
    "recorded": RecordedValues(np.random.default_rng(1).standard_normal((5, 40))),
    "hard": HardFunctions(),
    "bumps": Bumps(eps=0.3),
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_functions_of_a_law_are_as_steep_as_it_says_at_most(law):
    gram, rng = Gram(RBF(0.3), POINTS), np.random.default_rng(2)
    slopes = [steepest(law.draw(gram, rng).values[None], POINTS) for _ in range(100)]
    steeper = sum(slope > law.steepest(gram) * (1 + 1e-9) for slope in slopes)
    assert steeper <= 100 * RARELY


def test_laws_that_do_not_say_how_steep_their_functions_are_leave_it_out():
    normalized = Normalized(GPSample())
    costs = (KnownFunction(lambda x: x[:, 0] - 0.7), normalized)
    assert normalized.steepest(Gram(RBF(0.3), ARMS)) is None
    problem = Problem(Decisions(ARMS), GPSample(), RBF(0.2), constraints=costs, safe_seed=True)
    assert problem.setting().lipschitz is None


def test_slopes_do_not_depend_on_how_pairs_are_divided(monkeypatch):
    gram, values = Gram(RBF(0.3), POINTS), np.random.default_rng(1).standard_normal((3, 40))
    whole = steepest(values, POINTS), GPSample().steepest(gram)
    monkeypatch.setattr("bandit_envs.kernels.validity.BLOCK_BYTES", 1000)
    assert (steepest(values, POINTS), GPSample().steepest(gram)) == pytest.approx(whole)


def test_a_batch_is_told_what_its_trials_are_told_alone():
    problem = safe("composite", safe_seed=True)
    env = BanditVectorEnv(problem, 3)
    env.reset(seed=[1, 2, 3])
    assert env.setting.safe_seed.shape == (3, 1)
    assert env.setting.lipschitz.shape == (2,)
    for i, trial in enumerate(env.simulator.trials):
        alone = env.setting.of_trial(i)
        np.testing.assert_array_equal(alone.safe_seed, trial.setting.safe_seed)
        np.testing.assert_array_equal(alone.lipschitz, trial.setting.lipschitz)


def test_the_seed_is_told_without_the_model_and_the_slopes_are_not():
    told, withheld = (safe("constrained", safe_seed=True, publish_model=given) for given in (True, False))
    assert "safe_seed" in told.trial_facts
    assert "lipschitz" not in told.trial_facts
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
    costs = (KnownFunction(lambda x: 0.0 * x[:, 0]),)
    never = Problem(Decisions(ARMS), GPSample(), RBF(0.2), constraints=costs, safe_seed=True)
    with pytest.raises(ValueError, match="safe_seed must be False here: in 1 draws"):
        never.draw(0)


FACTOR = 2.0**10
UNITS_OF_A_LAW = {
    "kernel": (UnderKernel(GPSample(), RBF(0.2)), UnderKernel(GPSample(), FACTOR**2 * RBF(0.2))),
    "norm": (UnderKernel(RKHSFunction(), RBF(0.2)), UnderKernel(RKHSFunction(), FACTOR**2 * RBF(0.2))),
    "formula": tuple(KnownFunction(lambda x, c=c: c * (x[:, 0] - 0.6)) for c in (1.0, FACTOR)),
    "record": tuple(RecordedValues(c * np.linspace(-1.0, 2.0, 60).reshape(2, 30)) for c in (1.0, FACTOR)),
    "moments": tuple(
        KnownFunction(lambda x, c=c: c * (x[:, 0] - 0.6), Moments(0.3 * c, 0.4 * c)) for c in (1.0, FACTOR)
    ),
}


@pytest.mark.parametrize("laws", UNITS_OF_A_LAW.values(), ids=UNITS_OF_A_LAW)
def test_a_cost_in_another_unit_is_published_in_that_unit_and_has_the_same_safe_seed(laws):
    told = []
    for law in laws:
        place = Problem(Decisions(unit_grid(30)), GPSample(), RBF(0.2), constraints=(law,), safe_seed=True)
        told.append(place.draw(3).setting)
    one, other = told
    np.testing.assert_allclose(other.constraint_prior_std, FACTOR * one.constraint_prior_std, rtol=1e-12)
    np.testing.assert_allclose(other.lipschitz, FACTOR * one.lipschitz, rtol=1e-9)
    np.testing.assert_array_equal(other.safe_seed, one.safe_seed)


@pytest.mark.parametrize("name", ["constraint_prior_std", "constraint_noise_std", "constraint_noise_bound"])
def test_numbers_of_costs_are_one_of_all_or_one_of_each(name):
    arms = unit_grid(3)
    of_each = Setting(arms=arms, num_constraints=2, **{name: [1.0, 8.0]})
    np.testing.assert_array_equal(getattr(of_each, name), [1.0, 8.0])
    for wrong in ([1.0, 2.0, 3.0], -1.0, np.nan):
        with pytest.raises(ValueError, match=name):
            Setting(arms=arms, num_constraints=2, **{name: wrong})
