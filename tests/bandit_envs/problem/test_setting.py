"""What learners are told, and the sets of decisions it is about."""

import dataclasses
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from cases import CONTEXTS, by_hand, registered_ids
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from bandit_envs import Decisions, Setting
from bandit_envs.laws import GPSample, RecordedValues, RKHSFunction, delays
from bandit_envs.laws.derived import Normalized, UnderKernel
from bandit_envs.laws.outcomes import BernoulliOutcomes, PoissonCounts
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problem.setting import batch_settings
from bandit_envs.problems import build, data_files
from gpbandits import evaluate

ARMS = unit_grid(12, 2)
BOX = Setting(low=np.array([-1.0, 10.0]), high=np.array([1.0, 30.0]))


@given(arrays(np.float64, (4, 2), elements=st.floats(-1, 1)))
def test_points_of_a_box_become_actions_and_back(actions):
    points = BOX.to_point(actions)
    assert (points >= np.array([-1.0, 10.0])).all()
    assert (points <= np.array([1.0, 30.0])).all()
    np.testing.assert_allclose(BOX.to_action(points), actions, atol=1e-14)


def test_the_corners_of_the_box_are_the_corners_of_the_actions():
    np.testing.assert_array_equal(BOX.to_point([-1.0, -1.0]), [-1.0, 10.0])
    np.testing.assert_array_equal(BOX.to_point([1.0, 1.0]), [1.0, 30.0])
    np.testing.assert_array_equal(BOX.to_action([0.0, 20.0]), [0.0, 0.0])


def test_a_flat_side_of_a_box_has_one_point():
    flat = Setting(low=np.array([0.0, 2.0]), high=np.array([1.0, 2.0]))
    np.testing.assert_array_equal(flat.to_point([0.0, 0.7]), [0.5, 2.0])
    assert np.isfinite(flat.to_action([0.5, 2.0])).all()


def test_arms_become_their_features_and_points_the_nearest_arm():
    setting = Setting(arms=ARMS)
    index = np.arange(12)
    np.testing.assert_array_equal(setting.to_point(index), ARMS)
    np.testing.assert_array_equal(setting.to_action(ARMS + 1e-3), index)
    assert setting.to_action(ARMS[5]) == 5
    np.testing.assert_array_equal(setting.to_action(ARMS.reshape(3, 4, 2)), index.reshape(3, 4))


def test_contexts_are_recognised_in_the_float32_that_observations_show():
    setting = Setting(arms=ARMS, contexts=CONTEXTS)
    assert setting.scaled_contexts.dtype == np.float32
    assert setting.scaled_contexts.min() == 0
    assert setting.scaled_contexts.max() == 1
    np.testing.assert_array_equal(setting.context_index(setting.scaled_contexts), np.arange(4))


def test_a_constant_feature_of_contexts_is_shown_as_zero():
    contexts = np.array([[3.0, 0.0], [3.0, 1.0]])
    np.testing.assert_array_equal(Setting(arms=ARMS, contexts=contexts).scaled_contexts, [[0, 0], [0, 1]])


def test_points_are_all_pairs_of_context_and_arm_in_the_order_of_their_index():
    decisions = Decisions(ARMS, CONTEXTS)
    assert decisions.points.shape == (48, 4)
    context, arm = np.array([0, 2, 3]), np.array([5, 0, 11])
    expected = np.hstack([CONTEXTS[context], ARMS[arm]])
    np.testing.assert_array_equal(decisions.points[decisions.point_index(context, arm)], expected)


def test_a_batch_has_arrays_where_the_trials_differ_and_gives_each_trial_its_own():
    trials = [Setting(arms=ARMS, noise_std=std, rkhs_bound=2.0) for std in (0.1, 0.2)]
    batch = batch_settings(trials)
    np.testing.assert_array_equal(batch.noise_std, [0.1, 0.2])
    assert batch.rkhs_bound == 2.0
    for i, trial in enumerate(trials):
        assert repr(batch.of_trial(i)) == repr(trial)


def test_a_setting_of_ones_own_needs_no_environment_and_says_what_it_holds():
    setting = Setting(arms=ARMS, horizon=50, kernel=RBF(0.3), noise_std=0.1)
    assert not setting.continuous
    assert setting.dim == 2
    assert repr(setting).startswith("Setting(arms=array(12, 2)")
    assert "kernel=RBF(length_scale=0.3)" in repr(setting)
    assert "rkhs_bound" not in repr(setting)


