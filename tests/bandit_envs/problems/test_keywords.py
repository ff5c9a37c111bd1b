"""The keywords of problems: what they do, and what they refuse."""

import json
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from cases import BY_HAND, CONTEXTS, IN_CONTEXTS, by_hand, played
from sklearn.gaussian_process.kernels import RBF, Matern

import bandit_envs
from bandit_envs import BanditEnv, Decisions, Setting, problems
from bandit_envs.data import find
from bandit_envs.environment.registration import IDS
from bandit_envs.laws import Gaussian, KnownFunction, RecordedValues, RKHSFunction, UniformNoise, changes
from bandit_envs.laws.derived import FeasibleShare
from bandit_envs.laws.drift import OrnsteinUhlenbeck, Replay
from bandit_envs.laws.functions import GPSample
from bandit_envs.laws.movement import Switching
from bandit_envs.problem.decisions import uniform_points, unit_grid
from bandit_envs.problems import FACTORIES, PRESET_OF, SWITCHES, build, data_files, defaults_of, keywords_of

TWO: Any = [0.1, 0.2]  # length-scales, which scikit-learn declares as one number

OFFLINE = [name for name in FACTORIES if not data_files(name)]


def test_defaults_are_the_settings_of_the_papers():
    gp, rkhs = build("gp", {}), build("rkhs", {})
    np.testing.assert_array_equal(gp.decisions.arms, np.linspace(0, 1, 1000)[:, None])
    assert gp.kernel == RBF(0.2)
    assert gp.noise == Gaussian(0.025**0.5)
    assert gp.horizon == 1000
    assert rkhs.decisions.num_arms == 100
    assert rkhs.noise == Gaussian(share=0.01)
    assert rkhs.horizon == 30_000
    np.testing.assert_array_equal(rkhs.decisions.arms, uniform_points(100, 1, 0))


def test_random_points_are_drawn_once_an_environment_by_their_own_seed():
    first, same, other = (build("rkhs", {"points_seed": s}).decisions.arms for s in (0, 0, 1))
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("points", ["grid", "uniform"])
@pytest.mark.parametrize("num_arms", [1, 7, 27, 64])
def test_the_number_of_arms_is_the_total_in_every_dimension(dim, points, num_arms):
    arms = build("gp", {"dim": dim, "num_arms": num_arms, "points": points}).decisions.arms
    assert arms.shape == (num_arms, dim)
    assert arms.min() >= 0
    assert arms.max() <= 1
    assert len(np.unique(arms, axis=0)) == num_arms


def test_a_noise_of_ones_own_replaces_the_default_altogether():
    assert build("rkhs", {"noise_std": 0.5}).noise == Gaussian(0.5)
    assert build("gp", {"noise": {"law": "gaussian", "share": 0.1}}).noise == Gaussian(share=0.1)
    assert build("gp", {"noise": "none"}).draw(0).noise.any() == np.False_
    assert build("gp", {"noise": {"law": "uniform"}, "noise_std": 0.3}).noise.std == 0.3


@pytest.mark.parametrize("name", OFFLINE)
def test_a_noise_of_none_is_the_default(name):
    assert build(name, {"noise": None, "noise_std": None}).noise == build(name, {}).noise


def test_noise_that_each_trial_scales_is_unknown_before_a_trial():
    problem = by_hand(noise=UniformNoise(share=0.01))
    setting = problem.setting()
    assert (setting.noise_std, setting.noise_bound) == (None, None)
    drawn = problem.draw(0).setting.noise_std
    assert drawn is not None
    assert drawn > 0


def test_a_reward_function_cannot_change_the_points_by_accident():
    problem = by_hand(reward=KnownFunction(lambda x: np.multiply(x, 2, out=x)[:, 0]))
    with pytest.raises(ValueError, match="read-only"):
        problem.draw(0)


def test_signal_variance_scales_the_prior_and_a_kernel_object_is_taken_as_it_is():
    kernel = Matern(0.4, nu=2.5)
    assert build("gp", {"kernel": kernel}).kernel is kernel
    np.testing.assert_allclose(build("gp", {"signal_variance": 0.5, "num_arms": 9}).gram.diagonal, 0.5)


PLAIN = [name for name in OFFLINE if name not in ("clicks", "duel")]  # which show chances


