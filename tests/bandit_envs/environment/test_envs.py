"""What every environment promises, checked on every registered id and on problems composed by hand."""

from __future__ import annotations

import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from cases import BY_HAND, CASES, CONTEXTS, Case, by_hand, of_id, played, registered_ids
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_env_sb3

import bandit_envs
from bandit_envs import BanditEnv, Setting
from bandit_envs.environment.registration import IDS, register
from bandit_envs.laws import GPSample, KnownFunction, NoNoise, changes, delays
from bandit_envs.problem.setting import SLACK

each_case = pytest.mark.parametrize("case", CASES)
each_id = pytest.mark.parametrize("case", [of_id(env_id) for env_id in registered_ids()])
EVERYTHING = Case(BY_HAND["everything"], {})
GRID = Case("GPBandit-GP-v0", {"num_arms": 30, "horizon": 20})
BOX = Case("GPBandit-RKHS-v0", {"num_arms": 12, "dim": 2, "horizon": 20, "continuous": True})


# --- conformance ---


@each_case
def test_the_checkers_of_gymnasium_and_stable_baselines_have_nothing_to_say(case):
    # Warnings are errors here. Render modes are looked up in the spec, which only registered ids have.
    check_env(case.make().unwrapped, skip_render_check=not isinstance(case.environment, str))
    check_env_sb3(case.make(render_mode="ansi").unwrapped)


@each_id
def test_the_checkers_have_nothing_to_say_about_the_defaults_either(case):
    check_env(case.make().unwrapped, skip_render_check=True)
    check_env_sb3(case.make().unwrapped)


@each_case
def test_info_has_one_schema_at_reset_and_at_every_step(case):
    env = case.make()
    outputs = played(env)
    problem: Any = env.unwrapped
    slots, costs = problem.problem.window + 1, len(problem.problem.constraints)
    for output in outputs:
        assert schema(output[-1]) == expected_schema(slots, costs)


def expected_schema(slots: int, costs: int) -> dict[str, Any]:
    oracle = dict.fromkeys(("regret", "mean", "optimum", "violation"), float)
    oracle |= {"cost_mean": ("float64", (costs,)), "delay": int, "segment": int}
    constrained = {"cost": float, "feedback_cost": ("float64", (slots, costs))} if costs else {}
    return {
        "t": int,
        "feedback_mask": ("bool", (slots,)),
        "feedback_step": ("int64", (slots,)),
        "feedback_reward": ("float64", (slots,)),
        **constrained,
        "oracle": oracle,
    }