FIELDS = [field.name for field in dataclasses.fields(Setting)]
FEATURES = {  # keywords of problems; whatever an id has no use for is left out below
    "plain": {},
    "delayed": {"delay": {"law": "poisson", "mean": 3}},
    "in time": {"delay": {"law": "exponential", "mean": 3.0, "interval": 0.5}, "normalize": True},
    "constrained": {"constraints": {"law": "gp", "kernel": "linear"}, "delay": {"law": "constant"}},
    "changing": {"changes": {"law": "geometric", "hazard": 0.1}, "delay": {"law": "constant"}},
    "drifting": {"drift": "ornstein-uhlenbeck", "normalize": False},
    "share": {"noise": {"law": "uniform", "share": 0.01}},
}
each_problem = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.needs_data(*data_files(name)))
        for name in (gym.spec(env_id).kwargs["problem"] for env_id in registered_ids())
    ],
)


def with_features(name, features, **keywords):
    """The named problem with these features, None where it cannot have them."""
    try:
        return build(name, {"horizon": 20, **features, **keywords})
    except ValueError:
        return None


def redrawn(problem):
    """What differs between the settings of trials whose functions are drawn anew, and nothing else is."""
    first, *others = (vars(problem.draw(0, function_seed=seed).setting) for seed in range(3))
    return {name for name in FIELDS for other in others if not same(first[name], other[name])}


def same(one, other):
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other


@pytest.mark.sampled(4)
@each_problem
@pytest.mark.parametrize("features", FEATURES)
def test_a_setting_tells_of_its_own_functions_what_is_declared_and_nothing_else(name, features):
    problem = with_features(name, FEATURES[features])
    if problem is not None:
        assert redrawn(problem) <= set(problem.trial_facts)


@each_problem
def test_norm_and_noise_of_the_rkhs_problem_are_all_that_any_id_tells_of_a_trial(name):
    told = {"rkhs": {"rkhs_bound", "noise_std", "reward_lower_bound"}}.get(name, set())
    assert redrawn(build(name, {"horizon": 20, **FEATURES["delayed"]})) == told


def test_the_papers_bound_is_declared_as_a_fact_of_the_trial():
    for name in ("gp", "rkhs"):
        problem = build(name, {"horizon": 20, "num_arms": 30, "rkhs_bound": "paper"})
        assert "rkhs_bound" in redrawn(problem) <= set(problem.trial_facts)


@each_problem
def test_a_withheld_model_leaves_no_number_that_is_computed_from_a_function(name):
    problem = build(name, {"horizon": 20, **FEATURES["delayed"], "publish_model": False})
    assert problem.trial_facts == ()
    assert redrawn(problem) == set()
    assert problem.setting().reward_lower_bound == problem.reward.least


@pytest.mark.sampled(4)
@each_problem
@pytest.mark.parametrize("features", ["plain", "delayed", "in time"])
def test_the_law_of_the_delays_is_published_unless_it_was_measured_or_the_model_is_withheld(name, features):
    for publish in (True, False):
        problem = with_features(name, FEATURES[features], publish_model=publish)
        if problem is not None:
            for told in (problem.setting(), problem.draw(0).setting):
                assert told.delay == (problem.delay if publish and not problem.delay.is_measured else None)


def test_a_law_of_delays_says_how_late_feedback_can_be_and_when_rounds_start():
    told = Setting(arms=ARMS, horizon=50, delay={"law": "poisson", "mean": 10})  # type: ignore[arg-type]
    assert told.delay == delays.PoissonDelay(10)
    assert told.max_delay == delays.PoissonDelay(10).window(50) == 28
    assert told.query_times is None
    assert Setting(arms=ARMS, delay=delays.PoissonDelay(10), max_delay=5).max_delay == 5
    in_time = Setting(arms=ARMS, horizon=4, delay=delays.Exponential(3.0, interval=2.0))
    np.testing.assert_array_equal(in_time.query_times, [0.0, 2.0, 4.0, 6.0])
    assert (Setting(arms=ARMS).delay, Setting(arms=ARMS).max_delay) == (None, 0)