@pytest.mark.parametrize("name", PLAIN)
def test_normalized_functions_run_from_zero_to_one(name):
    means = build(name, {"normalize": True, "noise_std": 0.1, "horizon": 5}).draw(0).means[:, 0]
    assert means.min() == pytest.approx(0.0, abs=1e-12)
    assert means.max() == pytest.approx(1.0)


@pytest.mark.parametrize("name", OFFLINE)
def test_the_keywords_of_a_problem_are_json_and_are_all_accepted(name):
    factory = PRESET_OF.get(FACTORIES[name], FACTORIES[name])
    keywords = {key: default for key, default in (factory.__kwdefaults__ or {}).items() if key != "name"}
    assert set(keywords) <= set(keywords_of(name))
    build(name, json.loads(json.dumps(keywords)))


@pytest.mark.parametrize("env_id", IDS)
def test_the_defaults_that_are_printed_are_those_that_an_environment_is_made_with(env_id):
    name = IDS[env_id]
    if not all(map(find, data_files(name))):
        pytest.skip("needs data that are not here")
    made, printed = gym.make(env_id).get_wrapper_attr("problem"), defaults_of(name)
    assert list(printed) == keywords_of(name)
    given = build(name, printed)
    assert given.composed == made.composed
    np.testing.assert_array_equal(given.decisions.points, made.decisions.points)
    np.testing.assert_array_equal(given.draw(0).means, made.draw(0).means)
    values = {key: getattr(made, key) for key in ("horizon", "publish_model", "rkhs_bound", "max_delay")}
    assert {key: printed[key] for key in values} == values


@pytest.mark.parametrize("window", [None, 0, 4])
def test_the_largest_delay_that_arrives_is_published(window):
    problem = build("gp", {"delay": {"law": "poisson", "mean": 10}, "max_delay": window, "num_arms": 9})
    expected = 28 if window is None else window  # P(Poisson(10) > 28) < 1e-6 <= P(> 27)
    assert problem.window == problem.draw(0).setting.max_delay == expected
    infos = [info for *_, info in played(BanditEnv(problem), rounds=300)[1:]]
    assert max(info["oracle"]["delay"] for info in infos) <= expected
    assert build("gp", {"delay": {"law": "poisson", "mean": 10}, "horizon": 8}).window == 7


def test_a_function_over_contexts_is_evaluated_at_context_and_arm():
    decisions = Decisions(unit_grid(5), contexts=CONTEXTS)
    problem = by_hand(decisions=decisions, reward=KnownFunction(lambda x: 10 * x[:, 0] + x[:, 1] - x[:, 2]))
    table = problem.draw(0).means[0, 0].reshape(4, 5)
    expected = 10 * CONTEXTS[:, :1] + CONTEXTS[:, 1:] - decisions.arms.T
    np.testing.assert_allclose(table, expected)


