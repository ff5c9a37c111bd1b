"""Problems whose functions change, alone and with every other feature."""

import numpy as np
import pytest
from cases import SUBSETS

from bandit_envs.laws import changes
from bandit_envs.problems import FACTORIES, build, data_files

each_subset = pytest.mark.parametrize(
    "off", SUBSETS, ids=lambda off: "without " + ", ".join(off or ["nothing"])
)


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


@each_subset
def test_none_switches_one_feature_off_and_leaves_the_others_on(off):
    problem = build("composite", off)
    trial = problem.draw(0)
    assert (trial.setting.max_delay > 0) == ("delay" not in off)
    assert (problem.decisions.num_contexts == 5) == ("context" not in off)
    assert (trial.segment[-1] == 2) == ("changes" not in off)
    assert (trial.setting.num_constraints == 1) == ("constraints" not in off)


@pytest.mark.parametrize(
    ("keywords", "segments"),
    [
        ({"change_points": [10]}, 2),
        ({"changes": {"law": "evenly", "num_segments": 6}}, 6),
        ({"num_segments": 4}, 4),
    ],
)
def test_a_users_change_points_replace_the_default_ones(keywords, segments):
    assert build("composite", keywords).draw(0).segment[-1] + 1 == segments


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