@pytest.mark.parametrize("times", [np.arange(60.0) / 4, np.cumsum(np.linspace(0.2, 3.0, 60))])
def test_feedback_can_be_as_late_as_the_law_says_for_rounds_that_start_at_the_query_times(times):
    law = delays.Exponential(0.3, interval=1.0)
    latest = 0
    for s, start in enumerate(times):  # the first round that knows what came after the wait, if there is one
        knowing = [r for r in range(s, 59) if times[r + 1] >= start + law.quantile()]
        latest = max(latest, (knowing[0] if knowing else 59) - s)
    assert Setting(arms=ARMS, horizon=60, delay=law, query_times=times).max_delay == latest
    own = Setting(arms=ARMS, horizon=60, delay=law, query_times=law.query_times(60))
    assert own.max_delay == law.window(60) != latest


def test_query_times_may_be_a_list_of_integers():
    setting = Setting(arms=ARMS, horizon=4, noise_std=0.1, query_times=list(range(4)))  # type: ignore[arg-type]
    assert setting.query_times.dtype == np.float64
    assert not setting.query_times.flags.writeable
    np.testing.assert_array_equal(setting.query_times, np.arange(4.0))


VALUES = 1.0 + 0.1 * np.random.default_rng(0).random((3, 25))


def test_the_bound_of_a_function_of_known_norm_is_minus_the_norm_times_the_largest_deviation():
    problem = by_hand(reward=RKHSFunction(), kernel=ConstantKernel(4.0) * RBF(0.2), rkhs_bound="true")
    setting = problem.draw(0).setting
    assert setting.reward_lower_bound == pytest.approx(-2.0 * setting.rkhs_bound, rel=1e-12)
    assert by_hand(reward=RKHSFunction(), rkhs_bound=5.0).setting().reward_lower_bound == -5.0
    assert by_hand(reward=RKHSFunction(), rkhs_bound=None).draw(0).setting.reward_lower_bound == -3.0


def test_a_sample_is_bounded_by_three_deviations_of_the_kernel_that_it_is_drawn_from():
    own = UnderKernel(GPSample(), ConstantKernel(9.0) * RBF(0.1))
    assert by_hand(kernel=ConstantKernel(4.0) * RBF(0.2)).setting().reward_lower_bound == -6.0
    assert by_hand(reward=own).setting().reward_lower_bound == -9.0


@pytest.mark.parametrize(
    ("law", "told", "untold"),
    [
        (Normalized(GPSample()), 0.0, 0.0),
        (RecordedValues(VALUES, least=0.0), 0.7, 0.0),  # the least possible says little beside the model
        (RecordedValues(VALUES, least=0.8), 0.8, 0.8),
        (RecordedValues(VALUES), 0.7, None),
    ],
)
def test_what_has_a_least_value_by_its_nature_says_so_whether_or_not_a_model_is_told(law, told, untold):
    model = {"kernel": ConstantKernel(0.01) * RBF(0.2), "prior_mean": 1.0}
    trials = [by_hand(reward=law, publish_model=p, **model).draw(0) for p in (True, False)]
    bounds = [trial.setting.reward_lower_bound for trial in trials]
    assert bounds == [pytest.approx(told), untold]


