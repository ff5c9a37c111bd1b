"""The vector environment equals Gymnasium's `SyncVectorEnv` of single environments, output for output."""

import pickle
from typing import Any

import numpy as np
import pytest
from cases import BY_HAND, CASES, COMPOSED, DELAYED, GRIDS, IN_BOXES, Case
from gymnasium.vector import AutoresetMode
from vector_pairs import COPIES, pair, play_both, random_actions, same, step_both

from bandit_envs import BanditVectorEnv, Setting

NEXT_STEP, SAME_STEP, DISABLED = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED
each_mode = pytest.mark.parametrize("mode", list(AutoresetMode))
SMALL = Case("GPBandit-GP-v0", {"num_arms": 20, "horizon": 5, "delay": {"law": "poisson", "mean": 1}})
SHARED = Case("GPBandit-Rosenbrock-v0", {"num_arms": 20, "horizon": 5})
EVERYTHING = Case(BY_HAND["everything"], {})


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", GRIDS)
def test_a_hundred_steps_with_resets_equal_those_of_sync_vector_env(case):
    equal_through_resets(case, NEXT_STEP)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("mode", [SAME_STEP, DISABLED])
@pytest.mark.parametrize("case", DELAYED)
def test_a_hundred_steps_with_delays_equal_those_of_sync_vector_env(case, mode):
    equal_through_resets(case, mode)


@pytest.mark.sampled(2)
@each_mode
@pytest.mark.parametrize("case", COMPOSED)
def test_a_hundred_steps_of_composed_problems_equal_those_of_sync_vector_env(case, mode):
    equal_through_resets(case, mode)


@pytest.mark.long
@pytest.mark.parametrize("case", IN_BOXES)
def test_a_hundred_steps_in_a_box_equal_those_of_sync_vector_env(case):
    equal_through_resets(case, NEXT_STEP)


def equal_through_resets(case: Case, mode: AutoresetMode) -> None:
    ours, theirs = pair(case, mode, 2)
    same(ours.reset(seed=11), theirs.reset(seed=11))
    assert play_both(ours, theirs, mode, 100) >= 4


@pytest.mark.long
def test_sums_over_many_slots_and_constraints_equal_those_of_sync_vector_env():
    # Numpy adds eight and more numbers in another order than one after another.
    costs = {"constraints": {"law": "gp", "quantile": 0.99}, "num_constraints": 11}
    delayed = {"delay": {"law": "geometric", "mean": 12}, "horizon": 100}
    ours, theirs = pair(Case("GPBandit-GP-v0", delayed | costs), NEXT_STEP, 8)
    same(ours.reset(seed=11), theirs.reset(seed=11))
    play_both(ours, theirs, NEXT_STEP, 100)


@pytest.mark.long
@each_mode
@pytest.mark.parametrize("case", [SMALL, EVERYTHING])
def test_copies_at_different_rounds_stay_equal(case, mode):
    ours, theirs = pair(case, mode)
    same(ours.reset(seed=2), theirs.reset(seed=2))
    for mask in ([True, False, False], [False, True, False], [True, False, True]):
        step_both(ours, theirs)
        same(*(env.reset(options={"reset_mask": np.array(mask)}) for env in (ours, theirs)))
    assert play_both(ours, theirs, mode, 100) > COPIES


@pytest.mark.parametrize("case", [SMALL, EVERYTHING])
@pytest.mark.parametrize("seed", [None, 3, [5, 1, 9], [5, None, 9], np.int64(3)])
def test_seeds_may_be_none_one_or_one_a_copy(case, seed):
    ours, theirs = pair(case, NEXT_STEP)
    first = [4, 5, 6]  # so that None has a generator to go on with
    same(ours.reset(seed=first), theirs.reset(seed=first))
    sync_seed = int(seed) if isinstance(seed, np.integer) else seed
    same(ours.reset(seed=seed), theirs.reset(seed=sync_seed))
    step_both(ours, theirs)
    same(ours.np_random_seed, theirs.np_random_seed)
    same(*(tuple(rng.bit_generator.state for rng in env.np_random) for env in (ours, theirs)))


def test_a_seed_of_a_copy_that_is_not_reset_is_not_used():
    ours, theirs = pair(SMALL, DISABLED)
    same(ours.reset(seed=0), theirs.reset(seed=0))
    mask = np.array([False, True, False])
    same(*(env.reset(seed=[7, 8, 9], options={"reset_mask": mask}) for env in (ours, theirs)))
    same(ours.reset(), theirs.reset())


def test_a_function_seed_in_the_options_freezes_the_function_of_every_copy():
    ours, theirs = pair(SMALL, NEXT_STEP)
    same(*(env.reset(seed=0, options={"function_seed": 3}) for env in (ours, theirs)))
    means = ours.step(np.full(COPIES, 7))[4]["oracle"]["mean"]
    assert len(set(means)) == 1


@each_mode
def test_a_time_limit_equals_gymnasiums(mode):
    case = Case("GPBandit-GP-v0", {"num_arms": 20, "horizon": 50})
    ours, theirs = pair(case, mode, max_episode_steps=4)
    same(ours.reset(seed=0), theirs.reset(seed=0))
    assert play_both(ours, theirs, mode, 50) >= 9 * COPIES


@pytest.mark.parametrize("case", [SMALL, EVERYTHING])
@pytest.mark.parametrize("copies", [1, 2])
def test_few_copies_and_no_oracle_stay_equal(case, copies):
    ours, theirs = pair(case, SAME_STEP, copies, oracle=False)
    same(ours.reset(seed=0), theirs.reset(seed=0))
    play_both(ours, theirs, SAME_STEP, 60)