def schema(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: schema(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        assert np.isfinite(value).all()
        return str(value.dtype), value.shape
    assert np.isfinite(value)
    return type(value)


@each_case
def test_info_at_reset_is_neutral(case):
    _, info = case.make().reset(seed=0)
    assert info["t"] == -1
    assert not info["feedback_mask"].any()
    assert (info["feedback_step"] == -1).all()
    assert (info["feedback_reward"] == 0).all()
    assert all(np.all(value == 0) for value in info["oracle"].values())


@each_case
def test_every_output_is_a_new_object_of_the_promised_type(case):
    env = case.make()
    outputs = played(env, rounds=6)
    arrays = [a for output in outputs for a in (output[0], *leaves(output[-1])) if isinstance(a, np.ndarray)]
    for i, array in enumerate(arrays):
        assert not any(np.may_share_memory(array, other) for other in arrays[:i])
        assert array.flags.writeable
    for observation, reward, terminated, truncated, _ in outputs[1:]:
        assert observation.dtype == np.float32
        assert env.observation_space.contains(observation)
        assert [type(reward), type(terminated), type(truncated)] == [float, bool, bool]


def leaves(info: dict[str, Any]) -> list[Any]:
    return [
        leaf for value in info.values() for leaf in (leaves(value) if isinstance(value, dict) else [value])
    ]


def test_without_the_oracle_info_is_otherwise_the_same():
    full, bare = played(EVERYTHING.make()), played(EVERYTHING.make(oracle=False))
    for (*_, with_truth), (*_, without) in zip(full, bare, strict=True):
        del with_truth["oracle"]
        np.testing.assert_equal(without, with_truth)


# --- rewards, feedback and regret ---


@each_case
def test_feedback_of_a_round_arrives_once_and_as_late_as_its_delay_says(case):
    outputs = played(case.make())[1:]
    infos = [info for *_, info in outputs]
    due: dict[int, list[int]] = {}
    for t, info in enumerate(infos):
        if info["oracle"]["delay"] >= 0:
            due.setdefault(t + info["oracle"]["delay"], []).append(t)
    for t, info in enumerate(infos):
        mask, step = info["feedback_mask"], info["feedback_step"]
        assert info["t"] == t
        assert sorted(step[mask]) == due.get(t, [])
        np.testing.assert_array_equal(step[mask], t - np.flatnonzero(mask))  # slot k: k rounds ago
        assert (step[~mask] == -1).all()
        assert (info["feedback_reward"][~mask] == 0).all()


@each_case
def test_the_reward_is_what_arrives_and_cost_its_positive_part(case):
    for _, reward, _, _, info in played(case.make())[1:]:
        assert reward == pytest.approx(info["feedback_reward"].sum(), abs=1e-12)
        if "cost" in info:
            assert info["cost"] == pytest.approx(np.maximum(info["feedback_cost"], 0).sum(), abs=1e-12)


@each_case
def test_regret_is_charged_when_an_arm_is_played_and_is_never_negative_where_it_is_feasible(case):
    for *_, info in played(case.make())[1:]:
        oracle = info["oracle"]
        assert oracle["regret"] == oracle["optimum"] - oracle["mean"]
        assert oracle["violation"] == pytest.approx(np.linalg.norm(np.maximum(oracle["cost_mean"], 0)))
        if oracle["violation"] == 0:
            assert oracle["regret"] >= -1e-9


def test_the_noiseless_reward_is_the_mean_of_the_play_that_it_is_for():
    env = by_hand_env(noise=NoNoise(), delay=delays.Poisson(3), max_delay=5)
    infos = [info for *_, info in played(env)[1:]]
    means = np.array([info["oracle"]["mean"] for info in infos])
    for info in infos:
        mask = info["feedback_mask"]
        np.testing.assert_allclose(
            info["feedback_reward"][mask], means[info["feedback_step"][mask]], rtol=1e-12
        )


def by_hand_env(**laws: Any) -> BanditEnv:
    return BanditEnv(by_hand(**laws))


def test_feedback_later_than_max_delay_never_arrives_but_its_regret_counts():
    env = by_hand_env(delay=delays.Poisson(6), max_delay=3, horizon=200)
    infos = [info for *_, info in played(env)[1:]]
    lost = [info for info in infos if info["oracle"]["delay"] == -1]
    assert 0 < len(lost) < 200
    assert all(info["oracle"]["delay"] <= 3 for info in infos)
    assert all(info["feedback_mask"].shape == (4,) for info in infos)
    assert any(info["oracle"]["regret"] > 0 for info in lost)


def test_costs_of_different_constraints_do_not_cancel():
    costs = (KnownFunction(lambda x: 0.3 - x[:, 0]), KnownFunction(lambda x: x[:, 0] - 0.3))
    env = by_hand_env(constraints=costs, decisions=bandit_envs.Decisions(np.array([[0.0], [0.3]])))
    env.reset(seed=0)
    _, _, _, _, info = env.step(0)
    np.testing.assert_allclose(info["feedback_cost"], [[0.3, -0.3]])
    assert info["cost"] == pytest.approx(0.3)
    assert info["oracle"]["violation"] == pytest.approx(0.3)


def test_the_best_feasible_arm_is_the_optimum_of_a_constrained_trial():
    env = EVERYTHING.make()
    env.reset(seed=0)
    trial: Any = env.unwrapped.simulator.trials[0]  # type: ignore[attr-defined]
    arms = np.arange(25)
    for t in range(40):
        at = trial.context[t] * 25 + arms
        means = trial.means[trial.segment[t]][:, at]
        feasible = (means[1:] <= 0).all(axis=0)
        assert feasible.any()
        assert trial.optimum[t] == means[0][feasible].max()
        assert trial.worst[t] == means[0].min()


def test_change_points_start_new_segments_with_new_functions():
    env = by_hand_env(changes=changes.AtRounds((10, 25)), noise=NoNoise())
    env.reset(seed=0)
    infos = [env.step(7)[4] for _ in range(40)]
    np.testing.assert_array_equal(
        [info["oracle"]["segment"] for info in infos], np.repeat([0, 1, 2], [10, 15, 15])
    )
    means = [info["oracle"]["mean"] for info in infos]
    assert len(set(means)) == 3


# --- contexts ---


def test_the_observation_is_the_context_of_the_coming_round_scaled_to_the_unit_box():
    env = EVERYTHING.make()
    outputs = played(env)
    trial: Any = env.unwrapped.simulator.trials[0]  # type: ignore[attr-defined]
    scaled = (CONTEXTS - CONTEXTS.min(axis=0)) / np.ptp(CONTEXTS, axis=0)
    seen = np.array([output[0] for output in outputs])
    np.testing.assert_allclose(seen, scaled[trial.context], atol=1e-7)
    setting = env.get_wrapper_attr("setting")
    np.testing.assert_array_equal(setting.context_index(seen), trial.context)


def test_without_contexts_the_observation_is_one_zero():
    for observation, *_ in played(GRID.make()):
        np.testing.assert_array_equal(observation, np.zeros(1, dtype=np.float32))


# --- seeds ---


@each_case
def test_the_same_seed_gives_the_same_run(case):
    np.testing.assert_equal(played(case.make(), rounds=12), played(case.make(), rounds=12))


def test_another_seed_gives_another_function_and_other_noise():
    first, second = (played(GRID.make(), seed)[1] for seed in (0, 1))
    assert first[4]["oracle"]["mean"] != second[4]["oracle"]["mean"]
    assert first[1] - first[4]["oracle"]["mean"] != second[1] - second[4]["oracle"]["mean"]


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
    fields = ("means", "noise", "wait", "context", "segment")
    return {name: getattr(trial, name) for name in fields}


@pytest.mark.parametrize("given", ["constructor", "reset"])
def test_a_function_seed_freezes_the_functions_and_nothing_else(given):
    options = {"function_seed": 3}
    env: Any = (
        BanditEnv("gp", num_arms=20, horizon=30, delay={"law": "poisson", "mean": 3}, function_seed=3)
        if given == "constructor"
        else BanditEnv("gp", num_arms=20, horizon=30, delay={"law": "poisson", "mean": 3})
    )
    trials = []
    for seed in (0, 1):
        env.reset(seed=seed, options=options if given == "reset" else None)
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
        ("wait", {"delay": delays.Poisson(9)}),
        ("noise", {"noise": NoNoise()}),
        ("segment", {"changes": changes.AtRounds((12,))}),
    ],
)
def test_changing_one_law_leaves_the_draws_of_the_others_as_they_were(changed, law):
    shared = {"delay": delays.Poisson(4), "decisions": bandit_envs.Decisions(np.eye(5), contexts=CONTEXTS)}
    plain, varied = (of_every_role(by_hand_env(**(shared | more)), seed=2) for more in ({}, law))
    assert not np.array_equal(plain[changed], varied[changed])
    for name in plain.keys() - {changed}:
        length = min(len(plain[name]), len(varied[name]))  # more segments: the first is the same
        np.testing.assert_array_equal(plain[name][:length], varied[name][:length])