PROFILES = [np.ones(3), np.zeros(12), np.full(12, 1.5), np.full(12, np.nan), 0.5]
SEEDS: list[Any] = [[12], [-1], [], [0.5], "no", [[[0]]]]
SLOPES: list[Any] = [[1.0], [1.0, -1.0], [1.0, np.inf], "no"]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({}, "a setting needs arms, or low and high of a box; got neither"),
        ({"low": [0.0]}, "a setting needs arms, or low and high of a box"),
        ({"arms": ARMS, "horizon": 0}, "horizon must be a positive integer, got 0"),
        ({"arms": np.zeros(4)}, r"arms must be an array \(count, features\), got shape \(4,\)"),
        ({"arms": np.zeros((0, 2))}, r"arms must be an array \(count, features\), got shape \(0, 2\)"),
        ({"arms": np.full((3, 1), np.nan)}, "arms must be finite numbers, .* got .*nan"),
        ({"arms": ARMS, "contexts": np.zeros(4)}, r"contexts must be an array \(count, features\)"),
        ({"low": [1.0], "high": [0.0]}, r"low must be at most high = array\(\[0.\]\), got array\(\[1.\]\)"),
        ({"low": [0.0, 0.0], "high": [1.0]}, "high must be finite numbers, a vector of 2, got"),
        ({"arms": ARMS, "low": [0.0], "high": [1.0]}, "low must be finite numbers, a vector of 2, got"),
        ({"low": [0.0], "high": [np.inf]}, "high must be finite"),
        ({"arms": ARMS, "noise_std": -1.0}, "noise_std must be None, 0 or positive, got -1.0"),
        ({"arms": ARMS, "rkhs_bound": np.nan}, "rkhs_bound must be None, 0 or positive, got nan"),
        ({"arms": ARMS, "max_delay": -1}, "max_delay must be 0 or a positive integer, got -1"),
        ({"arms": ARMS, "delay": {"law": "pareto"}}, r'delay\["law"\] must be one of immediate, .* got'),
        ({"arms": ARMS, "delay": 3}, 'delay must be a dict such as {"law": "immediate"}, got 3'),
        (
            {"arms": ARMS, "horizon": 9, "delay": delays.PoissonDelay(3), "query_times": np.arange(9.0)},
            "delay must be in units of time, as query_times are, got PoissonDelay",
        ),
        (
            {"arms": ARMS, "horizon": 10, "query_times": list(range(9))},
            "query_times must be the start of each of the 10 rounds of the horizon, got 9; give 10 times",
        ),
        ({"arms": ARMS, "horizon": 2, "query_times": np.array([1, 0], np.uint8)}, "query_times must be None"),
        ({"arms": ARMS, "budget": 5.0, "play_costs": 3}, r"play_costs must be None or a law"),
        (
            {"arms": ARMS, "cost_min": 5.0, "known_costs": np.ones(12)},
            "cost_min must be at most 1, the least of known_costs, got 5.0",
        ),
        ({"arms": ARMS, "num_constraints": -1}, "num_constraints must be 0 or a positive integer, got -1"),
        ({"arms": ARMS, "kernel": "rbf"}, "kernel must be None or a scikit-learn kernel, got 'rbf'"),
        ({"arms": ARMS, "prior_mean": np.zeros(99)}, r"prior_mean must be a number or \(12,\) values, got"),
        ({"low": [0.0], "high": [1.0], "volatile": True}, "volatile must be False on a box"),
        ({"arms": ARMS, "latent_kernel": "rbf"}, "latent_kernel must be a scikit-learn kernel, None without"),
        ({"arms": ARMS, "outcome": BernoulliOutcomes(), "latent_kernel": RBF}, "latent_kernel must be a sci"),
        ({"arms": ARMS, "budget": -1}, "budget must be None or positive, got -1"),
        ({"arms": ARMS, "cost_min": 0}, "cost_min must be None or positive, got 0"),
        ({"arms": ARMS, "safe_seed": [1]}, "safe_seed must be None without constraints"),
        *(({"arms": ARMS, "known_costs": each}, "known_costs must") for each in (-np.ones(12), [1.0], [])),
        *(({"arms": ARMS, "noise_profile": each}, "noise_profile must") for each in PROFILES),
        *(({"arms": ARMS, "num_constraints": 1, "safe_seed": each}, "arms in 0..11") for each in SEEDS),
        *(({"arms": ARMS, "num_constraints": 2, "lipschitz": each}, "must be 2 finite") for each in SLOPES),
    ],
)
def test_a_bad_setting_is_one_clear_error(keywords, message):
    with pytest.raises(ValueError, match=message):
        Setting(**keywords)


AT_TEN = {"law": "at", "rounds": [10]}


@pytest.mark.parametrize(
    ("keywords", "may_change"),
    [
        ({"changes": None}, False),
        ({"changes": "stationary"}, False),
        ({"changes": AT_TEN}, True),
        ({"changes": {"law": "at", "rounds": []}}, True),  # it may, and does not
        ({"changes": {"law": "geometric", "hazard": 1e-9}}, True),
        ({"changes": None, "drift": {"law": "ornstein-uhlenbeck"}}, True),
    ],
)
def test_a_learner_is_told_whether_functions_may_change(keywords, may_change):
    problem = build("composite", {"num_arms": 10, "horizon": 20, **keywords})
    for told in (problem.setting(), problem.draw(0).setting, problem.draw(1).setting):
        assert told.may_change is may_change
    assert batch_settings([problem.draw(i).setting for i in range(2)]).may_change is may_change
    assert problem.draw(0).setting.of_trial(0).may_change is may_change