def test_spaces_metadata_and_copies_agree_with_gymnasiums():
    for case in (SMALL, EVERYTHING):
        ours, theirs = pair(case, SAME_STEP)
        for name in ("observation_space", "action_space", "single_observation_space", "single_action_space"):
            assert getattr(ours, name) == getattr(theirs, name)
        assert ours.num_envs == theirs.num_envs
        assert ours.metadata == theirs.metadata


def leaves(value: Any) -> list[np.ndarray]:
    if isinstance(value, dict | tuple):
        items = value.values() if isinstance(value, dict) else value
        return [leaf for item in items for leaf in leaves(item)]
    return [value]


def test_outputs_are_new_objects():
    ours = EVERYTHING.vector(COPIES)
    kept = [ours.reset(seed=0), *(ours.step(random_actions(ours)) for _ in range(3))]
    frozen = pickle.loads(pickle.dumps(kept))
    for _ in range(60):
        ours.step(random_actions(ours))
    same(tuple(kept), tuple(frozen))
    arrays = [leaf for output in kept for leaf in leaves(output)]
    for i, array in enumerate(arrays):
        assert not any(np.may_share_memory(array, other) for other in arrays[:i])


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_settings_of_the_copies_equal_those_of_single_environments(case):
    ours, theirs = pair(case, NEXT_STEP)
    ours.reset(seed=4)
    theirs.reset(seed=4)
    batch = ours.unwrapped.setting
    assert isinstance(batch, Setting)
    for i, (mine, other) in enumerate(zip(ours.get_attr("setting"), theirs.get_attr("setting"), strict=True)):
        assert repr(mine) == repr(other)
        assert repr(batch.of_trial(i)) == repr(other)


def test_attributes_of_the_copies_are_read_as_from_single_environments():
    ours, theirs = pair(SHARED, NEXT_STEP)
    same(ours.reset(seed=4), theirs.reset(seed=4))
    for name in ("worst_regret", "np_random_seed", "oracle", "metadata"):
        same(ours.get_attr(name), theirs.get_attr(name))
        same(ours.call(name), theirs.call(name))


def test_a_vector_environment_survives_pickling_in_the_middle_of_a_trial():
    for case in (SMALL, EVERYTHING):
        ours = case.vector(COPIES)
        ours.reset(seed=0)
        ours.step(random_actions(ours))
        twin = pickle.loads(pickle.dumps(ours))
        for _ in range(8):
            actions = random_actions(ours)
            same(twin.step(actions), ours.step(actions))


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (np.zeros(2, dtype=np.int64), r"action must be integer arms of shape \(3,\), got array\(\[0, 0\]\)"),
        (np.zeros(3), r"action must be integer arms of shape \(3,\), got array\(\[0\., 0\., 0\.\]\)"),
        ([0, 20, 0], r"action must be an arm in 0\.\.19"),
        ([0, -1, 0], r"action must be an arm in 0\.\.19"),
    ],
)
@pytest.mark.parametrize("ended", [False, True])
def test_wrong_actions_are_one_clear_error_and_no_copy_moves(actions, message, ended):
    ours = SMALL.vector(COPIES)
    ours.reset(seed=0)
    if ended:  # copy 0 is about to be reset and its action to be ignored, but not its shape
        for _ in range(2):
            ours.step([0, 0, 0])
        ours.reset(options={"reset_mask": np.array([False, True, True])})
        for _ in range(3):
            ours.step([0, 0, 0])
    before = ours.unwrapped.simulator.round.copy()
    with pytest.raises(ValueError, match=message):
        ours.step(actions)
    np.testing.assert_array_equal(ours.unwrapped.simulator.round, before)
    assert (ours.step([0, 0, 0])[4]["t"][1:] == before[1:]).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda env: env.step([0, 0, 0]), RuntimeError, "step was called before reset"),
        (lambda env: env.reset(seed=[1, 2]), ValueError, "seed must be one integer or 3 of them, got 2"),
        (lambda env: env.reset(options={"mask": 1}), ValueError, "unknown reset option 'mask'"),
        (lambda env: reset_by(env, np.zeros(3, dtype=bool)), ValueError, r"True in it, got \[False False"),
        (lambda env: reset_by(env, np.ones(3)), ValueError, r"reset_mask must be \(3,\) bool"),
    ],
)
def test_bad_calls_get_one_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call(SMALL.vector(COPIES).unwrapped)


def reset_by(env: Any, mask: Any) -> Any:
    return env.reset(options={"reset_mask": mask})


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"num_envs": 2.0}, "num_envs must be a positive integer, got 2.0"),
        ({"max_episode_steps": 0}, "max_episode_steps must be None or a positive integer, got 0"),
        ({"autoreset_mode": "sometimes"}, "sometimes"),
    ],
)
def test_bad_keywords_get_one_clear_error(keywords, message):
    with pytest.raises(ValueError, match=message):
        BanditVectorEnv("gp", **{"num_envs": 2, "num_arms": 5, **keywords})


def test_a_finished_copy_must_be_reset_where_nothing_resets_it():
    ours = SMALL.vector(COPIES, autoreset_mode=DISABLED)
    ours.reset(seed=0)
    for _ in range(5):
        ours.step([0, 0, 0])
    with pytest.raises(RuntimeError, match="a copy has finished its trial; call reset"):
        ours.step([0, 0, 0])