@pytest.mark.parametrize(
    ("name", "keywords", "message"),
    [
        ("nothing", {}, "unknown problem 'nothing'; choose one of gp, rkhs, .*, rosenbrock, "),
        ("gp", {"lengthscale": 0.1}, r"got .* 'lengthscale' \(did you mean 'length_scale'\?\); it takes "),
        ("rosenbrock", {"dim": 3}, "'rosenbrock' got an unexpected .* 'dim'; it takes kernel, "),
        ("gp", {"kernel": "rfb"}, "kernel must be one of diagonal, linear, .*, got 'rfb'"),
        ("gp", {"kernel": RBF}, "kernel must be one of diagonal, linear, .*, got <class "),
        ("gp", {"length_scale": [0.1, 0.2]}, r"kernel must take points of 1 features, got RBF\(.*2!=1"),
        ("gp", {"kernel": RBF(TWO), "dim": 3}, r"kernel must take points of 3 features, got RBF"),
        ("gp", {"length_scale": 0}, "length_scale must be positive, got 0"),
        ("gp", {"dim": 2, "length_scale": [0.1, 0.0]}, r"length_scale must be positive, got \[0.1, 0.0\]"),
        ("gp", {"signal_variance": 0}, "signal_variance must be None or positive, got 0"),
        ("gp", {"function": "spline"}, "function must be \"gp\" or \"rkhs\", got 'spline'"),
        ("rkhs", {"rkhs_norm": 0.0}, "rkhs_norm must be positive.*, got 0.0; or leave it out"),
        ("rkhs", {"rkhs_bound": "false"}, "rkhs_bound must be \"true\", \"paper\", None or .* 'false'"),
        ("rkhs", {"rkhs_bound": -1}, "rkhs_bound must be .* or a positive number, got -1"),
        ("gp", {"points": "sobol"}, "points must be \"grid\" or \"uniform\", got 'sobol'"),
        ("rkhs", {"points_seed": -1}, "points_seed must be an integer >= 0, got -1"),
        ("gp", {"noise": {"law": "gaussian", "std": 1}, "noise_std": 2}, "noise_std and .* got 2 and 1"),
        ("gp", {"noise": Gaussian(1.0), "noise_std": 2}, "must not be given beside a noise law .* 2"),
        ("gp", {"max_delay": -1}, r"max_delay must be None or an integer in 0\.\.horizon - 1, got -1"),
        ("gp", {"max_delay": 10, "horizon": 10}, r"max_delay must be .* in 0\.\.horizon - 1, got 10"),
        ("gp", {"change_points": [9, 3]}, r"change_points must be ascending .* got \[9, 3\]"),
        ("gp", {"change_points": [3], "num_segments": 2}, "give only one of changes, change_points, num_seg"),
        ("gp", {"num_segments": 2.5}, "num_segments must be a positive integer, got 2.5"),
        ("gp", {"budget": {"law": "log-gp"}}, r'budget\["budget"\] must be given, \'log-gp\' has no default'),
        ("logistic-tuning", {"continuous": True}, "continuous must be False: .* got True"),
        ("clicks", {"noise_std": 0.1}, "noise_std"),
        ("clicks", {"normalize": True}, "normalize"),
        ("clicks", {"misspecification": 0.1}, "misspecification"),
        ("clicks", {"corruption": {"law": "random", "budget": 1}}, "corruption"),
        ("clicks", {"drift": {"law": "ornstein-uhlenbeck"}}, "drift"),
        ("clicks", {"duel": True}, "duel"),
        ("clicks", {"kernel": "linear"}, "kernel"),
        ("clicks", {"outcome": {"law": "probit"}}, "outcome"),
        ("clicks", {"outcome": {"law": "bernoulli", "base": 1e3}}, "base"),
        ("clicks", {"outcome": {"law": "poisson", "exposure": 0}}, "exposure"),
        ("clicks", {"prior_mean": 2}, "prior_mean must be .* as means of"),
        ("duel", {"continuous": True}, "continuous must be"),
        ("duel", {"constraints": {"law": "gp"}}, "constraints must be left out of duels"),
        ("duel", {"corruption": "random"}, "corruption must be left out of duels"),
        ("duel", {"availability": {"law": "bernoulli"}}, "availability must be left out of duels"),
        ("duel", {"budget": 10}, "budget must be left out of duels"),
        ("duel", {"aggregated": True}, "aggregated must be left out of duels"),
        ("duel", {"delay": {"law": "by-reward", "mean": 2}}, "delay must be left out of duels"),
        ("duel", {"delay": {"law": "by-arm", "base": {"law": "poisson", "mean": 2}}}, "delay must be left"),
        ("duel", {"noise_std": 0.1}, "noise_std must be left out of duels: who wins is random by itself"),
        ("duel", {"noise": "uniform"}, "noise must be left out of duels"),
        ("duel", {"duel": 1}, "duel must be True or False"),
        ("hard", {"noise": "none"}, "noise_std"),
        ("hard", {"noise": {"law": "gaussian", "share": 0.1}}, "share"),
        ("hard", {"rkhs_norm": 0.0}, "rkhs_norm"),
        ("hard", {"horizon": 0}, "horizon"),
        ("hard", {"hard_for": 0}, "hard_for"),
        ("hard", {"hard_for": 21, "horizon": 20}, "hard_for"),
        ("hard", {"function": "bumps", "hard_for": 9}, "hard_for"),
        ("hard", {"eps": 0.1}, "eps"),
        ("hard", {"function": "bumps", "rescaled": True}, "rescaled"),
        ("hard", {"function": "bumps", "eps": 1.5}, "eps"),
        ("hard", {"function": "bumps", "kernel": "linear"}, "kernel"),
        ("hard", {"function": "bumps", "signal_variance": 4.0}, "signal_variance"),
        ("hard", {"function": "bumps", "dim": 2, "length_scale": [0.1, 0.2]}, "length_scale"),
        ("hard", {"function": "flat"}, "function"),
        ("hard", {"continuous": True}, "continuous"),
        ("gp", {"constraints": {"law": "spline"}}, r'\["law"\] must be one of gp, rkhs, got .spline'),
        ("gp", {"constraints": {"law": "gp", "quantile": 0.0}}, r'"quantile"\] must be in \(0, 1\]'),
        ("gp", {"constraints": {"law": "gp", "share": 0.1}}, "constraints 'gp' has no 'share'"),
        ("gp", {"constraints": 3}, "constraints must be a dict such as"),
        ("gp", {"constraints": [1]}, "constraints must be a dict or laws"),
        ("gp", {"constraints": {"law": "gp", "kernel": "rfb"}}, "kernel.. must be one of .* got 'rfb'"),
        ("gp", {"num_constraints": -1}, "num_constraints must be None or an integer in 0..1000, got -1"),
        ("gp", {"num_constraints": 2, "constraints": (KnownFunction(np.sum),)}, "must be 1, the number"),
        ("gp", {"num_constraints": 1, "constraint_noise": {"share": 0.1}}, 'must be without "share"'),
        ("gp", {"constraint_noise": {"std": 0.1}, "constraint_noise_std": 2}, "constraint_noise_std and .*2"),
        ("rkhs", {"misspecification": -0.1}, "misspecification must be 0 or positive, got -0.1"),
        ("rkhs", {"misspecification": 0.1, "continuous": True}, "continuous must be False"),
        ("rkhs", {"corruption": {"law": "near-optimal", "budget": -1}}, r'\["budget"\] must be 0 or pos'),
        ("rkhs", {"corruption": {"law": "near-optimal", "within": -1}}, r'\["within"\] must be 0 or pos'),
        ("rkhs", {"corruption": {"law": "random", "probability": 2}}, r'probability"\] must be in .0, 1.'),
        ("rkhs", {"corruption": {"law": "start", "by": "much"}}, r'corruption\["by"\] must be 0 or positive'),
        ("rkhs", {"corruption": "bribe"}, "corruption.* must be one of none, near-optimal, random, start"),
        ("gp", {"means": [[1.0, 2.0], [2.0, 1.0]], "num_arms": 3}, "means must be rows of 3 .*num_arms"),
        ("gp", {"means": [[1.0, 2.0]], "rkhs_norm": 2.0, "function": "rkhs"}, "function must be left out"),
        ("gp", {"means": [[1.0, 2.0]], "outcome": "bernoulli"}, "outcome must be left out where"),
        ("gp", {"means": [[1.0], [2.0]], "num_arms": 1, "num_segments": 3}, "changes must be a law of 2"),
        ("gp", {"means": 3.0}, r"segment means must be an \(M, N\) array, got \(\)"),
        ("gp", {"means": [[1.0, 2.0]], "num_arms": 2, "continuous": True}, "continuous must be False"),
        ("gp", {"num_contexts": 0}, "num_contexts must be a positive integer, got 0"),
        ("gp", {"context_kernel": {"scale": 1}}, "must be a dict of combine, kernel, length_scale"),
        ("gp", {"context_kernel": "rbf"}, "context_kernel must be None or a dict, got 'rbf'"),
        ("gp", {"num_contexts": 2, "context_kernel": {"kernel": "rfb"}}, r"\[.kernel.\] must be one"),
        ("cnn-tuning", {"shape": 4}, "shape must be three integers from 2 on .*, got 4"),
        ("cnn-tuning", {"shape": (4, 13, 1)}, r"shape must be three integers from 2 on .*, got \(4, 13, 1\)"),
        ("cnn-tuning", {"replicates": 0}, "replicates must be a positive integer, got 0"),
        ("cnn-tuning", {"shape": (4, 13, 10)}, r"train must be True unless shape is \(4, 13, 9\)"),
        ("real", {"task": "digits-lat"}, "task must be a task of `gpbandits tasks`, got 'digits-lat'"),
        ("real", {"task": 3}, "task must be a task"),
        ("real", {"normalize": True}, "normalize must be False, or given with noise_std: measured runs keep"),
        ("real", {"continuous": True}, "continuous must be False"),
        ("real", {"task": "growing-datasets", "kernel": "se"}, "kernel and length_scale must be left out"),
        ("budget", {"budget": 1.0}, r"budget\[\"budget\"\] must be at least 1.2"),
        ("budget", {"budget": {"law": "gp", "budget": 50, "low": 0}}, "positive"),
        ("budget", {"budget": {"law": "log-gp", "budget": 50, "deviation": -1}}, "positive"),
        ("budget", {"budget": {"law": "unit", "budget": 50, "known": False}}, "known"),
        ("budget", {"budget": {"law": "gp", "budget": 50, "noise_std": -1}}, "0 or positive"),
        ("budget", {"budget": "cheap"}, "must be one of none, unit, gp, log-gp"),
    ],
)  # fmt: skip
def test_bad_keywords_are_one_clear_error(name, keywords, message):
    with pytest.raises(ValueError, match=message):
        build(name, keywords).draw(0)