def test_a_learner_is_not_told_when_they_do():
    told = []
    for rounds in ([10], [3, 15]):
        problem = build("composite", {"num_arms": 10, "horizon": 20, "change_points": rounds})
        problem.draw(0)
        told.append(repr(problem.setting()))
    assert told[0] == told[1]
    assert "may_change=True" in told[0]


def test_an_arm_set_is_looked_through_a_few_times_however_many_trials_there_are(monkeypatch):
    made, check = [], Decisions.__post_init__

    def counted(self):
        made.append(len(self.arms))
        check(self)

    monkeypatch.setattr(Decisions, "__post_init__", counted)
    evaluate("GPBandit-GP-v0", ["gp-ucb", "random"], trials=3, env_kwargs={"num_arms": 77, "horizon": 2})
    assert made.count(77) <= 4


def test_settings_of_a_problem_share_their_arms_and_nothing_that_can_be_changed():
    problem = build("gp", {"num_arms": 20, "noise": {"law": "gaussian", "share": 0.1}})
    one, other = (problem.draw(seed).setting for seed in range(2))
    assert one.arms is other.arms
    assert not one.arms.flags.writeable
    assert one.kernel is not other.kernel
    assert one.noise_std != other.noise_std


@pytest.mark.parametrize(
    "facts",
    [
        {"arms": ARMS[:5]},
        {"contexts": CONTEXTS},
        {"low": np.array([-1.0, -1.0])},
        {"arms": None, "high": np.array([2.0, 2.0])},
    ],
    ids=lambda facts: " and ".join(facts),
)
def test_decisions_follow_the_places_of_a_setting_with_other_values(facts):
    setting = Setting(arms=ARMS, horizon=30)
    assert setting.decisions.num_arms == 12  # computed, and shared by settings of the same arms
    other = setting.with_facts(**facts)
    fresh = Setting(**{"arms": ARMS, "low": setting.low, "high": setting.high, "horizon": 30, **facts})
    np.testing.assert_array_equal(other.decisions.points, fresh.decisions.points)
    np.testing.assert_array_equal(other.decisions.box, fresh.decisions.box)
    np.testing.assert_array_equal(other.scaled_contexts, fresh.scaled_contexts)
    assert other.continuous == fresh.continuous


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"arms": ARMS[:5]}, r"prior_mean must be a number or \(5,\) values"),
        ({"prior_mean": np.zeros(3)}, r"prior_mean must be a number or \(12,\) values"),
        ({"known_costs": np.ones(3)}, "known_costs must be 12 numbers"),
        ({"noise_profile": np.ones(3)}, r"noise_profile must be \(12,\) shares"),
        ({"horizon": 0}, "horizon must be a positive integer"),
        ({"query_times": np.arange(4.0)}, "query_times must be the start of each of the 30 rounds"),
    ],
)
def test_a_fact_that_does_not_fit_a_setting_is_refused_when_it_is_put_in(facts, message):
    with pytest.raises(ValueError, match=message):
        Setting(arms=ARMS, horizon=30, prior_mean=np.zeros(12)).with_facts(**facts)


def test_the_noise_in_a_kernel_that_is_put_into_a_setting_is_its_noise():
    found = Setting(arms=ARMS).with_facts(kernel=RBF(0.2) + WhiteKernel(0.04))
    assert found.kernel == RBF(0.2)
    assert found.noise_std == pytest.approx(0.2)


def test_the_prior_mean_of_outcomes_is_a_mean_that_they_can_have():
    given = {"arms": ARMS, "latent_kernel": RBF(0.2)}
    for outcome, mean in ((BernoulliOutcomes(), 2.0), (BernoulliOutcomes(), -0.1), (PoissonCounts(), -0.1)):
        with pytest.raises(ValueError, match=r"prior_mean must be .* as means of .* outcomes are, got"):
            Setting(**given, outcome=outcome, prior_mean=mean)
    assert Setting(**given, outcome=PoissonCounts(), prior_mean=2.0).prior_mean == 2.0
