"""The environments keep the interface of Gymnasium, and repeat what they gave."""

import pickle
import runpy
import tomllib
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from cases import BY_HAND, CASES, CONTEXTS, Case, by_hand, of_id, played, registered_ids
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import TimeAwareObservation
from sklearn.gaussian_process.kernels import RBF
from stable_baselines3.common.env_checker import check_env as check_env_sb3

import bandit_envs
from bandit_envs import BanditEnv, Setting
from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.environment.registration import IDS
from bandit_envs.laws import NoNoise, changes, delays
from bandit_envs.laws.availability import BernoulliAvailability
from bandit_envs.laws.corruption import AtRandom
from bandit_envs.laws.play_costs import GPCosts
from bandit_envs.problem.decisions import SLACK
from bandit_envs.problems import data_files

each_case = pytest.mark.parametrize("case", CASES)
each_id = pytest.mark.parametrize("case", [of_id(env_id) for env_id in registered_ids()])
EVERYTHING = Case(BY_HAND["everything"], {})
GRID = Case("GPBandit-GP-v0", {"num_arms": 30, "horizon": 20})
BOX = Case("GPBandit-RKHS-v0", {"num_arms": 12, "dim": 2, "horizon": 20, "continuous": True})


@pytest.mark.sampled(12)
@each_case
def test_the_checkers_of_gymnasium_and_stable_baselines_have_nothing_to_say(case):
    # Warnings are errors here. Render modes are looked up in the spec, which only registered ids have.
    check_env(case.make().unwrapped, skip_render_check=not isinstance(case.environment, str))
    check_env_sb3(case.make(render_mode="ansi").unwrapped)


@pytest.mark.sampled(24)
@each_case
def test_the_same_seed_gives_the_same_run(case):
    np.testing.assert_equal(played(case.make(), rounds=12), played(case.make(), rounds=12))


def test_a_reset_without_a_seed_goes_on_with_the_generator_so_that_trials_differ_but_repeat():
    def three_trials() -> list[float]:
        env = GRID.make()
        env.reset(seed=4)
        trials = []
        for _ in range(3):
            trials.append(env.step(3)[4]["oracle"]["mean"])
            env.reset()
        return trials

    assert three_trials() == three_trials()
    assert len(set(three_trials())) == 3


def test_a_restored_generator_repeats_the_trial():
    env = GRID.make()
    env.reset(seed=4)
    state = env.unwrapped.np_random.bit_generator.state
    first = played(env, seed=None)
    env.unwrapped.np_random.bit_generator.state = state
    np.testing.assert_equal(played(env, seed=None), first)


def of_every_role(env: gym.Env, seed: int) -> dict[str, Any]:
    env.reset(seed=seed)
    trial: Any = env.unwrapped.simulator.trials[0]  # type: ignore[attr-defined]
    fields = ("means", "noise", "wait", "context", "segment", "attack", "bits", "cost_noise")
    return {name: getattr(trial, name) for name in fields}


@pytest.mark.parametrize(("keywords", "options"), [({"function_seed": 3}, None), ({}, {"function_seed": 3})])
def test_a_function_seed_freezes_the_functions_and_nothing_else(keywords, options):
    env: Any = BanditEnv("gp", num_arms=20, horizon=30, delay={"law": "poisson", "mean": 3}, **keywords)
    trials = []
    for seed in (0, 1):
        env.reset(seed=seed, options=options)
        trials.append(env.simulator.trials[0])
    np.testing.assert_array_equal(trials[0].means, trials[1].means)
    assert not np.array_equal(trials[0].noise, trials[1].noise)
    assert not np.array_equal(trials[0].wait, trials[1].wait)


def test_a_function_seed_in_reset_holds_for_one_trial():
    env: Any = GRID.make().unwrapped
    env.reset(seed=0, options={"function_seed": 3})
    frozen = env.simulator.trials[0].means
    env.reset()
    assert not np.array_equal(env.simulator.trials[0].means, frozen)


@pytest.mark.parametrize(
    ("changed", "law"),
    [
        ("wait", {"delay": delays.PoissonDelay(9)}),
        ("noise", {"noise": NoNoise()}),
        ("segment", {"changes": changes.AtRounds((12,))}),
        ("attack", {"corruption": AtRandom(3.0, probability=0.5)}),
        ("bits", {"availability": BernoulliAvailability(0.4)}),
        ("cost_noise", {"play_costs": GPCosts(50.0)}),
    ],
)
def test_changing_one_law_leaves_the_draws_of_the_others_as_they_were(changed, law):
    shared = {
        "delay": delays.PoissonDelay(4),
        "availability": BernoulliAvailability(0.8),
        "decisions": bandit_envs.Decisions(np.eye(5), contexts=CONTEXTS),
    }
    plain, varied = (of_every_role(BanditEnv(by_hand(**(shared | more))), seed=2) for more in ({}, law))
    assert not np.array_equal(plain[changed], varied[changed])
    for name in plain.keys() - {changed}:
        length = min(len(plain[name]), len(varied[name]))  # more segments: the first is the same
        np.testing.assert_array_equal(plain[name][:length], varied[name][:length])


