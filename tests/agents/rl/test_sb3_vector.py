"""Our vector environment under stable-baselines3: what `DummyVecEnv` of the same environments returns."""

from __future__ import annotations

import numpy as np
import pytest

from bandit_envs import BanditEnv, BanditVectorEnv
from bandit_envs.environment.observations import make_summary
from bandit_envs.environment.wrappers import SummaryObservation

pytest.importorskip("sb3_contrib", reason="needs the extra `rl`")
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.vec_env import DummyVecEnv
from vector_pairs import same

from agents.rl.vector import SB3VectorEnv

COPIES = 3
SMALL = {"num_arms": 12, "horizon": 7}
PROBLEMS = {
    "frozen": {"function_seed": 0},
    "contexts": {"num_contexts": 4},
    "late": {"num_contexts": 2, "delay": {"law": "poisson", "mean": 2.0}},
    "constrained": {"num_contexts": 2, "num_constraints": 2},
    "volatile": {"num_contexts": 2, "availability": {"law": "bernoulli", "p": 0.4}},
    "box": {"num_contexts": 2, "continuous": True},
    "budget": {"function_seed": 0, "budget": 3.0},
}


def vectorised(observation="none", copies=COPIES, **keywords):
    env = BanditVectorEnv("gp", copies, autoreset_mode="SameStep", **{**SMALL, **keywords})
    return SB3VectorEnv(env, observation)


def dummy(observation="none", copies=COPIES, **keywords):
    def one():
        env = BanditEnv("gp", **{**SMALL, **keywords})
        return SummaryObservation(env, make_summary(observation, env.setting))

    return DummyVecEnv([one] * copies)


def drawn(env, rng):
    """An action for each copy among those that it may play."""
    if env.action_space.shape:
        return rng.uniform(-1.0, 1.0, (COPIES, *env.action_space.shape)).astype(np.float32)
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in get_action_masks(env)])


def alike(ours, theirs):
    """Equal but for the order of keys and Python's own numbers for numpy's."""
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        same(mine, other)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("observation", ["none", "history", "statistics"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_vector_environment_returns_what_single_ones_do(name, observation):
    envs = [make(observation, **PROBLEMS[name]) for make in (vectorised, dummy)]
    ours, theirs = envs
    assert ours.observation_space == theirs.observation_space
    for env in envs:
        env.seed(5)
    same(ours.reset(), theirs.reset())
    alike(ours.reset_infos, theirs.reset_infos)
    rngs, ends = [np.random.default_rng(1) for _ in envs], 0
    for _ in range(3 * SMALL["horizon"]):
        for method in ("action_masks",) if not theirs.action_space.shape else ():
            same(np.stack(ours.env_method(method)), np.stack(theirs.env_method(method)))
        steps = [env.step(drawn(env, rng)) for env, rng in zip(envs, rngs, strict=True)]
        for mine, other in zip(*(step[:3] for step in steps), strict=True):
            same(mine, other)
        alike(*(step[3] for step in steps))
        alike(ours.reset_infos, theirs.reset_infos)
        ends += int(steps[0][2].sum())
    assert ends >= 3 * COPIES


def test_attributes_are_read_and_not_set():
    env = vectorised(function_seed=0)
    assert env.get_attr("problem", 1) == [env.env.problem]
    assert not env.has_attr("nothing")
    assert env.env_is_wrapped(SummaryObservation) == [False] * COPIES
    with pytest.raises(AttributeError, match="cannot be set"):
        env.set_attr("oracle", False)


def test_a_reset_takes_seeds_and_options_once():
    envs = [make(num_contexts=4) for make in (vectorised, dummy)]
    for env in envs:
        env.seed(5)
        env.set_options({"function_seed": 3})
    for _ in range(2):  # the second time neither is left
        same(*(env.reset() for env in envs))
        same(*(env.step(np.zeros(COPIES, dtype=int))[1] for env in envs))


def test_options_that_differ_are_refused():
    env = vectorised(function_seed=0)
    env.set_options([{"function_seed": i} for i in range(COPIES)])
    with pytest.raises(ValueError, match="options must be the same for all copies"):
        env.reset()


def test_another_autoreset_is_refused():
    with pytest.raises(ValueError, match="autoreset_mode must be"):
        SB3VectorEnv(BanditVectorEnv("gp", 2, **SMALL))
