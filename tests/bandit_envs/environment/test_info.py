"""What every round tells: one schema, rewards when they arrive, and the truth for the evaluator."""

from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from agent_cases import of_each_shape
from cases import BY_HAND, CASES, COMPOSED, CONTEXTS, DELAYED, Case, by_hand, played
from vector_pairs import same

import agents
from bandit_envs import BanditEnv, Problem
from bandit_envs.laws import delays
from gpbandits import evaluate

each_case = pytest.mark.parametrize("case", CASES)
EVERYTHING = Case(BY_HAND["everything"], {})


@pytest.mark.sampled(24)
@each_case
def test_info_has_one_schema_at_reset_and_at_every_step(case):
    env = case.make()
    outputs = played(env)
    problem: Any = env.unwrapped
    slots, costs = problem.problem.window + 1, len(problem.problem.constraints)
    for output in outputs:
        budget = not problem.problem.play_costs.is_free
        moves = not problem.problem.movement.is_free
        volatile = {"action_mask": ("int8", (env.action_space.n,))} if problem.problem.volatile else {}
        duel = problem.problem.decisions.duel
        assert schema(output[-1]) == expected_schema(slots, costs, budget, moves, duel) | volatile


def expected_schema(slots: int, costs: int, budget: bool, moves: bool, duel: bool) -> dict[str, Any]:
    oracle = dict.fromkeys(("regret", "mean", "optimum", "violation"), float)
    oracle |= {"cost_mean": ("float64", (costs,)), "delay": int, "segment": int, "corruption": float}
    oracle |= {"spent": float, "rate": float} if budget else {}
    oracle |= {"moved": float} if moves else {}
    oracle |= {"strong_regret": float, "weak_regret": float} if duel else {}
    paid = {"feedback_spent": ("float64", (slots,)), "played": bool} if budget else {}
    constrained = {"cost": float, "feedback_cost": ("float64", (slots, costs))} if costs else {}
    return {
        "t": int,
        "feedback_mask": ("bool", (slots,)),
        "feedback_step": ("int64", (slots,)),
        "feedback_reward": ("float64", (slots,)),
        **constrained,
        **paid,
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


@pytest.mark.sampled(24)
@each_case
def test_info_at_reset_is_neutral(case):
    info = case.make().reset(seed=0)[1]
    assert info["t"] == -1
    assert not info["feedback_mask"].any()
    assert (info["feedback_step"] == -1).all()
    assert (info["feedback_reward"] == 0).all()
    assert all(np.all(value == 0) for value in info["oracle"].values())


@pytest.mark.sampled(24)
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


def leaves(info: Any) -> list[Any]:
    return [leaf for each in info.values() for leaf in leaves(each)] if isinstance(info, dict) else [info]


def test_without_the_oracle_info_is_otherwise_the_same():
    full, bare = played(EVERYTHING.make()), played(EVERYTHING.make(oracle=False))
    for (*_, with_truth), (*_, without) in zip(full, bare, strict=True):
        del with_truth["oracle"]
        np.testing.assert_equal(without, with_truth)


OF_THE_FUNCTION = ("feedback_reward", "cost", "feedback_cost", "feedback_spent", "oracle")


@pytest.mark.sampled(24)
@pytest.mark.parametrize("case", [*DELAYED, *COMPOSED])
def test_outside_of_oracle_nothing_but_values_that_arrive_depends_on_the_function(case):
    runs = [played_with(case, function_seed) for function_seed in (1, 2)]
    for one, other in zip(*runs, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        for key in one[-1].keys() - set(OF_THE_FUNCTION):
            np.testing.assert_array_equal(one[-1][key], other[-1][key])
    first = [run[0][-1] for run in runs]  # of the reset, before anything arrives
    for key in first[0].keys() - {"oracle"}:
        np.testing.assert_array_equal(first[0][key], first[1][key])


def played_with(case: Case, function_seed: int) -> list[Any]:
    env = case.make()
    env.action_space.seed(0)
    outputs: list[Any] = [env.reset(seed=0, options={"function_seed": function_seed})]
    return outputs + [env.step(env.action_space.sample()) for _ in range(12)]


@pytest.mark.sampled(24)
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
        assert sorted(step[mask]) == (due.get(t, []) if info.get("played", True) else [])
        np.testing.assert_array_equal(step[mask], t - np.flatnonzero(mask))  # slot k: k rounds ago
        assert (step[~mask] == -1).all()
        assert (info["feedback_reward"][~mask] == 0).all()


@pytest.mark.sampled(24)
@each_case
def test_the_reward_is_what_arrives_and_cost_its_positive_part(case):
    for _, reward, _, _, info in played(case.make())[1:]:
        assert reward == pytest.approx(info["feedback_reward"].sum(), abs=1e-12)
        if "cost" in info:
            assert info["cost"] == pytest.approx(np.maximum(info["feedback_cost"], 0).sum(), abs=1e-12)


@pytest.mark.sampled(24)
@each_case
def test_regret_is_charged_when_an_arm_is_played_and_is_never_negative_where_it_is_feasible(case):
    for *_, info in played(case.make())[1:]:
        oracle = info["oracle"]
        assert oracle["regret"] == oracle["optimum"] - oracle["mean"]
        assert oracle["violation"] == pytest.approx(np.linalg.norm(np.maximum(oracle["cost_mean"], 0)))
        if oracle["violation"] == 0:
            assert oracle["regret"] >= -1e-9


def test_feedback_later_than_max_delay_never_arrives_but_its_regret_counts():
    env = BanditEnv(by_hand(delay=delays.PoissonDelay(6), max_delay=3, horizon=200))
    infos = [info for *_, info in played(env)[1:]]
    lost = [info for info in infos if info["oracle"]["delay"] == -1]
    assert 0 < len(lost) < 200
    assert all(info["oracle"]["delay"] <= 3 for info in infos)
    assert all(info["feedback_mask"].shape == (4,) for info in infos)
    assert any(info["oracle"]["regret"] > 0 for info in lost)


def test_the_observation_is_the_context_of_the_coming_round_scaled_to_the_unit_box():
    env = EVERYTHING.make()
    outputs = played(env)
    trial: Any = env.unwrapped.simulator.trials[0]  # type: ignore[attr-defined]
    scaled = (CONTEXTS - CONTEXTS.min(axis=0)) / np.ptp(CONTEXTS, axis=0)
    seen = np.array([output[0] for output in outputs])
    np.testing.assert_allclose(seen, scaled[trial.context], atol=1e-7)
    setting = env.get_wrapper_attr("setting")
    np.testing.assert_array_equal(setting.context_index(seen), trial.context)


# --- aggregated feedback is the sum of what arrives, and nothing of whose it is ---

AGGREGATED = {name: replace(problem, aggregated=True) for name, problem in BY_HAND.items()}
LATE = {"horizon": 30, "num_arms": 9, "delay": {"law": "poisson", "mean": 3}}


def rounds(problem: Problem) -> list[dict]:
    env = BanditEnv(problem)
    _, first = env.reset(seed=4)
    env.action_space.seed(2)
    found, ended = [first], False
    while not ended:
        _, reward, terminated, truncated, info = env.step(env.action_space.sample())
        found.append(info | {"reward": reward})
        ended = terminated or truncated
    return found


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", BY_HAND)
def test_the_one_slot_holds_the_sum_of_what_arrives(name):
    for whole, told in zip(rounds(BY_HAND[name])[1:], rounds(AGGREGATED[name])[1:], strict=True):
        assert told["feedback_step"].tolist() == [-1]
        assert told["feedback_mask"].tolist() == [told.get("played", True)]
        assert told["feedback_reward"].tolist() == [told["reward"]] == [whole["reward"]]
        if "feedback_cost" in whole:
            np.testing.assert_allclose(
                told["feedback_cost"], whole["feedback_cost"].sum(axis=0)[None], rtol=1e-12, atol=1e-15
            )
            assert told["cost"] == pytest.approx(np.maximum(told["feedback_cost"], 0.0).sum())
        if "feedback_spent" in whole:
            assert told["feedback_spent"] == pytest.approx(whole["feedback_spent"].sum(), rel=1e-12)
            assert told["feedback_spent"].shape == (1,)
        same(told["oracle"], whole["oracle"])
        assert told.keys() == whole.keys()


def test_deviations_of_the_noise_are_not_told():
    env = gym.make("GPBandit-GP-v0", **LATE, noise={"law": "by-arm", "std": 0.1}, aggregated=True)
    _, info = env.reset(seed=0)
    assert "feedback_std" not in info
    assert "feedback_std" not in env.step(0)[4]


@pytest.mark.parametrize("name", of_each_shape(agents.names()))
def test_agents_that_need_to_know_whose_it_is_are_refused(name):
    handled = agents.features(name).aggregated
    if handled:
        result = evaluate("GPBandit-GP-v0", [name], trials=2, env_kwargs=LATE | {"aggregated": True})
        assert result.regret[name].shape == (2, 30)
    else:
        env = gym.make("GPBandit-GP-v0", **LATE, aggregated=True)
        env.reset(seed=0)
        with pytest.raises(ValueError, match="must publish which rounds"):
            agents.make(name, env)