@pytest.mark.parametrize("dtype", [int, np.int64, np.int32, np.uint8])
def test_an_arm_may_be_any_integer(dtype):
    env = GRID.make().unwrapped
    env.reset(seed=0)
    assert env.step(dtype(7))[4]["oracle"]["mean"] == env.step(7)[4]["oracle"]["mean"]
    env.step(np.array(7))


def test_a_point_of_the_box_may_have_either_precision_and_rounding_beyond_is_clipped():
    env = BOX.make().unwrapped
    env.reset(seed=0)
    given = [np.array([0.5, -0.25], dtype=dtype) for dtype in (np.float64, np.float32)]
    beyond = [np.array([1.0 + SLACK / 10, -1.0 - SLACK / 10]), [1.0, -1.0]]
    for points in ([*given, [0.5, -0.25]], beyond):
        assert len({env.step(point)[4]["oracle"]["mean"] for point in points}) == 1


@pytest.mark.parametrize(
    ("case", "action", "message"),
    [
        (GRID, 30, r"action must be an arm in 0\.\.29, got 30"),
        (GRID, -1, r"action must be an arm in 0\.\.29, got -1"),
        (GRID, 1.0, r"action must be an integer arm of shape \(\), got array\(1\.\)"),
        (GRID, True, r"action must be an integer arm .* got array\(True\)"),
        (GRID, np.array([3]), r"action must be an integer arm .* got array\(\[3\]\)"),
        (BOX, np.array([1.001, 0.0]), r"action must be finite and in \[-1, 1\], got .*1\.001"),
        (BOX, np.array([np.nan, 0.0]), r"action must be finite and in \[-1, 1\], got .*nan"),
        (BOX, np.array([0.5]), r"action must be numbers in \[-1, 1\] of shape \(2,\), got array\(\[0\.5\]\)"),
        (BOX, np.array(["a", "b"]), r"action must be numbers in \[-1, 1\] of shape \(2,\), got array\(\['a'"),
    ],
)
def test_a_wrong_action_is_one_clear_error_and_no_round_is_lost(case, action, message):
    env = case.make().unwrapped
    env.reset(seed=0)
    with pytest.raises(ValueError, match=message):
        env.step(action)
    assert env.step(env.action_space.sample())[4]["t"] == 0


@pytest.mark.sampled(24)
@each_case
def test_an_episode_is_truncated_at_the_horizon_and_terminated_by_a_budget_alone(case):
    outputs = played(case.make())
    if outputs[-1][2]:
        assert case.make().get_wrapper_attr("setting").budget
        assert not outputs[-1][-1]["played"]
        return
    assert len(outputs) - 1 == case.make().get_wrapper_attr("setting").horizon
    assert [output[3] for output in outputs[1:]] == [False] * (len(outputs) - 2) + [True]
    assert not any(output[2] for output in outputs[1:])


def test_a_step_after_the_horizon_or_before_reset_is_one_clear_error():
    env = GRID.make().unwrapped
    with pytest.raises(RuntimeError, match="step was called before reset; call reset first"):
        env.step(0)
    played(env)
    with pytest.raises(RuntimeError, match="step was called after the last of 20 rounds; call reset"):
        env.step(0)
    env.reset()
    env.step(0)


def test_a_horizon_of_one_round_works():
    (_, _, _, truncated, _) = played(BanditEnv("gp", num_arms=5, horizon=1))[-1]
    assert truncated is True


@pytest.mark.parametrize("case", [GRID, EVERYTHING])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"functionseed": 3}, "unknown reset option 'functionseed'; the only one is \"function_seed\""),
        ({"function_seed": -1}, "function_seed must be None or an integer >= 0, got -1"),
        ({"function_seed": "3"}, "function_seed must be None or an integer >= 0, got '3'"),
        ({"function_seed": True}, "function_seed must be None or an integer >= 0, got True"),
    ],
)
def test_a_wrong_reset_option_is_one_clear_error(case, options, message):
    with pytest.raises(ValueError, match=message):
        case.make().reset(options=options)


@each_id
def test_an_id_is_made_again_from_its_spec_as_json(case):
    env = case.make(horizon=7)
    assert env.spec is not None
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    np.testing.assert_equal(played(again), played(env))


