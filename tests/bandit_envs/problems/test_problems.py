"""Named problems: functions, norms, published facts, contexts and boxes."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from cases import BY_HAND, PLAIN_BOXES, SUBSETS, box_of, by_hand, of_id, registered_ids
from sklearn.gaussian_process.kernels import RBF, Matern

from bandit_envs import BanditEnv, Problem
from bandit_envs.laws import RKHSFunction, changes
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problem.truth import maximise
from bandit_envs.problems import FACTORIES, build, data_files
from bandit_envs.problems.benchmarks import FUNCTIONS

each_id = pytest.mark.parametrize("case", [of_id(env_id) for env_id in registered_ids()])


def brute_norm(problem: Problem, values: Any) -> float:
    """||f|| = sqrt(f' K^+ f) of the minimum-norm function through the values."""
    gram = problem.gram.dense
    return float(np.sqrt(values @ np.linalg.pinv(gram, rcond=1e-12, hermitian=True) @ values))


@pytest.mark.parametrize(
    ("keywords", "law"),
    [
        ({"changes": None}, changes.Stationary()),
        ({"change_points": [3, 9]}, changes.AtRounds((3, 9))),
        ({"num_segments": 3}, changes.Evenly(3)),
        ({"changes": {"law": "geometric", "hazard": 0.1, "min_gap": 4}}, changes.GeometricChanges(0.1, 4)),
    ],
)
def test_there_are_three_ways_to_say_when_functions_change_which_replace_default_ones(keywords, law):
    assert build("gp", keywords).changes == build("composite", keywords).changes == law


@pytest.mark.parametrize("kernel", ["rbf", "matern52", "matern12"])
@pytest.mark.parametrize("norm", [None, 1.0])
def test_the_true_bound_is_the_norm_of_the_function(kernel, norm):
    problem = build("rkhs", {"kernel": kernel, "rkhs_norm": norm, "num_arms": 25, "horizon": 3})
    trial = problem.draw(0)
    bound = trial.setting.rkhs_bound
    exact = brute_norm(problem, trial.means[0, 0])
    assert bound == pytest.approx(exact, rel=1e-4 if kernel == "rbf" else 1e-6)


def test_the_papers_bound_is_the_quadratic_form_it_prints():
    problem = build("rkhs", {"rkhs_bound": "paper", "num_arms": 25, "horizon": 3})
    trial = problem.draw(0)
    values = trial.means[0, 0]
    assert trial.setting.rkhs_bound == pytest.approx(np.sqrt(values @ problem.gram.dense @ values))


@pytest.mark.parametrize("bound", ["true", "paper"])
def test_the_published_bound_has_no_unit(bound):
    keywords = {"rkhs_bound": bound, "num_arms": 25, "horizon": 3}
    plain, other = (build("rkhs", keywords | {"signal_variance": s}).draw(0).setting for s in (1.0, 25.0))
    assert other.rkhs_bound == pytest.approx(plain.rkhs_bound)


def test_the_bound_covers_the_functions_of_all_segments():
    problem = by_hand(reward=RKHSFunction(), changes=changes.AtRounds((10, 20)))
    trial = problem.draw(0)
    norms = [brute_norm(problem, trial.means[s, 0]) for s in range(3)]
    assert trial.setting.rkhs_bound == pytest.approx(max(norms), rel=1e-4)


@pytest.mark.parametrize(
    ("name", "keywords", "bound"),
    [
        ("rkhs", {"rkhs_bound": 7.5}, 7.5),
        ("rkhs", {"rkhs_bound": None}, None),
        ("gp", {}, None),  # a GP sample is almost surely in no RKHS
        ("rosenbrock", {}, None),
    ],
)
def test_a_bound_is_published_as_given_or_where_one_is_known(name, keywords, bound):
    assert build(name, {"num_arms": 10, **keywords}).draw(0).setting.rkhs_bound == bound


def test_noise_as_a_share_of_the_range_differs_from_trial_to_trial_and_is_published():
    problem = build("rkhs", {"horizon": 20_000, "noise": {"law": "gaussian", "share": 0.01}})
    trials = [problem.draw(seed) for seed in range(3)]
    for trial in trials:
        std = trial.setting.noise_std
        assert std == pytest.approx(np.sqrt(0.01 * np.ptp(trial.means[0, 0])))
        assert abs(trial.noise[:, 0].std() / std - 1) < 4 / np.sqrt(2 * 20_000)
    assert len({trial.setting.noise_std for trial in trials}) == 3


def test_noise_on_rewards_and_on_costs_is_independent():
    noise = BY_HAND["everything"].draw(0).noise
    assert noise.shape == (40, 3)
    assert len({tuple(column) for column in noise.T}) == 3


def test_bounded_noise_publishes_its_bound():
    setting = build("gp", {"noise": {"law": "uniform", "std": 0.2}, "num_arms": 9}).draw(0).setting
    assert setting.noise_std == 0.2
    assert setting.noise_bound == pytest.approx(0.2 * np.sqrt(3))


@each_id
def test_what_is_published_holds(case):
    env = case.make(horizon=20, publish_model=True)
    env.reset(seed=3)
    setting = env.get_wrapper_attr("setting")
    problem = env.unwrapped.problem
    bound = problem.reward.lower_bound(problem.gram, setting.prior_mean, setting.rkhs_bound)
    assert setting.reward_lower_bound == bound
    assert setting.horizon == 20
    assert setting.max_delay == problem.delay.window(20)
    if problem.noise.num_points:  # of runs, whose own std is never published
        assert setting.noise_std != problem.noise.std
    else:
        assert setting.noise_std > 0
    np.testing.assert_array_equal(setting.decisions.points, problem.decisions.points)
    some = setting.decisions.points[:: max(len(problem.decisions.points) // 200, 1)]
    np.testing.assert_array_equal(setting.kernel(some), problem.kernel(some))


@each_id
def test_a_withheld_model_leaves_the_problem_as_it_was_and_the_agent_without_it(case):
    told, untold = case.make(horizon=5), case.make(horizon=5, publish_model=False)
    told.reset(seed=0)
    untold.reset(seed=0)
    setting = untold.get_wrapper_attr("setting")
    for name in ("kernel", "noise_std", "noise_bound", "rkhs_bound", "constraint_noise_std"):
        assert getattr(setting, name) is None
    assert setting.reward_lower_bound == untold.unwrapped.problem.reward.least
    assert setting.prior_mean == 0.0
    action = np.array([2, 1]) if setting.duel else 2
    np.testing.assert_equal(untold.step(action), told.step(action))


@pytest.mark.parametrize("env_id", PLAIN_BOXES)
def test_the_box_has_the_same_function_as_the_grid_at_its_points(env_id):
    small = {"horizon": 9, "num_arms": 30}
    grid, box = (gym.make(env_id, **small, continuous=continuous) for continuous in (False, True))
    grid.reset(seed=5)
    box.reset(seed=5)
    points, reward = grid.get_wrapper_attr("setting").arms, box_of(env_id).reward
    for arm in range(9):
        action = box.get_wrapper_attr("setting").to_action(points[arm])
        on_grid, in_box = grid.step(arm)[4]["oracle"], box.step(action)[4]["oracle"]
        is_sample = reward.is_gaussian or getattr(reward, "law", reward).is_gaussian
        tolerance = 1e-4 if is_sample else 1e-9  # a sample goes on without its least pivots
        assert in_box["mean"] == pytest.approx(on_grid["mean"], rel=1e-9, abs=tolerance)
        assert in_box["optimum"] >= on_grid["optimum"] - tolerance


@pytest.mark.sampled(2)
@pytest.mark.parametrize("env_id", PLAIN_BOXES)
def test_nothing_on_a_fine_net_of_the_box_beats_its_optimum(env_id):
    env: Any = gym.make(env_id, continuous=True, horizon=5).unwrapped
    rng = np.random.default_rng(0)
    for seed in range(3):
        env.reset(seed=seed)
        trial = env.simulator.trials[0]
        values = trial.between[0][0](rng.random((20_000, env.setting.dim)))
        assert values.max() <= trial.optimum[0] + 1e-9
        assert values.min() >= trial.worst[0] - 1e-9


OPTIMA = {  # where they are, and how large
    "rosenbrock": ([[1.0, 1.0]], 10.0),
    "hartmann3": ([[0.114614, 0.555649, 0.852547]], 3.86278),
    "hartmann6": ([[0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]], 3.32237),
    "branin": (np.array([[5.0 - np.pi, 12.275], [5.0 + np.pi, 2.275], [14.42478, 2.475]]) / 15.0, -0.397887),
    "ackley": ([[1 / 3, 1 / 3]], 0.0),
}


@pytest.mark.parametrize("name", OPTIMA)
def test_the_optima_of_the_test_functions_are_the_known_ones(name):
    function, dim, *_ = FUNCTIONS[name]
    best, optimum = OPTIMA[name]
    np.testing.assert_allclose(function(np.array(best)), optimum, atol=1e-5)
    if name not in ("hartmann6", "ackley"):  # which take long, and has no slopes there
        found = maximise(function, np.zeros(dim), np.ones(dim), np.zeros((1, dim)))
        assert found == pytest.approx(optimum, abs=1e-5)
    if name == "ackley":
        at_1_0 = 20.0 * (np.exp(-0.2 / np.sqrt(2.0)) - 1.0)
        np.testing.assert_allclose(function(np.array([[0.4, 1 / 3]])), at_1_0, atol=1e-12)


@pytest.mark.parametrize("combine", ["product", "sum"])
def test_the_kernel_over_pairs_is_the_product_or_sum_over_contexts_and_arms(combine):
    joint = {"combine": combine, "kernel": "matern52", "length_scale": 0.4}
    problem = build("gp", {"num_arms": 9, "num_contexts": 4, "context_dim": 2, "dim": 2,
                           "kernel": "rbf", "context_kernel": joint})  # fmt: skip
    pairs = problem.decisions.points
    assert pairs.shape == (36, 4)
    of_context, of_arm = Matern(0.4, nu=2.5)(unit_grid(4, 2)), RBF(0.2)(unit_grid(9, 2))
    expected = (
        np.kron(of_context, of_arm)
        if combine == "product"
        else np.kron(of_context, np.ones((9, 9))) + np.kron(np.ones((4, 4)), of_arm)
    )
    np.testing.assert_allclose(problem.kernel(pairs), expected, rtol=1e-12)


def test_without_contexts_the_kernel_is_that_of_the_arms():
    assert build("gp", {"context_kernel": {"length_scale": 0.1}}).kernel == RBF(0.2)


def test_functions_in_a_box_vary_with_the_context():
    problem = build("rkhs", {"num_arms": 12, "num_contexts": 3, "continuous": True, "horizon": 60})
    env = BanditEnv(problem)
    means: dict[float, float] = {}
    observation = env.reset(seed=0)[0]
    for _ in range(60):
        key = float(observation[0])
        observation, _, _, _, info = env.step(np.array([0.3]))
        assert means.setdefault(key, info["oracle"]["mean"]) == info["oracle"]["mean"]
        assert info["oracle"]["regret"] >= -1e-9
    assert sorted(means) == [0.0, 0.5, 1.0]
    assert len(set(means.values())) == 3


# --- functions that change ---


def test_the_papers_problem_has_four_periods_of_300_rounds_on_0_to_5():
    problem = build("piecewise-stationary", {})
    trial = problem.draw(0)
    assert (problem.horizon, problem.decisions.num_arms, problem.noise.std) == (1200, 1000, 0.05)
    np.testing.assert_array_equal(changes.change_points_of(trial.segment), [300, 600, 900])
    np.testing.assert_array_equal(problem.decisions.arms[:, 0], 5 * np.linspace(0, 1, 1000))
    assert (trial.setting.low, trial.setting.high) == (0.0, 5.0)
    # Matern 5/2 at distance 1 and length-scale 1: (1 + sqrt 5 + 5 / 3) exp(-sqrt 5).
    ends = np.array([[0.0], [1.0]])
    expected = (1 + 5**0.5 + 5 / 3) * np.exp(-(5**0.5))
    assert problem.kernel(ends)[0, 1] == pytest.approx(expected, rel=1e-12)
    assert trial.means.shape == (4, 1, 1000)
    np.testing.assert_array_equal(trial.optimum, trial.means[trial.segment, 0].max(axis=1))


def test_a_box_of_another_size_is_the_same_problem_in_other_units():
    small = build("rkhs", {"continuous": True, "num_arms": 30})
    large = build("rkhs", {"continuous": True, "num_arms": 30, "side": 5.0, "length_scale": 1.0})
    one, other = small.draw(2), large.draw(2)
    np.testing.assert_allclose(one.means, other.means, atol=1e-8)
    np.testing.assert_allclose(one.optimum, other.optimum, atol=1e-8)
    assert other.setting.high == 5.0


def differing(problem, seed):
    """Whether some arm's mean reward or cost differs at each change-point of a trial, (S - 1,)."""
    trial = problem.draw(seed)
    at = changes.change_points_of(trial.segment)
    pairs = [(trial.version[t - 1], trial.version[t]) for t in at]
    return [not np.array_equal(trial.means[before], trial.means[after]) for before, after in pairs]


@pytest.mark.parametrize(
    "keywords",
    [{"num_segments": 3}, {"changes": {"law": "recurring", "num_segments": 3, "num_functions": 3}}],
    ids=["new ones", "recurring"],
)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.needs_data(*data_files(name))) for name in FACTORIES]
)
def test_every_problem_changes_at_each_change_point_or_refuses_to(name, keywords):
    asked = {"horizon": 30, **keywords}
    if build(name, {"horizon": 30}).is_fixed:
        with pytest.raises(
            ValueError, match="changes must have at most 1 functions, as reward and costs have"
        ):
            build(name, asked)
        asked = {**asked, "constraints": {"law": "gp", "quantile": 0.3}, "num_constraints": 1}
    assert differing(build(name, asked), 0) == [True, True]