@pytest.mark.parametrize("make", [gym.make, gym.make_vec])
def test_an_id_refuses_an_unknown_keyword_as_python_does(make):
    words = r"unexpected keyword argument 'hroizon' \(did you mean 'horizon'\?\); it takes"
    with pytest.raises(TypeError, match=words):
        make("GPBandit-GP-v0", hroizon=3)
    with pytest.raises(TypeError, match=r"a Problem got an unexpected keyword argument .horizon."):
        BanditEnv(BY_HAND["contexts"], horizon=4)


@pytest.mark.parametrize(
    ("laws", "message"),
    [
        (
            {"constraints": (KnownFunction(lambda x: 1 + x[:, 0]),)},
            "constraints must be <= 0 together .* segment 0, context 0; lower",
        ),
        (
            {"constraints": (RecordedValues(np.zeros((1, 5))),), "feasibility": FeasibleShare(0.3),
             "decisions": Decisions(unit_grid(5), continuous=True), "reward": RKHSFunction()},
            "continuous must be False: this reward or a cost is defined at its points only, got True",
        ),
        (
            {"constraints": (KnownFunction(lambda x: 1 + x[:, 0]),),
             "decisions": Decisions(unit_grid(5), continuous=True), "reward": RKHSFunction()},
            "constraints must be <= 0 together somewhere",
        ),
        ({"decisions": np.zeros((3, 1))}, r"decisions must be a Decisions, got array"),
        ({"reward": np.sin}, r"reward must be a law such as KnownFunction\(f\), got <ufunc 'sin'>"),
        ({"reward": RKHSFunction}, "reward must be a law such as .*, got <class"),
        ({"constraints": (KnownFunction(np.sum), np.sin)}, r"constraints\[1\] must be a law such as"),
        ({"noise": 0.1}, r"noise must be a law such as Gaussian\(0.1\), got 0.1"),
        ({"kernel": "rbf"}, "kernel must be a scikit-learn kernel object, got 'rbf'"),
        ({"kernel": RBF}, "kernel must be a scikit-learn kernel object, got <class"),
        ({"prior_mean": np.zeros(3)}, r"prior_mean must be a number or \(25,\) values, got \(3,\)"),
        ({"prior_mean": np.nan}, "prior_mean must be finite numbers, got nan"),
        ({"movement": Switching(0.2), "decisions": IN_CONTEXTS}, "movement must be the law .none. with"),
        ({"drift": 0.01}, "drift must be a law such as OrnsteinUhlenbeck"),
        ({"drift": OrnsteinUhlenbeck(), "reward": RKHSFunction()}, "drift must be None unless functions are"),
        ({"drift": OrnsteinUhlenbeck(), "constraints": (RKHSFunction(),)}, "drift must be None unless"),
        (
            {"drift": OrnsteinUhlenbeck(), "reward": KnownFunction(np.sum),
             "decisions": Decisions(unit_grid(5), continuous=True)},
            "continuous must be False: drifting functions are defined at their points only",
        ),
        ({"drift": Replay()}, "drift must be other than a replay where nothing is recorded"),
        (
            {"drift": OrnsteinUhlenbeck(0.5), "constraints": (GPSample(),), "kernel": RBF(9.0)},
            "constraints must be <= 0 together somewhere, got no such point in round",
        ),
    ],
)  # fmt: skip
def test_a_problem_that_cannot_be_played_is_one_clear_error(laws, message):
    with pytest.raises(ValueError, match=message):
        by_hand(**laws).draw(0)