def test_a_constraint_leaves_the_rewards_of_every_segment_as_they_were():
    switch = changes.AtRounds((3, 9))
    plain, constrained = (
        by_hand_env(changes=switch, constraints=costs).problem.draw(5).means for costs in ((), (EVEN,))
    )
    np.testing.assert_array_equal(plain[:, 0], constrained[:, 0])


class _Even(GPSample):
    """Draws, as any law does, but is feasible everywhere."""

    def draw(self, gram, rng):
        return super().draw(gram, rng).rescaled(0.0)


EVEN = _Even()


# --- actions ---


@pytest.mark.parametrize("dtype", [int, np.int64, np.int32, np.uint8])
def test_an_arm_may_be_any_integer(dtype):
    env = GRID.make().unwrapped
    env.reset(seed=0)
    assert env.step(dtype(7))[4]["oracle"]["mean"] == env.step(7)[4]["oracle"]["mean"]
    env.step(np.array(7))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_point_of_the_box_may_have_either_precision(dtype):
    env = BOX.make().unwrapped
    env.reset(seed=0)
    mean = env.step(np.array([0.5, -0.25], dtype=dtype))[4]["oracle"]["mean"]
    assert mean == env.step([0.5, -0.25])[4]["oracle"]["mean"]


def test_rounding_beyond_the_box_is_clipped():
    env = BOX.make().unwrapped
    env.reset(seed=0)
    beyond = env.step(np.array([1.0 + SLACK / 10, -1.0 - SLACK / 10]))[4]["oracle"]["mean"]
    assert beyond == env.step(np.array([1.0, -1.0]))[4]["oracle"]["mean"]