@each_id
def test_every_id_refuses_an_unknown_keyword_in_pythons_words(case):
    """Loaders leave out what is refused so, as TorchRL's `GymEnv` does, which passes `frameskip` first."""
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'frameskip'"):
        case.make(frameskip=1)


def test_a_kernel_object_in_a_spec_is_refused_as_json_with_the_remedy():
    env = gym.make("GPBandit-GP-v0", kernel=RBF(0.1), horizon=7)
    assert env.spec is not None
    words = r"kernel must be text, .* got RBF\(.*; describe it, as in kernel="
    with pytest.raises(ArgumentError, match=words):
        env.spec.to_json()
    again = gym.make(env.spec)  # in memory it is as good as any other
    np.testing.assert_equal(played(again), played(env))


@each_id
def test_the_limit_in_a_spec_is_the_horizon_of_the_environment_as_made(case):
    default, longer = case.make(), case.make(horizon=60_000 if "Budget" in case.environment else 40_000)
    for env in (default, longer):
        assert env.spec.max_episode_steps == env.unwrapped.problem.horizon
    assert longer.spec.max_episode_steps > default.spec.max_episode_steps
    assert gym.spec(case.environment).max_episode_steps is None  # it would cut a longer horizon


def test_a_limit_of_time_shows_in_the_spec_and_in_observations_of_the_time():
    assert gym.make("GPBandit-GP-v0", horizon=9, max_episode_steps=4).spec.max_episode_steps == 4
    assert gym.make_vec("GPBandit-GP-v0", 2, horizon=9).spec.max_episode_steps == 9
    assert gym.make_vec("GPBandit-GP-v0", 2, horizon=9, max_episode_steps=4).spec.max_episode_steps == 4
    env = gym.make("GPBandit-GP-v0", num_arms=5, horizon=9)
    timed = TimeAwareObservation(env, flatten=False, normalize_time=True)
    timed.reset(seed=0)
    assert [timed.step(0)[0]["time"].item() for _ in range(9)] == pytest.approx(np.arange(1, 10) / 9)


@pytest.mark.parametrize("case", [GRID, BOX, EVERYTHING])
def test_an_environment_survives_pickling_in_the_middle_of_a_trial(case):
    env = case.make()
    env.action_space.seed(1)
    env.reset(seed=0)
    for _ in range(5):
        env.step(env.action_space.sample())
    twin = pickle.loads(pickle.dumps(env))
    for _ in range(5):
        action = env.action_space.sample()
        np.testing.assert_equal(twin.step(action), env.step(action))


@each_id
def test_a_copy_of_an_environment_that_has_drawn_draws_the_same_to_the_last_bit(case):
    """What has been computed for earlier draws keeps its layout, and with it the order of its sums."""
    env = case.make()
    env.reset(seed=0)
    twin = pickle.loads(pickle.dumps(env))
    for each in (env, twin):
        each.reset(seed=3)
    means = [np.asarray(each.unwrapped.simulator.trials[0].means) for each in (env, twin)]
    np.testing.assert_array_equal(*means)


@pytest.mark.parametrize("make", [gym.make, gym.make_vec])
def test_the_oracle_is_a_switch(make):
    with pytest.raises(ValueError, match="oracle must be True or False, got 'no'"):
        make("GPBandit-GP-v0", oracle="no")


@pytest.mark.sampled(24)
@each_case
def test_the_setting_is_found_through_wrappers_and_agrees_with_the_spaces(case):
    env = case.make()
    env.reset(seed=0)
    setting = env.get_wrapper_attr("setting")
    assert isinstance(setting, Setting)
    assert setting.continuous == isinstance(env.action_space, gym.spaces.Box)
    assert setting.duel == isinstance(env.action_space, gym.spaces.MultiDiscrete)
    if isinstance(env.action_space, gym.spaces.Discrete):
        assert env.action_space.n == len(setting.arms)
    elif setting.duel:
        assert env.action_space.nvec.tolist() == [len(setting.arms)] * 2
    else:
        assert env.action_space.shape == (setting.dim,)


ROOT = Path(__file__).parents[3]
SCRIPT = runpy.run_path(str(ROOT / "tools" / "frozen.py"))
FROZEN = tomllib.loads(SCRIPT["MANIFEST"].read_text(encoding="utf-8"))
CLOSE = 1e-6  # another processor rounds otherwise, and a function is a solve of condition 1e8 or less


def test_every_id_is_frozen():
    assert set(FROZEN) == set(IDS)


@pytest.mark.parametrize(
    "env_id", [pytest.param(name, marks=pytest.mark.needs_data(*data_files(IDS[name]))) for name in IDS]
)
def test_an_id_gives_what_it_gave(env_id):
    assert SCRIPT["reference"](env_id) == pytest.approx(FROZEN[env_id], rel=CLOSE, abs=CLOSE)