@pytest.mark.parametrize("given", [3, None, ["GPBandit-GP-v0"]])
def test_make_refuses_what_describes_no_environment(given):
    with pytest.raises(ValueError, match="environment must be an id, a Problem or a callable, got"):
        bandit_envs.make(given)


def test_numbers_of_numpy_count_as_the_numbers_that_they_are():
    """An `np.int8` overflows in arithmetic that its value fits."""
    small = {"num_arms": 100, "horizon": 120, "num_segments": 40, "dim": 2, "length_scale": 0.5}
    small |= {"delay": {"law": "constant", "rounds": 3}, "max_delay": 100}
    whole = ("num_arms", "horizon", "num_segments", "dim", "max_delay")
    numpys = small | {name: np.int8(small[name]) for name in whole}
    numpys |= {"length_scale": np.float16(0.5), "delay": {"law": "constant", "rounds": np.int8(3)}}
    ours, theirs = build("gp", small), build("gp", numpys)
    np.testing.assert_array_equal(ours.draw(3).means, theirs.draw(3).means)
    np.testing.assert_array_equal(ours.draw(3).segment, theirs.draw(3).segment)
    assert (ours.setting().max_delay, ours.window) == (theirs.setting().max_delay, theirs.window)


def test_laws_problems_and_settings_take_numbers_of_numpy_as_well():
    law = changes.Evenly(np.int8(100))
    np.testing.assert_array_equal(law.draw(200, np.random.default_rng(0)), np.arange(200) // 2)
    assert type(by_hand(horizon=np.int8(100)).horizon) is int
    assert type(Setting(arms=unit_grid(3), horizon=np.int8(100)).horizon) is int
    batch = gym.make_vec("GPBandit-GP-v0", np.int8(100), num_arms=3, horizon=2)
    assert batch.reset(seed=0)[0].shape == (100, 1)


@pytest.mark.parametrize("name", ["composite", "contextual", "piecewise-stationary"])
@pytest.mark.parametrize("keyword", SWITCHES)
def test_false_switches_a_feature_off_as_none_does(name, keyword):
    """TOML has no None; without contexts there is one alone, also where several are the default."""
    small = {"num_arms": 20, "horizon": 30}
    off = build(name, {**small, keyword: False})
    single = {"num_contexts": 1} if keyword == "context" else {}
    assert off.composed == build(name, {**small, **single, keyword: None}).composed
    absent = {
        "delay": off.composed["delay"].startswith("Immediate"),
        "context": off.decisions.contexts.shape[0] == 1,
        "changes": off.composed["changes"] == "Stationary()",
        "constraints": off.constraints == (),
    }
    assert absent[keyword]


# --- what is said of problems and keywords comes from the docstrings ---


@pytest.mark.parametrize("problem", FACTORIES)
def test_every_keyword_has_a_line_of_its_own(problem):
    said = problems.meanings(problem)
    assert list(said) == keywords_of(problem)
    assert [keyword for keyword, line in said.items() if not line] == []
    assert all("\n" not in line for line in said.values())
    assert all(line.count("(") == line.count(")") for line in said.values())  # cut inside no parentheses


@pytest.mark.parametrize("problem", FACTORIES)
def test_every_problem_has_all_headings_and_no_label_is_left_in_its_description(problem):
    found, spaces = problems.sections(problem), ("Action Space", "Observation Space")
    name, description = next(iter(found.items()))
    assert name == problems.DESCRIPTION
    assert {*spaces, "Rewards", "Regret", problems.STARTING, problems.END} < found.keys()
    assert all(found.values())
    assert not any(f"{label}: " in description for label in ("Action", "Observation", "Keywords"))


def test_what_a_problem_says_itself_comes_before_what_all_share():
    assert problems.meanings("intel-temperature")["continuous"].startswith("must be False")
    assert problems.meanings("gp")["continuous"].startswith("play the whole box")
    assert problems.sections("intel-temperature")["Action Space"] == "`Discrete(50)`, a sensor."
    assert problems.example("intel-temperature").startswith(">>> env = gym.make(")


def test_a_law_is_said_in_words_with_the_names_of_laws_last():
    line = problems.meanings("gp")["corruption"]
    assert line.startswith("an attack changes rewards")
    assert line.endswith('laws: "near-optimal" | "random" | "start"')
    assert len(problems.meanings("gp")["signal_variance"]) <= problems.LONGEST