@pytest.mark.parametrize(
    ("case", "action", "message"),
    [
        (GRID, 30, r"action must be an arm in 0\.\.29, got \[30\]"),
        (GRID, -1, r"action must be an arm in 0\.\.29, got \[-1\]"),
        (GRID, 1.0, r"action must be an integer arm of shape \(\), got array\(1\.\)"),
        (GRID, float("nan"), r"action must be an integer arm .* got array\(nan\)"),
        (GRID, True, r"action must be an integer arm .* got array\(True\)"),
        (GRID, None, "action must be an integer arm .* got array.None"),
        (GRID, "3", "action must be an integer arm .* got array.'3'"),
        (GRID, np.array([3]), r"action must be an integer arm .* got array\(\[3\]\)"),
        (BOX, np.array([1.001, 0.0]), r"action must be finite and in \[-1, 1\], got .*1\.001"),
        (BOX, np.array([np.nan, 0.0]), r"action must be finite and in \[-1, 1\], got .*nan"),
        (BOX, np.array([np.inf, 0.0]), r"action must be finite and in \[-1, 1\], got .*inf"),
        (BOX, np.array([0.5]), r"action must be numbers in \[-1, 1\] of shape \(2,\), got array\(\[0\.5\]\)"),
        (BOX, 0.5, r"action must be numbers in \[-1, 1\] of shape \(2,\), got array\(0\.5\)"),
        (BOX, np.array(["a", "b"]), r"action must be numbers in \[-1, 1\] of shape \(2,\), got array\(\['a'"),
    ],
)
def test_a_wrong_action_is_one_clear_error_and_no_round_is_lost(case, action, message):
    env = case.make().unwrapped
    env.reset(seed=0)
    with pytest.raises(ValueError, match=message):
        env.step(action)
    assert env.step(env.action_space.sample())[4]["t"] == 0


# --- episodes ---


@each_case
def test_an_episode_is_truncated_at_the_horizon_and_never_terminated(case):
    outputs = played(case.make())
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


# --- registration ---


@each_id
def test_an_id_is_made_again_from_its_spec_as_json(case):
    env = case.make(horizon=7)
    assert env.spec is not None
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    np.testing.assert_equal(played(again), played(env))


@pytest.mark.parametrize("case", [GRID, BOX, EVERYTHING])
def test_an_environment_survives_pickling_in_the_middle_of_a_trial(case):
    env = case.make()
    env.action_space.seed(1)
    env.reset(seed=0)
    actions = [env.action_space.sample() for _ in range(10)]
    for action in actions[:5]:
        env.step(action)
    twin = pickle.loads(pickle.dumps(env))
    for action in actions[5:]:
        np.testing.assert_equal(twin.step(action), env.step(action))


def test_an_id_with_the_module_in_front_can_be_made_where_nothing_is_imported_yet():
    env = gym.make("bandit_envs:GPBandit-GP-v0", horizon=5)
    assert isinstance(env.unwrapped, BanditEnv)


@pytest.mark.parametrize("make", [gym.make, gym.make_vec])
def test_the_oracle_is_a_switch(make):
    with pytest.raises(ValueError, match="oracle must be True or False, got 'no'"):
        make("GPBandit-GP-v0", oracle="no")


def test_registering_twice_changes_nothing():
    before = dict(gym.registry)
    register()
    assert dict(gym.registry) == before
    assert set(IDS) <= set(before)


@each_case
def test_the_setting_is_found_through_wrappers_and_agrees_with_the_spaces(case):
    env = case.make()
    env.reset(seed=0)
    setting = env.get_wrapper_attr("setting")
    assert isinstance(setting, Setting)
    assert setting.continuous == isinstance(env.action_space, gym.spaces.Box)
    if isinstance(env.action_space, gym.spaces.Discrete):
        assert env.action_space.n == len(setting.arms)
    else:
        assert env.action_space.shape == (setting.dim,)