@pytest.mark.parametrize("off", SUBSETS, ids=lambda off: "without " + ", ".join(off or ["nothing"]))
def test_none_switches_one_feature_off_and_leaves_the_others_on(off):
    problem = build("composite", off)
    trial = problem.draw(0)
    assert (trial.setting.max_delay > 0) == ("delay" not in off)
    assert (problem.decisions.num_contexts == 5) == ("context" not in off)
    assert (trial.segment[-1] == 2) == ("changes" not in off)
    assert (trial.setting.num_constraints == 1) == ("constraints" not in off)


@pytest.mark.long
@pytest.mark.parametrize("keywords", [{}, {"function_seed": 3}, {"safe_seed": True}, {"continuous": True}])
def test_functions_that_recur_are_drawn_once_and_hold_again(keywords):
    turns = {"changes": {"law": "recurring", "num_segments": 5, "num_functions": 2}, "context": None}
    problem = build("composite", {"num_arms": 20, "horizon": 50, "availability": None, **turns, **keywords})
    trial = problem.draw(1)
    assert len(trial.means) == 2
    np.testing.assert_array_equal(trial.segment, np.repeat(np.arange(5), 10))
    np.testing.assert_array_equal(trial.version, np.repeat([0, 1, 0, 1, 0], 10))
    assert trial.optimum[0] == trial.optimum[45] != trial.optimum[10] == trial.optimum[35]
    even = build("composite", {"num_arms": 20, "horizon": 50, "num_segments": 2, "context": None, **keywords})
    np.testing.assert_array_equal(even.draw(1).means, trial.means)
    assert problem.setting().may_change


def test_functions_that_drift_do_not_recur():
    drift = {"law": "ornstein-uhlenbeck", "epsilon": 0.01}
    with pytest.raises(ValueError, match="changes must be other than recurring"):
        build("gp", {"changes": "recurring", "drift": drift})
